"""Seed files: one URL a line, given by the user, shipped for a language, or a frozen web's."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from lswc.errors import ConfigError
from lswc.language import registry
from lswc.urls import parse, tld

if TYPE_CHECKING:
    from collections.abc import Collection
    from importlib.resources.abc import Traversable

    from lswc.language.registry import Language, Wanted

LISTS = Path("seeds")
"""The user's own folder of lists, ``<code>.txt``, in the working directory."""

NOTE = re.compile(r"\s+#(?:\s.*)?$")
"""What may stand behind a URL in a list: a note."""


def seeds_of(target: Wanted, given: str, web: Path | None) -> tuple[str, ...]:
    """Return a crawl's seeds: of the file ``given``, of a frozen web, or of a list.

    ``given`` may also be URLs, with spaces between them, or a folder of lists. Raises ConfigError.
    """
    if "://" in given:
        return seeds_in("seeds", given.replace(" ", "\n"))
    if given and not Path(given).is_dir():
        return read_seeds(Path(given))
    folder = Path(given) if given else None
    seeds = (seed for language in target.languages for seed in _seeds_of(language, web, folder))
    return tuple(dict.fromkeys(seeds))


def _seeds_of(target: Language, web: Path | None, given: Path | None) -> tuple[str, ...]:
    if web is not None and given is None:
        return read_seeds(seeds_of_web(web, target))
    found = list_of(target, given)
    if found is None:
        raise ConfigError(hint(target.tag))
    return _of_variant(target, addresses(found))


def list_of(target: Language, given: Path | None = None) -> Traversable | None:
    """Return the list of a language: of a folder that is given, of the user's own, or shipped.

    The user's own are those of the folder of their languages, and LISTS. None if there is none.
    """
    own = registry.own_folder()
    folders: list[Traversable] = [given] if given else []
    folders += [own / "seeds"] if own else []
    for folder in (*folders, LISTS, files("seeds")):
        for tag in dict.fromkeys((target.tag, target.code)):
            if (folder / f"{tag}.txt").is_file():
                return folder / f"{tag}.txt"
    return None


def outside(path: Traversable, tlds: Collection[str]) -> str:
    """Return a list without the seeds under some top-level domains; "" if none is left.

    A group whose seeds all go is left out with its line. Raises ConfigError.
    """
    addresses(path)  # for mistakes in it
    groups = []
    for group in path.read_text("utf-8").removeprefix("\ufeff").split("\n\n"):
        lines = group.strip().splitlines()
        urls = [line for line in lines if line[:1] != "#" and _tld_of(line) not in tlds]
        if urls:
            groups.append("\n".join([*(line for line in lines if line[:1] == "#"), *urls, ""]))
    return "\n".join(groups)


def _tld_of(line: str) -> str:
    url = parse(NOTE.sub("", line).strip())
    return tld(url.hostname) if url else ""


def hint(tag: str) -> str:
    """Return two lines that say how to get a list of a language for which there is none."""
    return (
        f"no seeds are shipped for {tag!r}: give some, -a seeds=FILE, or make a list of the sites"
        " that its speakers name:\n  git clone https://github.com/commoncrawl/web-languages && lswc"
        f" seeds --lang {tag} --from web-languages web-languages   (lswc seeds --sources: others)"
    )


def seeds_of_web(web: Path, target: Language) -> Path:
    """Return the file of a frozen web with the seeds of a language. Raises ConfigError."""
    names = [f"seeds-{tag}.txt" for tag in dict.fromkeys((target.tag, target.code))]
    for name in names:
        if (web / name).is_file():
            return web / name
    raise ConfigError(f"the frozen web has no {names[-1]}: give seeds with -a seeds=FILE")


def _of_variant(target: Language, seeds: tuple[str, ...]) -> tuple[str, ...]:
    """Leave out the seeds whose top-level domain is rather that of another variant."""
    if target.variant is None:
        return seeds
    others = {domain for v in target.variants if v != target.variant for domain in v.tlds}
    hosts = ((seed, parse(seed)) for seed in seeds)
    return tuple(seed for seed, url in hosts if url is None or tld(url.hostname) not in others)


def read_seeds(path: Path) -> tuple[str, ...]:
    """Return the URLs of a seeds file, one a line. Raises ConfigError, naming the line."""
    return addresses(path)


def addresses(path: Traversable) -> tuple[str, ...]:
    """Return the URLs of a list, which may be a shipped one. Raises ConfigError, as read_seeds."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"can't read the seeds file {path}: {error}") from error
    return seeds_in(str(path), text.removeprefix("\ufeff"))


def seeds_in(name: str, text: str) -> tuple[str, ...]:
    """Return the URLs of a list's text; ``name`` is what a mistake calls it. Raises ConfigError."""
    seeds: dict[str, None] = {}
    for number, line in enumerate(text.splitlines(), 1):
        address = NOTE.sub("", line).strip()
        if not address or address.startswith("#"):
            continue
        url = parse(address)
        if url is None or url.scheme not in ("http", "https"):
            raise ConfigError(f"{name}, line {number}: not an http or https URL: {address!r}")
        seeds[url.href] = None
    if not seeds:
        raise ConfigError(f"the seeds file {name} names no URL")
    return tuple(seeds)
