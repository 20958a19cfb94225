"""What became of a URL, and why: told by the crawl log and the frontier together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lswc.outcomes import Outcome, sentence
from lswc.strategy import SEED, Anchor, Named, Status, decode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lswc.frontier.report import Standing


def conclusion(
    links: Sequence[Mapping[str, Any]],
    attempts: Sequence[Mapping[str, Any]],
    standing: Standing | None,
    kept: bool,
) -> str:
    """Say in one line what became of a URL, of which the log has these links and attempts.

    ``kept`` says that there is a frontier.
    """
    waits = standing is not None and standing.outcome is None
    last = attempts[-1] if attempts else None
    if last is not None and last["outcome"] == Outcome.SERVER_BECAME_IRRELEVANT and not waits:
        return f"dropped, {_ended(last)}: {explained(last['outcome'])}"
    if last is not None and last["outcome"] != Outcome.SERVER_BECAME_IRRELEVANT:
        return f"{_ended(last)}: {explained(last['outcome'])}"
    if waits:
        return "waits: it is in the queue, or being fetched now"
    taken = [link for link in links if link["dropped"] is None]
    let_go = standing is not None and standing.is_let_go
    if taken and kept:
        full = standing.outcome if standing is not None and let_go else None
        outcome = Outcome(full or Outcome.SERVER_BECAME_IRRELEVANT)
        return f"dropped, {outcome}: {outcome.sentence}"
    if taken:
        return "kept by the strategy; the frontier wasn't kept, so what followed isn't known"
    if links:
        reasons = dict.fromkeys(link["dropped"] for link in links)
        return "\n".join(f"dropped, {reason}: {explained(reason)}" for reason in reasons)
    if standing is not None and not let_go:
        return "finished by another worker: its log has the rest"
    return "never seen: no page that this crawl read links to it, and it is no seed"


def _ended(attempt: Mapping[str, Any]) -> str:
    return f"{attempt['outcome']}, {attempt['time']:%Y-%m-%d %H:%M:%S} UTC"


def explained(outcome: str) -> str:
    """Return the sentence of an outcome or a reason, also of one that there isn't any more."""
    try:
        return sentence(outcome)
    except ValueError:  # of an older crawl
        return "no more is known"


def link_told(link: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Return of a link to the URL: its page, its anchor, what it names, what the strategy said."""
    anchor = "" if link["anchor"] is None else Anchor(link["anchor"]).name.lower()
    names = "" if link["named"] is None else Named(link["named"]).name.lower()
    kept = "kept" if link["tier"] is None else f"tier {link['tier']}"
    verdict = kept if link["dropped"] is None else f"dropped: {link['dropped']}"
    return link["source"], anchor, names, verdict


def facts(code: int) -> Iterator[tuple[str, str]]:
    """Yield the facts of the link that brought a URL, in words."""
    if code == SEED:
        yield "seed", "yes"
        return
    for name, value in decode(code, Status.UNVISITED)._asdict().items():
        if name not in ("target_server", "oracle"):  # of now, and of simulations
            yield name, str(getattr(value, "name", value)).lower()
