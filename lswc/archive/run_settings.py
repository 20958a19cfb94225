"""Run settings: what a crawl was run with, in ``settings.json`` of its folder."""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lswc.archive import page_record
from lswc.archive.appended_files import ArchiveError
from lswc.errors import writing
from lswc.language.registry import Language, Wanted, wanted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SETTINGS = "settings.json"
"""Name of the file in the crawl folder with what the crawl was run with."""

IDENTITY = "frontier"
"""What that file has of what the crawl's frontier is of: one that is made anew must be, too."""

EARLIER_ARCHIVES = "earlier-archives"
"""What that file has of the crawls that were visited again: a WARC file's name of each, which stays
when a folder gets another name."""

EARLIER_SOFTWARE = "earlier-software"
"""What that file has of a crawl that other versions ran before: as ``software``, a list."""

logger = logging.getLogger(__name__)


def wanted_of(crawl: Path) -> Wanted:
    """Return the languages of the crawl in a folder. Raises ArchiveError if it holds none."""
    return wanted(str(_setting(crawl, "language")))


def language_of(crawl: Path, lang: str = "") -> Language:
    """Return the language of the crawl in a folder; ``lang`` says which, if it has several.

    Raises ArchiveError if the folder holds no crawl, or one that isn't of that language.
    """
    collected = wanted_of(crawl)
    chosen = [known for known in collected.languages if lang in ("", known.tag)]
    if not chosen:
        raise ArchiveError(f"{crawl} is a crawl of {collected.tag}, not of {lang}")
    if len(chosen) > 1:
        raise ArchiveError(f"{crawl} is a crawl of {collected.tag}: say of which language, --lang")
    return chosen[0]


def earlier_of(crawl: Path, others: Sequence[Path] = ()) -> tuple[Path, ...]:
    """Return the folders of the crawls that a crawl visited again.

    One that isn't where it was is looked for beside the crawl, and among ``others``, by its name
    and by that of a WARC file of it. Raises ArchiveError.
    """
    about = settings_of(crawl)
    named = [Path(str(name)) for name in about.get("LSWC_RECRAWL") or ()]
    warcs = [str(name) for name in about.get(EARLIER_ARCHIVES) or ()]
    beside = crawl.resolve().parent
    here = [path if path.is_dir() else beside / path.name for path in named]
    known = {crawl.resolve(), *(path.resolve() for path in here if path.is_dir())}
    others = [place for place in (*others, *_in(beside)) if place.resolve() not in known]
    return tuple(
        path if path.is_dir() else next(_with_warc(others, warc), old)
        for old, path, warc in zip_longest(named, here, warcs[: len(named)])
    )


def _with_warc(crawls: Sequence[Path], name: str | None) -> Iterator[Path]:
    """Yield the crawls that have a WARC file of a name."""
    for crawl in crawls if name else ():
        if (crawl / "warc" / Path(str(name)).name).is_file():
            yield crawl


def _in(folder: Path) -> Iterator[Path]:
    with suppress(OSError):
        yield from sorted(folder.iterdir())


def opt_out_of(crawl: Path) -> str:
    """Return what a crawl does with opted-out pages. Raises ArchiveError if it holds none."""
    return str(_setting(crawl, "LSWC_OPT_OUT"))


def settings_of(crawl: Path) -> dict[str, Any]:
    """Return what a crawl was run with.

    Raises ArchiveError if the folder holds none, or if that can't be read.
    """
    try:
        found: dict[str, Any] = json.loads((crawl / SETTINGS).read_text("utf-8"))
        return {**found}
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ArchiveError(f"{crawl} is not a crawl folder: it has no {SETTINGS}") from error
    except OSError as error:
        raise ArchiveError(f"can't read {crawl / SETTINGS}: {error.strerror}") from error
    except (ValueError, TypeError) as error:
        raise ArchiveError(
            f"{crawl / SETTINGS} can't be read: the next run of the crawl writes it again"
        ) from error


def lacking(crawls: Sequence[Path], otherwise: str) -> ArchiveError:
    """Return the error of folders that lack what is needed, which ``otherwise`` says of one.

    If all are new, it says that.
    """
    for crawl in crawls:
        if not is_new(crawl):
            return ArchiveError(f"{crawl}: {otherwise}")
    return ArchiveError(f"{crawls[0]}: nothing was fetched yet")


def is_new(crawl: Path) -> bool:
    """Tell whether a folder is a crawl's, or a worker's, in which nothing was fetched yet."""
    has_rows = any(page_record.lengths(crawl).values()) or any((crawl / "log").glob("*"))
    return (crawl / SETTINGS).exists() and not has_rows


def settings_of_all(crawls: Sequence[Path]) -> dict[str, Any]:
    """Return what the first worker of a crawl was run with, of these folders.

    Raises ArchiveError if one holds no crawl, or one of another language.
    """
    first, *others = crawls
    about = settings_of(first)
    for other in others:
        if settings_of(other).get("language") != about.get("language"):
            raise ArchiveError(f"{other} is a crawl of another language than {first}")
    return about


def _setting(crawl: Path, name: str) -> Any:
    try:
        return settings_of(crawl)[name]
    except KeyError as error:
        raise ArchiveError(f"{crawl} has no {name} in its {SETTINGS}: put it back") from error


_PLACES = ("LSWC_BROWSER", "LSWC_EXPERIENCE", "LSWC_LANGUAGES", "LSWC_RECRAWL", "LSWC_WEB", "seeds")


def published(description: Mapping[str, object]) -> dict[str, object]:
    """Return what others may know of how a crawl is run: no paths and no addresses of one's own.

    Of a folder its name stays; of another machine's store, that it is one.
    """
    own = {name: value for name, value in description.items() if name in _PLACES}
    told = {name: value for name, value in description.items() if name != IDENTITY}
    return {**told, **{name: _name(value) for name, value in own.items()}}


def _name(place: object) -> object:
    if isinstance(place, list):
        return [_name(one) for one in place]
    scheme, mark, _ = str(place).partition("://")
    return scheme if mark else Path(str(place)).name


def keep(crawl: Path, settings: Mapping[str, object]) -> None:
    """Write what a crawl is run with into its folder, and which versions ran it before.

    Raises LswcError.
    """
    path, before = crawl / SETTINGS, _earlier_software(crawl, settings.get("software"))
    about = {**settings, EARLIER_SOFTWARE: before} if before else settings
    with writing(path):
        path.write_text(json.dumps(about, ensure_ascii=False, indent=1) + "\n", "utf-8")


def _earlier_software(crawl: Path, now: object) -> list[str]:
    """Return the other versions that ran a crawl, the latest last; it says so if one is new."""
    try:
        found = json.loads((crawl / SETTINGS).read_text("utf-8"))
        latest, before = found["software"], found.get(EARLIER_SOFTWARE, [])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []
    before = [one for one in before if isinstance(one, str)] if isinstance(before, list) else []
    if not isinstance(latest, str) or latest == now:
        return before
    logger.info("%s ran with %s before, and goes on with %s", crawl, latest, now)
    return [*(one for one in before if one not in (latest, now)), latest]
