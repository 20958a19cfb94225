"""Formulas of a page as TeX."""

from __future__ import annotations

import pytest

from lswc.reading.main_text.paragraphs import read

LAO = "ນັກຮຽນໄປໂຮງຮຽນທຸກວັນ ແລະອ່ານໜັງສືໃນຫ້ອງສະໝຸດຂອງເມືອງຫຼວງ ແລະອ່ານໜັງສືໃນຫ້ອງສະໝຸດຂອງເມືອງຫຼວງ"
NOTE = "<annotation encoding='application/x-tex'>x^2 &lt; 1</annotation>"
MATH = f"<math><semantics><mrow><mi>x</mi><mn>2</mn></mrow>{NOTE}</semantics></math>"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        (MATH, r"\(x^2 < 1\)"),
        (MATH.replace("<math>", "<math display=block>"), r"\[x^2 < 1\]"),
        (f"<span class=katex-mathml>{MATH}</span><span class=katex-html>x2</span>", r"\(x^2 < 1\)"),
        (f"<span style='display:none'>{MATH}</span>", r"\(x^2 < 1\)"),
        ("<span class=MathJax>y3</span><script type='math/tex'>y=3</script>", r"\(y=3\)"),
        ("<script type='math/tex; mode=display'>y=3</script>", r"\[y=3\]"),
        ("<math alttext='a_1'><mi>a</mi></math>", r"\(a_1\)"),
        ("<math><mi>a</mi></math>", "a"),
        ("<script>y=3</script><script type='math/tex'></script>", ""),
    ],
)
def test_a_formula_is_its_tex(markup: str, text: str) -> None:
    found = read(f"<main><p>{LAO} {markup}</p></main>", "http://a.example/").paragraphs
    assert [one.text for one in found] == [f"{LAO} {text}".strip()]
