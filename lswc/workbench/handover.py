"""Hand-over: what a crawl is given away as, made by a button, and the archive's player."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING, Any

from lswc.archive.run_settings import settings_of, wanted_of
from lswc.errors import ConfigError
from lswc.logins import without_logins
from lswc.workbench.answers import Stored, attached
from lswc.workbench.jobs import FOLDER, Task
from lswc.workbench.replay import address_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from lswc.workbench.watch import Watch

MOST_FILES = 500
"""Files of a result that are listed."""

REPORT = "report"
"""What the name of a job begins with whose HTML is shown in the browser."""

POLICY = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-downloads",
}
"""What a report may do in a browser: look as it should, and nothing else."""


def tasks(folders: Sequence[Path]) -> dict[str, Task]:
    """Return what can be made of a crawl, by names of files. Raises ArchiveError."""
    crawl, given = folders[0].resolve(), [str(folder.resolve()) for folder in folders]
    made, found = crawl / FOLDER, dict[str, Task]()

    def add(name: str, title: str, about: str, command: str, result: Path, *options: str) -> None:
        arguments = (command, *given, "--out", str(result), *options)
        found[name] = Task(made / name, title, about, arguments, result)

    add("wacz", "Make a WACZ", "The archive in one file, to replay anywhere.", "wacz",
        made / f"{crawl.name}.wacz")  # fmt: skip
    languages = wanted_of(crawl).languages
    for language in languages:
        tag, option = language.tag, ("--lang", language.tag)
        of, end = (f" of {language.name}", f"-{tag}") if len(languages) > 1 else ("", "")
        add(f"corpus{end}", f"Make a corpus{of}", "The clean text, as Parquet and JSON Lines.",
            "corpus", made / f"corpus{end}", *option)  # fmt: skip
        add(f"{REPORT}{end}", f"Board report{of}",
            "What was collected, in words, tables and figures.",
            "analyze", made / f"{REPORT}{end}", *option)  # fmt: skip
    found["replay"] = Task(
        made / "replay", "Player", "Shows each capture in the browser, as the page was.",
        ("replay", *given, "--port", "0", "--pid", str(os.getpid())), None,
    )  # fmt: skip
    return found


def _folders(watch: Watch) -> list[Path]:
    if not (folders := watch.crawl.folders()):
        raise ConfigError("no folder of this crawl is on this machine: nothing can be made of it")
    return folders


def shown(watch: Watch, _given: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the jobs of a crawl, and what they made. Raises LswcError."""
    folders = _folders(watch)
    jobs = {name: watch.jobs.progress(task) for name, task in tasks(folders).items()}
    for one in jobs.values():
        one["more"] = max(0, len(one["files"]) - MOST_FILES)
        one["files"] = list(islice(one["files"], MOST_FILES))
    return {"jobs": jobs, "report": REPORT, "player": address_of(folders[0])}


def states(watch: Watch, _given: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the states of the jobs, for the page's script. Raises LswcError."""
    folders = _folders(watch)
    jobs = {name: watch.jobs.progress(task) for name, task in tasks(folders).items()}
    kept = ("state", "seconds", "what", "share", "so_far")
    return {
        "jobs": {name: {key: one[key] for key in kept} for name, one in jobs.items()},
        "player": address_of(folders[0]),
    }


def start(watch: Watch, body: Mapping[str, Any]) -> None:
    """Start a job by its name. Raises LswcError."""
    watch.jobs.start(_task(watch, body))


def cancel(watch: Watch, body: Mapping[str, Any]) -> None:
    """Cancel a job by its name. Raises LswcError."""
    watch.jobs.cancel(_task(watch, body))


def _task(watch: Watch, body: Mapping[str, Any]) -> Task:
    known, name = tasks(_folders(watch)), str(body.get("job", ""))
    if name not in known:
        raise ConfigError(f"no job is called {name!r}: {', '.join(known)}")
    return known[name]


def made(watch: Watch, path: str) -> Stored:
    """Return a file that a job made, by the job's name and the path in its result.

    Raises LswcError.
    """
    name, _, inside = path.partition("/")
    task = tasks(_folders(watch)).get(name)
    files = [] if task is None else watch.jobs.progress(task)["files"]
    if task is None or task.result is None or inside not in {one.path for one in files}:
        raise ConfigError("that isn't there, or not yet")
    place = task.result / inside if task.result.is_dir() else task.result
    if name.startswith(REPORT) and inside.endswith(".html"):
        return Stored(place, "text/html; charset=utf-8", POLICY)
    return Stored(place, "application/octet-stream", attached(place.name))


def settings(watch: Watch, _given: Mapping[str, str]) -> Mapping[str, Any]:
    """Return what a crawl was run with. Raises LswcError."""
    found = settings_of(_folders(watch)[0])
    return {"settings": {name: _written(value) for name, value in found.items()}}


def _written(value: object) -> str:
    texts = map(str, value) if isinstance(value, list) else [str(value)]
    return without_logins(" ".join(texts))
