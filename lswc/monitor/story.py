"""Story of a URL: what became of it, and why, by the crawl log and the frontier together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from lswc.archive.run_settings import settings_of
from lswc.outcomes import OF_ELSEWHERE, Outcome, sentence
from lswc.safety.url_patterns import naming
from lswc.strategy import SEED, Anchor, Named, Status, decode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from lswc.frontier.rules.report import Standing
    from lswc.guest.control import Control
    from lswc.urls import Url


class Link(NamedTuple):
    """A link to the URL: its page, anchor text, what that names, and the strategy's decision."""

    page: str
    anchor: str
    names: str
    decision: str


class Story(NamedTuple):
    """What became of a URL in one line or some, and what that follows from.

    ``links`` are the first ``most``, of ``more_links`` others; ``attempts`` are rows of the log;
    ``facts`` those of the link that brought the URL, in words.
    """

    conclusion: str
    links: list[Link]
    more_links: int
    attempts: Sequence[Mapping[str, Any]]
    facts: list[tuple[str, str]]


def story(
    links: Sequence[Mapping[str, Any]],
    attempts: Sequence[Mapping[str, Any]],
    standing: Standing | None,
    most: int,
    *,
    has_frontier: bool = True,
) -> Story:
    """Return the story of a URL, of which the log has these links and attempts."""
    code = standing.code if standing is not None else None
    return Story(
        _conclusion(links, attempts, standing, has_frontier),
        [_link(link) for link in links[:most]],
        max(0, len(links) - most),
        attempts,
        list(_facts(code)) if code is not None else [],
    )


def _conclusion(
    links: Sequence[Mapping[str, Any]],
    attempts: Sequence[Mapping[str, Any]],
    standing: Standing | None,
    has_frontier: bool,
) -> str:
    is_pending = standing is not None and standing.outcome is None
    last = attempts[-1] if attempts else None
    if last is not None and last["outcome"] == Outcome.SERVER_BECAME_IRRELEVANT and not is_pending:
        return f"discarded, {_ended(last)}: {explained(last['outcome'])}"
    if last is not None and last["outcome"] != Outcome.SERVER_BECAME_IRRELEVANT:
        return f"{_ended(last)}: {explained(last['outcome'])}"
    if is_pending:
        family = "".join(standing.family) if standing is not None else ""
        return "pending: it is in the frontier, or being fetched now" + (
            f". Its site is unproven: hardly a site but {family} links to it. Such sites get "
            "a small share of the requests while others wait"
            if family
            else ""
        )
    if standing is not None and (standing.outcome or "").startswith(OF_ELSEWHERE):
        by, _, outcome = str(standing.outcome).removeprefix(OF_ELSEWHERE).partition(" ")
        return (
            f"{outcome}: {explained(outcome)} Worker {by} finished it, which had its site before: "
            "the log in its folder has the rest"
        )
    taken = [link for link in links if link["dropped"] is None]
    is_gone = standing is not None and standing.is_discarded
    if taken and has_frontier:
        full = standing.outcome if standing is not None and is_gone else None
        outcome = Outcome(full or Outcome.SERVER_BECAME_IRRELEVANT)
        return f"discarded, {outcome}: {outcome.sentence}"
    if taken:
        return "kept by the strategy; the frontier wasn't kept, so what followed isn't known"
    if links:
        reasons = dict.fromkeys(link["dropped"] for link in links)
        return "\n".join(f"discarded, {reason}: {explained(reason)}" for reason in reasons)
    if standing is not None and not is_gone:
        return "finished; the log that says how isn't here"
    return "never seen: no page that this crawl read links to it, and it is no seed"


def pattern_against(url: Url | None, settings: Sequence[Path], control: Control) -> str:
    """Say which pattern excludes a URL now; "" if none does.

    Patterns are those of the folders' ``settings.json``, and of the instructions.
    """
    lists = [(settings_of(folder).get("LSWC_EXCLUDE") or (), "LSWC_EXCLUDE") for folder in settings]
    for written, where in [*lists, (control.exclude, "control.toml")]:
        named = naming(url, written) if url is not None else ""
        if named:
            return f"The pattern is {named}, of {where}."
    return ""


def _ended(attempt: Mapping[str, Any]) -> str:
    return f"{attempt['outcome']}, {attempt['time']:%Y-%m-%d %H:%M:%S} UTC"


def explained(outcome: str) -> str:
    """Return the sentence of an outcome or a reason, also of one that there isn't any more."""
    try:
        return sentence(outcome)
    except ValueError:  # of an older crawl
        return "no more is known"


def _link(link: Mapping[str, Any]) -> Link:
    anchor = "" if link["anchor"] is None else Anchor(link["anchor"]).name.lower()
    names = "" if link["named"] is None else Named(link["named"]).name.lower()
    kept = "kept" if link["tier"] is None else f"tier {link['tier']}"
    decision = kept if link["dropped"] is None else f"discarded: {link['dropped']}"
    return Link(link["source"], anchor, names, decision)


def _facts(code: int) -> Iterator[tuple[str, str]]:
    if code == SEED:
        yield "seed", "yes"
        return
    for name, value in decode(code, Status.UNVISITED)._asdict().items():
        if name not in ("target_server", "support", "oracle"):  # of now, and of simulations
            yield name.replace("_", " "), str(getattr(value, "name", value)).lower()
