"""Bosnian, Croatian and Serbian in Latin letters, which CLD2 takes one for another; Macedonian.

In Latin letters the page's own word decides; else the reflex of Common Slavonic jat: ``vrijeme``,
``mjesto`` in Croatian and Bosnian (ijekavian), ``vreme``, ``mesto`` in most Serbian (ekavian);
Browne 1993, Serbo-Croat, in Comrie & Corbett, The Slavonic Languages, §2. In Cyrillic, Serbian and
Macedonian each have letters and words that the other lacks.
"""

from __future__ import annotations

import re

ALIKE = frozenset({"bs", "hr", "sr"})
IN_CYRILLIC = frozenset({"mk", "sr"})

_IJEKAVIAN = re.compile("[bdmptv]je(?!d)|sje[^d]|ije(?=[bcčćdđghklmnprsštvzž])", re.IGNORECASE)
_CROATIAN = re.compile(
    r"\b(?:tko\b|uvjet|sustav|točk|točn|tisuć|računal|tjedn|europ|glazb|izbornik|odustan|sprem|također"
    r"|(?:općenit|opći)|pretraživanj|zasebn|tipk|vanjsk|suradn|natrag\b)",
    re.IGNORECASE,
)
_EKAVIAN = re.compile(
    r"\b(?:vreme|mest|posle\b|[gn]?i?gde\b|ovde\b|onde\b|negde\b|det(?:e|et)|dec[aeiu]\b|reč|lep|mlek"
    r"|svet|pes[mn]|tel[aou]\b|sneg|(?:po|o|u)?del(?!ov?et)|deo\b|uspe[hšl]|primer|(?:pro|iz|za|na)men"
    r"|(?:o|pro)?cen|zahtev|razume|vredn|ver[aeou]|vest|obave[šs]t|uvek|pre\b|cel[aeiou]|bele[gžš]|bezbed"
    r"|sled|posle[dt]|reš|(?:s|na|pre)me[šs]t|lev[aeio]|(?:u|na|pri|za)?mer|nedelj|ponedelj|vide[to]|hte[lo]"
    r"|veb|sajt|takođe\b|hleb|istorij|nalog|opšt|podešav|sopstven|prevod|teles|nasle|razmer|stepen|unapre"
    r"|opseg|izveš|obezbe|preneto|uneto|dodel|štamp"
    r"|žele[lot]|žive[lot]|vole[lot]|(?:po)?greš|seć|savet|vešta|zvez|odeć|stren|besed|belo|beli|dve\b)",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[^\W\d_]")
_ENOUGH = 1_000  # letters
_FEW = 0.003  # such syllables a letter: ekavian text has up to 0.0007, the other 0.006 and more
# Letters that the other lacks, and the commonest words.
_SERBIAN = (
    re.compile("[ђћ]", re.IGNORECASE),
    re.compile(r"\b(?:је|су|са|ове|ових|које|који|коју|бисте|због|ако)\b", re.IGNORECASE),
)
_MACEDONIAN = (
    re.compile("[ѓќѕ]", re.IGNORECASE),
    re.compile(
        r"\b(?:е|со|ќе|ги|го|овој|оваа|сѐ)\b|\w\w(?:ите|иот|јата|ањето|ењето)\b", re.IGNORECASE
    ),
)
_CLEARLY = 2


def told_apart(code: str, text: str, hint: str | None) -> str:
    """Return the one of Bosnian, Croatian and Serbian that a text is in; ``code`` is one of them.

    ``hint`` is what the page says of itself.
    """
    if hint in ALIKE:
        return str(hint)
    letters = len(_LETTER.findall(text))
    ekavian = len(_EKAVIAN.findall(text))
    ijekavian = len(_IJEKAVIAN.findall(text)) + len(_CROATIAN.findall(text))
    is_ekavian = ijekavian < _FEW * letters if letters >= _ENOUGH else ekavian > ijekavian
    if is_ekavian:
        return "sr"
    return "bs" if code == "sr" and ijekavian else code


def in_cyrillic(code: str, text: str) -> str:
    """Return which of Macedonian and Serbian a text in Cyrillic is in; ``code`` is one of them."""
    serbian, macedonian = (
        2 * len(letters.findall(text)) + len(words.findall(text))
        for letters, words in (_SERBIAN, _MACEDONIAN)
    )
    if abs(serbian - macedonian) < _CLEARLY:
        return code
    return "sr" if serbian > macedonian else "mk"
