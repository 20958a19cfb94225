"""Spam farms and traps beside honest hosts: what they get of a crawl, with and without a share.

python -m benchmarks.farms

Prints a table in Markdown, the farm's part of every 200 requests, and what honest blogs of one host
lose. The clock isn't real.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from lswc.frontier.sqlite import MEMORY, SqliteFrontier
from lswc.settings import LSWC_MAX_UNPROVEN_SITES, LSWC_UNPROVEN_SHARE
from lswc.strategy import strategy
from tests.hostile.farms import TRAP, Crawl, blogs, expired, farm, honest, terms, trap

if TYPE_CHECKING:
    from tests.hostile.farms import Web

PAGES = 40
"""Pages of an honest host."""

BLOGS = 10_000
"""Honest blogs of one host."""

WEBS: dict[str, Web] = {
    "random domains": {"honest": honest(PAGES, TRAP), "trap": trap},
    "200 domains that link to each other": {
        "honest": honest(PAGES, "http://farm-0.com/"),
        "farm": farm(200),
    },
    "random domains of an expired one": {
        "honest": honest(PAGES, "http://expired-0.com/"),
        "expired": expired,
        "trap": trap,
    },
}


def crawl(web: Web, delay: float, share: float, until: float = 1e9) -> Crawl:
    """Crawl a web until a time, or to the end."""
    made = terms(share, LSWC_MAX_UNPROVEN_SITES)
    with closing(SqliteFrontier(MEMORY, strategy("adaptive"), {}, made)) as frontier:
        return Crawl(frontier, web, delay=delay).run(1_000_000, until)


def main() -> None:
    """Crawl and print."""
    print("| farm | delay | its share before | now | honest pages before | now |")
    print("|---|---|---|---|---|---|")
    curves = []
    for delay in (0.0, 1.0):
        alone = crawl({"honest": honest(PAGES)}, delay, 1.0)
        number = 9 * len(alone.log) // 10
        until = alone.time_of("honest", number)
        for name, web in WEBS.items():
            before, now = (crawl(web, delay, s, until) for s in (1.0, LSWC_UNPROVEN_SHARE))
            shares = " | ".join(f"{one.share('honest'):.0%}" for one in (before, now))
            pages = " | ".join(f"{one.pages('honest') / number:.0%}" for one in (before, now))
            print(f"| {name} | {delay:g} s | {shares} | {pages} |", flush=True)
            for one, told in ((before, "before"), (now, "now")):
                parts = " ".join(f"{share:.0%}" for _, share in one.shares("honest"))
                curves.append(f"{name}, delay {delay:g} s, {told}: {parts}")
    print("", *curves, sep="\n")
    blog_host()


def blog_host() -> None:
    """Print how many blogs are proven, and when 90 % of their pages had come, by share."""
    web: Web = {"honest": honest(PAGES, blogs=BLOGS), "blog": blogs(BLOGS)}
    names = [f"blog-{number}.blogspot.com" for number in range(BLOGS)]
    for share in (1.0, LSWC_UNPROVEN_SHARE):
        made = terms(share, LSWC_MAX_UNPROVEN_SITES)
        with closing(SqliteFrontier(MEMORY, strategy("adaptive"), {}, made)) as frontier:
            done = Crawl(frontier, web).run(1_000_000)
            proven = sum(frontier.family_of(name) == () for name in names)
        most = done.time_of("blog", 9 * done.pages("blog") // 10)
        print(
            f"share {share:g}: {proven:,} blogs proven, 90% of their pages after {most:.0f} s, "
            f"all {len(done.log):,} pages after {done.now:.0f} s"
        )


if __name__ == "__main__":
    main()
