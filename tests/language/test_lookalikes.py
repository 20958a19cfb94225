"""Languages that are taken for a related one: sentences written for this, the same in each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lswc.lab.methods.lookalikes import main, weights
from lswc.language import Identifier, lookalikes
from lswc.language.lookalikes import lookalike
from lswc.language.ngrams import trigram_slots
from lswc.language.registry import is_known, known, language

if TYPE_CHECKING:
    from pathlib import Path

    from lswc.language.document import Identification

SPANISH = (
    "Los niños juegan en el jardín y su madre prepara la cena. El perro duerme delante de la casa "
    "vieja, la noche está tranquila y mañana iremos todos a la escuela del pueblo."
)
ASTURIAN = (
    "Los neños xueguen nel xardín y la so madre fai la cena. El perru duerme delantre de la casa "
    "vieya, la nueche ta tranquila y mañana vamos dir toos a la escuela del pueblu."
)
TURKISH = (
    "Çocuklar bahçede oynuyor, anneleri de akşam yemeğini hazırlıyor. Köpek eski evin önünde "
    "uyuyor, gece sakin, yarın hepimiz köyün okuluna gideceğiz."
)
GAGAUZ = (
    "Uşaklar başçada oynêêrlar, analarısa avşam ekmeeni hazırlêêr. Köpek eski evin önündä uyuyêr, "
    "gecä uslu, yaarına hepsimiz küüyün şkolasına gidecez."
)
INDONESIAN = (
    "Anak-anak bermain di kebun dan ibu mereka menyiapkan makan malam. Anjing tidur di depan "
    "rumah tua itu, malam sunyi, dan besok kami semua pergi ke sekolah di desa."
)
MALAY = (
    "Kanak-kanak bermain di taman dan ibu mereka menyediakan makan malam. Anjing tidur di hadapan "
    "rumah lama itu, malam sunyi, dan esok kami semua pergi ke sekolah kampung."
)
GALICIAN = (
    "Os nenos xogan no xardín e a súa nai prepara a cea. O can durme diante da casa vella, a noite "
    "está tranquila e mañá iremos todos á escola."
)
FINNISH = (
    "Lapset leikkivät puutarhassa ja heidän äitinsä valmistaa illallista. Koira nukkuu vanhan "
    "talon edessä, yö on hiljainen, ja huomenna menemme kaikki kylän kouluun."
)
MEANKIELI = (
    "Lapset leikithään tarhassa ja heän äiti laittaa iltasta. Koira makkaa vanhaan taloon eessä, "
    "yö oon hiljanen, ja huomena met menemä kaikin kylän kouhluun."
)
GERMAN = (
    "Die Kinder spielen im Garten und ihre Mutter bereitet das Abendessen vor. Der Hund schläft "
    "vor dem alten Haus."
)
SWISS_GERMAN = (
    "D Chind spiled im Garte und ihri Mueter macht s Znacht parat. De Hund schlaft vor em alte "
    "Huus und d Nacht isch still."
)
GEORGIAN = "ბავშვები ბაღში თამაშობენ და დედა ვახშამს ამზადებს. ძაღლს ძველი სახლის წინ სძინავს."
MINGRELIAN = "ბაღანეფი ბაღჩას ლაჸაფენა დო დიდა ონჯუას ამზადენს. ჯოღორი ჯვეში ჸუდეში წოხოლე ინჯირს."


def identified(text: str, code: str = "th") -> Identification:
    page = Identifier(language(code)).read(
        text.encode(), "text/html; charset=utf-8", "http://a.test/"
    )
    return page.identification


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("es", SPANISH),
        ("tr", TURKISH),
        ("id", INDONESIAN),
        ("ms", MALAY),
        ("gl", GALICIAN),
        ("fi", FINNISH),
        ("de", GERMAN),
        ("ka", GEORGIAN),
    ],
)
def test_a_language_isnt_taken_for_its_lookalike(code: str, text: str) -> None:
    assert code in lookalikes.with_lookalikes()
    assert lookalike(code, text) is None
    assert identified(text, code).language == code


@pytest.mark.parametrize(
    ("code", "text", "own"),
    [
        ("es", ASTURIAN, {"ast"}),
        ("tr", GAGAUZ, {"gag"}),
        ("fi", MEANKIELI, {"fit", "fkv"}),
        ("de", SWISS_GERMAN, {"gsw"}),
        ("ka", MINGRELIAN, {"xmf"}),
    ],
)
def test_a_lookalike_is_itself_or_nobody_s(code: str, text: str, own: set[str]) -> None:
    assert lookalike(code, text) in own
    found = identified(text, code)
    assert found.language in {None, *filter(is_known, own)}
    assert code not in dict(found.shares)


def test_a_lookalike_that_is_known_is_told() -> None:
    manual = (
        "Anda bisa melihat daftar halaman ini karena semua pengguna telah masuk. Jika Anda ingin "
        "mengubah sesuatu, silakan menghubungi kami; mungkin butuh waktu beberapa menit karena "
        "harus diperiksa. Kamu juga bisa memberi saran untuk perbaikan."
    )
    assert lookalike("ms", manual) == "id"
    assert identified(manual).language == "id"


def test_a_name_or_two_decide_nothing() -> None:
    assert lookalike("es", ASTURIAN[:50]) is None


def test_some_words_of_a_lookalike_change_no_page() -> None:
    assert identified(f"{SPANISH} {SPANISH} {ASTURIAN[:60]}").language == "es"


@pytest.mark.parametrize(
    "text",
    [
        "Born leiker i hagen, og moren deres lager kveldsmat. Hunden sover foran det gamle huset.",
        "Borna leikar i hagen, og mor deira lagar kveldsmat. Hunden søv framfor det gamle huset, "
        "natta er stille, og i morgon skal me alle på skulen.",
    ],
)
def test_both_norwegians_are_norwegian(text: str) -> None:
    assert identified(text, "no").language == "no"
    assert "nn" not in known()
    assert language("no").name == "Norwegian"


def test_tables_are_of_trigrams_and_of_languages_that_are_known() -> None:
    for code, of in lookalikes._tables().items():
        assert code in known()
        assert code not in of
        for table in of.values():
            assert all(int(weight) and len(trigrams) % 3 == 0 for weight, trigrams in table.items())


def test_weights_are_learned_from_texts_of_the_same_sort(tmp_path: Path) -> None:
    for sort, texts in {
        "stories": {"es": SPANISH * 9, "ast": ASTURIAN * 9},
        "laws": {"es": TURKISH * 9},
    }.items():
        (tmp_path / sort).mkdir()
        for code, text in texts.items():
            (tmp_path / sort / f"{code}.txt").write_text(text, encoding="utf-8")
    target = tmp_path / "lookalikes.json"
    target.write_text('{"es": {"ast": {}}}')
    assert main([str(tmp_path), str(target)]) == 0
    found = target.read_text("utf-8")
    assert '"ast"' in found
    assert "xue" in found
    assert "şam" not in found


def test_a_hash_that_both_share_weighs_as_it_will_be_looked_up() -> None:
    for weight, trigrams in weights({"": SPANISH * 5}, {"": ASTURIAN * 5}).items():
        slots = trigram_slots(trigrams)[::3].tolist()
        assert int(weight)
        assert len(slots) == len(set(slots))
