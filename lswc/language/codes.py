"""Language tags: to the codes that lswc uses, ISO 639-1 where there is one, else 639-3."""

from __future__ import annotations

import re
from functools import lru_cache

_PAIRS = """
aar aa abk ab afr af aka ak amh am ara ar arb ar asm as aym ay ayr ay aze az azj az bak ba bel be
bul bg bis bi ben bn bod bo bre br bos bs cat ca cos co ces cs cze cs cym cy dan da deu de ger de
div dv dzo dz ell el gre el eng en epo eo spa es est et eus eu fas fa pes fa per fa fin fi fij fj
fao fo fra fr fre fr fry fy gle ga gla gd glg gl grn gn gug gn guj gu glv gv hau ha heb he hin hi
hrv hr hat ht hun hu hye hy ina ia ind id ile ie ibo ig ipk ik isl is ita it iku iu ike iu jpn ja
jav jv kat ka kaz kk kal kl khm km kan kn kor ko kas ks kur ku kmr ku kir ky lat la ltz lb lug lg
lin ln lao lo lit lt lav lv lvs lv mlg mg plt mg mri mi mkd mk mal ml mon mn khk mn mar mr msa ms
zlm ms zsm ms mlt mt mya my bur my nau na nep ne npi ne nld nl dut nl nno nn nor no nob no nb no
nbl nr nya ny oci oc orm om gaz om ori or ory or pan pa pol pl pus ps pbu ps por pt que qu quz qu
quy qu roh rm run rn ron ro rum ro rus ru kin rw san sa snd sd sag sg sin si slk sk slv sl smo sm
sna sn som so sqi sq als sq srp sr ssw ss sot st sun su swe sv swa sw swh sw tam ta tel te tgk tg
tha th tir ti tuk tk tgl tl fil tl tsn tn ton to tur tr tso ts tat tt uig ug ukr uk urd ur uzb uz
uzn uz ven ve vie vi vol vo wol wo xho xh yid yi ydd yi yor yo zha za zho zh chi zh cmn zh yue zh
zul zu iw he in id jw jv
"""
# What pages write that is no code of ISO 639, or another language's than they mean.
_MEANT = "jp ja cn zh tw zh kr ko vn vi"
_LONGEST = 40  # characters of a tag
_CODES: dict[str, str] = dict(zip(*[iter(f"{_PAIRS} {_MEANT}".split())] * 2, strict=True))


_THREE: dict[str, str] = {}
for _three, _two in zip(*[iter(_PAIRS.split())] * 2, strict=True):
    if len(_three) > len(_two):
        _THREE.setdefault(_two, _three)


def three_letters(code: str) -> str:
    """Return the code of ISO 639-3 for one that lswc uses, by which web archives know it."""
    return _THREE.get(code, code)


def code_of(tag: str) -> str:
    """Return the code of a language tag (BCP 47, RFC 5646), or of what is often written for one.

    Region and script are left out; Norwegian Bokmål counts as Norwegian, Mandarin and Cantonese as
    Chinese, each as they are written. A tag that isn't known is returned without its subtags.
    """
    return _code_of(tag.strip()[:_LONGEST].lower())


@lru_cache(maxsize=1_000)
def _code_of(tag: str) -> str:
    code = str(re.split(r"[-_.]", tag, maxsplit=1)[0])
    return _CODES.get(code, code)
