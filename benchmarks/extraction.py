"""Main text of pages, by lswc and by others: ``python -m benchmarks.extraction FOLDER ...``.

A FOLDER is one of four things; none of their pages is part of the project.

- A clone of github.com/scrapinghub/article-extraction-benchmark: 181 pages of news, each with its
  whole text. Its own measure: runs of four words, precision and recall averaged over pages.
- A clone of github.com/adbar/trafilatura: 990 pages of news, blogs and shops in many European
  languages, each with up to six pieces that its text has, and as many that it hasn't. Its own
  measure: F1 of those pieces.
- The part ``dev`` of a clone of github.com/Murrough-Foley/web-content-extraction-benchmark (WCXB):
  1,497 pages of seven kinds, each with its whole text. Its own measure: F1 of words, averaged over
  pages.
- A frozen web (``<host>/<path>``). Of hosts in MARKED the generator marks what a writer wrote:
  that is the text, without its title and lists of contents. Up to MOST pages of a host and
  language, in scripts where words have no blanks. Measured by runs of eight letters, averaged over
  pages.

Pages of each set are halved by their names' checksums: rules may be made on the even half, and
``--half odd`` measures those that nobody looked at. Each extractor runs in a process of its own;
*pages/s* is of its CPU time, without its start.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from selectolax.lexbor import LexborHTMLParser

from lswc.language.charset import decode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EXTRACTORS = ("lswc", "trafilatura", "resiliparse", "justext")
MOST = 30
"""Pages of a host and a language that are taken of a frozen web."""
LEAST = 100
"""Letters that a page's text has at least."""

_DOCBOOK = ("body", "#title, #banner, ul.docnav, .navheader, .navfooter, .toc, .headline")
_SPHINX = ("[itemprop=articleBody], div.body", ".headerlink, .toctree-wrapper, .toc, .contents")
MARKED = {
    "aungkoman.github.io/20": ("article.post .entry", ""),
    "debian-handbook.info/browse/": _DOCBOOK,
    "docs.gimp.org/2.10/": _DOCBOOK,
    "help.libreoffice.org/7.4/": ("#DisplayArea", ""),
    "httpd.apache.org/docs/": ("#page-content", "#quickview, .top"),
    "mozilla-l10n.github.io/styleguides/": ("main", ""),
    "pythainlp.org/docs/": _SPHINX,
    "ricktu288.github.io/ray-optics/": (".description", ""),
    "thaiunitarians.github.io/": (".posts-body", ""),
    "tourofrust.com/": ("div.page", ".bottomnav"),
    "www.debian.org/doc/manuals/securing-debian-manual/": _DOCBOOK,
    "www.debian.org/doc/debian-policy/": _SPHINX,
    "www.debian.org/releases/": _DOCBOOK,
    "www.kernel.org/doc/html/": _SPHINX,
    "www.mplayerhq.hu/DOCS/HTML/": _DOCBOOK,
}
"""Where a host's pages have their text, and what in it is none: CSS selectors."""

_SCRIPTS = {
    "th": "\u0e01-\u0e4e",
    "lo": "\u0e81-\u0ecd",
    "my": "\u1000-\u109f",
    "km": "\u1780-\u17d3",
    "ja": "\u3041-\u30ff",
    "zh": "\u3400-\u9fff",
}
_LEAST_SCRIPT = 0.15  # of a text's letters; code and names are in Latin ones
_WORD = re.compile(r"\w+")
_BLANK = re.compile(r"\s+")


class Page(NamedTuple):
    """A page, and what its set says of its text: all of it, or pieces with and without.

    ``by_words`` says that a text is measured by its words, in whatever order.
    """

    name: str
    url: str
    path: str
    group: str
    text: str = ""
    having: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    by_words: bool = False


def scrapinghub(folder: Path) -> Iterator[Page]:
    """Yield the pages of article-extraction-benchmark."""
    for name, about in json.loads((folder / "ground-truth.json").read_text("utf-8")).items():
        path = folder / "html" / f"{name}.html.gz"
        yield Page(name, about["url"], str(path), "", about.get("articleBody", ""))


def trafilatura(folder: Path) -> Iterator[Page]:
    """Yield the pages of trafilatura's set."""
    for url, about in json.loads((folder / "tests/evaldata.json").read_text("utf-8")).items():
        places = (folder / "tests" / part / about["file"] for part in ("cache", "eval"))
        path = next(place for place in places if place.exists())
        having, lacking = tuple(about["with"]), tuple(about["without"])
        yield Page(about["file"], url, str(path), "", "", having, lacking)


def wcxb(folder: Path) -> Iterator[Page]:
    """Yield the pages of a part of WCXB, each with its kind."""
    for path in sorted((folder / "ground-truth").glob("*.json")):
        about = json.loads(path.read_text("utf-8"))
        kind = about.get("_internal", {}).get("page_type", {}).get("primary", "article")
        text = about["ground_truth"].get("main_content") or ""
        page = folder / "html" / f"{path.stem}.html.gz"
        kind = {"category": "collection"}.get(kind, kind)
        yield Page(path.stem, about.get("url") or "", str(page), kind, text, by_words=True)


def frozen(folder: Path) -> Iterator[Page]:
    """Yield the pages of a frozen web whose generators mark their text."""
    taken = Counter[tuple[str, str]]()
    for place, (inside, without) in sorted(MARKED.items()):
        host = place.partition("/")[0]
        paths = [p for p in (folder / host).rglob("*.html*") if p.is_file()]
        for path in sorted(paths, key=lambda p: crc32(str(p.relative_to(folder)).encode())):
            name = str(path.relative_to(folder))
            if not name.startswith(place):
                continue
            text = _marked(path, inside, without)
            language = _language(text)
            if not language or taken[place, language] >= MOST:
                continue
            taken[place, language] += 1
            yield Page(name, f"http://{name}", str(path), language, text)


def _marked(path: Path, inside: str, without: str) -> str:
    tree = LexborHTMLParser(decode(path.read_bytes(), None).text)
    for node in tree.css(",".join(filter(None, ["script, style, h1", without]))):
        node.decompose()
    return "\n".join(node.text(separator="\n") for node in tree.css(inside))


def _language(text: str) -> str:
    letters = _letters(text)
    shares = {
        code: len(re.findall(f"[{chars}]", letters)) / max(1, len(letters))
        for code, chars in _SCRIPTS.items()
    }
    best = max(shares, key=shares.__getitem__)
    if len(letters) < LEAST or shares[best] < _LEAST_SCRIPT:
        return ""
    return "ja" if shares["ja"] > 0.1 else best


def _letters(text: str) -> str:
    return "".join(_WORD.findall(text.replace("\u200b", "")))


def extractor(name: str) -> Callable[[bytes, str], str]:
    """Return what makes text of a page's bytes and URL. Raises ImportError if it isn't there."""
    if name == "lswc":
        return _by_lswc
    if name == "trafilatura":
        extract = import_module("trafilatura").extract
        return lambda body, url: extract(body, include_comments=False, include_tables=True) or ""
    if name == "resiliparse":
        plain = import_module("resiliparse.extract.html2text").extract_plain_text
        tree = import_module("resiliparse.parse.html").HTMLTree
        return lambda body, url: plain(tree.parse(decode(body, None).text), main_content=True)
    jusText = import_module("justext")  # noqa: N806
    words = jusText.get_stoplist("English")
    return lambda body, url: "\n".join(
        p.text for p in jusText.justext(body, words) if not p.is_boilerplate
    )


def _by_lswc(body: bytes, url: str) -> str:
    from lswc.reading.main_text.paragraphs import read

    return "\n".join(block.text for block in read(decode(body, None).text, url).paragraphs)


def extract(name: str, pages: Path, out: Path) -> None:
    """Write the texts of pages by one extractor, and how many seconds of CPU they took."""
    import gzip

    run = extractor(name)
    run(b"<p>it begins</p>", "http://a.example/")
    texts, seconds = [], 0.0
    for path, url in json.loads(pages.read_text("utf-8")):
        body = Path(path).read_bytes()
        body = gzip.decompress(body) if path.endswith(".gz") else body
        began = time.process_time()
        texts.append(run(body, url))
        seconds += time.process_time() - began
    out.write_text(json.dumps({"texts": texts, "seconds": seconds}), "utf-8")


class Score(NamedTuple):
    """Precision and recall, and the mean F1 of pages if their set says to take that."""

    precision: float
    recall: float
    mean_f1: float | None = None

    @property
    def f1(self) -> float:
        """The mean one, or the harmonic mean of precision and recall."""
        if self.mean_f1 is not None:
            return self.mean_f1
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def score(pages: list[Page], texts: list[str]) -> Score:
    """Return how well texts fit what their set says of them."""
    if any(page.having for page in pages):
        return _by_pieces(pages, texts)
    told = [of_page(page, text) for page, text in zip(pages, texts, strict=True)]
    if any(page.by_words for page in pages):
        precision, recall = [one.precision for one in told], [one.recall for one in told]
        return Score(mean(precision), mean(recall), mean(one.f1 for one in told))
    precision = [one.precision for one in told if one.precision >= 0]
    recall = [one.recall for one in told if one.recall >= 0]
    return Score(mean(precision or [0]), mean(recall or [0]))


def of_page(page: Page, text: str) -> Score:
    """Return the score of one page; -1 for what is of nothing."""
    if page.having:
        return _by_pieces([page], [text])
    if page.by_words:
        return _by_words(page.text, text)
    true, found = _runs(page.text, page.group), _runs(text, page.group)
    same = (true & found).total()
    precision = same / found.total() if found else -1.0
    return Score(precision, same / true.total() if true else -1.0)


def _by_words(true: str, found: str) -> Score:
    """Return the score of a text by its words; 1 where there is none and none was found."""
    wanted, got = (Counter(_WORD.findall(one.lower())) for one in (true, found))
    if not (wanted and got):
        return Score(1.0, 1.0) if wanted == got else Score(0.0, 0.0)
    same = (wanted & got).total()
    return Score(same / got.total(), same / wanted.total())


def _runs(text: str, group: str) -> Counter[Any]:
    """Count runs of four words; of eight letters where words have no blanks between them."""
    pieces, size = (_letters(text), 8) if group else (tuple(_WORD.findall(text)), 4)
    if not pieces:
        return Counter()
    return Counter(pieces[i : i + size] for i in range(max(1, len(pieces) - size + 1)))


def _by_pieces(pages: list[Page], texts: list[str]) -> Score:
    right = wrong = total = 0
    for page, text in zip(pages, texts, strict=True):
        flat = _BLANK.sub(" ", text)
        right += sum(_BLANK.sub(" ", piece).strip() in flat for piece in page.having)
        wrong += sum(_BLANK.sub(" ", piece).strip() in flat for piece in page.lacking)
        total += len(page.having)
    return Score(right / max(1, right + wrong), right / max(1, total))


def measure(name: str, pages: list[Page]) -> tuple[list[str], float]:
    """Return the texts by an extractor in a process of its own, and its seconds of CPU."""
    with tempfile.TemporaryDirectory() as folder:
        wanted, out = Path(folder, "pages.json"), Path(folder, "texts.json")
        wanted.write_text(json.dumps([(page.path, page.url) for page in pages]), "utf-8")
        command = [sys.executable, "-m", "benchmarks.extraction", "--run", name, wanted, out]
        subprocess.run(command, check=True)
        told = json.loads(out.read_text("utf-8"))
    return told["texts"], told["seconds"]


def pages_of(folder: Path, half: str) -> list[Page]:
    """Return the pages of a set, or of one half of it."""
    if (folder / "ground-truth.json").exists():
        found = scrapinghub(folder)
    elif (folder / "tests/evaldata.json").exists():
        found = trafilatura(folder)
    elif (folder / "ground-truth").is_dir():
        found = wcxb(folder)
    else:
        found = frozen(folder)
    parity = {"even": 0, "odd": 1}.get(half)
    return [p for p in found if parity is None or crc32(p.name.encode()) % 2 == parity]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--half", choices=("all", "even", "odd"), default="all")
    parser.add_argument("--by", nargs="+", choices=EXTRACTORS, default=EXTRACTORS)
    parser.add_argument("--run", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.run:
        extract(args.run[0], Path(args.run[1]), Path(args.run[2]))
        return
    for folder in args.folders:
        pages = pages_of(folder, args.half)
        print(f"\n{folder.name}: {len(pages)} pages ({args.half})")
        print(f"{'':24}{'F1':>7}{'P':>7}{'R':>7}{'pages/s':>9}")
        for name in args.by:
            _print(name, pages, *measure(name, pages))


def _print(name: str, pages: list[Page], texts: list[str], seconds: float) -> None:
    groups = defaultdict[str, list[tuple[Page, str]]](list)
    for page, text in zip(pages, texts, strict=True):
        groups[page.group].append((page, text))
    label = "lswc" if name == "lswc" else f"{name} {version(name)}"
    told = {label: score(pages, texts)}
    if len(groups) > 1:
        told |= {
            f"  {group} ({len(found)})": score([p for p, _ in found], [t for _, t in found])
            for group, found in sorted(groups.items())
        }
    for line, one in told.items():
        speed = f"{len(pages) / seconds:9.0f}" if line == label else ""
        print(f"{line:24}{one.f1:7.3f}{one.precision:7.3f}{one.recall:7.3f}{speed}", flush=True)


if __name__ == "__main__":
    main()
