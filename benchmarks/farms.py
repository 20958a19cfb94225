"""Spam farms and traps beside honest hosts: what they get of a crawl, with and without a share.

python -m benchmarks.farms [docs/lab/farms.png]

Prints a table in Markdown, and what honest blogs of one host lose; draws the farms' shares over
time. The clock isn't real.
"""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from lswc.frontier.store.frontier import MEMORY, Frontier
from lswc.settings import LSWC_MAX_UNPROVEN_SITES, LSWC_UNPROVEN_SHARE
from lswc.strategy import strategy
from tests.hostile.farms import TRAP, Crawl, blogs, expired, farm, honest, terms, trap

if TYPE_CHECKING:
    from tests.hostile.farms import Web

PAGES = 40
"""Pages of an honest host."""

BLOGS = 10_000
"""Honest blogs of one host."""

STEP = 100
"""Requests of a point of the figure."""

LOOKS = (("#0b6e75", 5.0), ("#d62728", 2.5), ("#f2c14e", 1.2))
"""Colours and widths of lines, many of which lie on others."""

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
    with closing(Frontier(MEMORY, strategy("adaptive"), {}, made)) as frontier:
        return Crawl(frontier, web, delay=delay).run(1_000_000, until)


def main() -> None:
    """Crawl, print and draw."""
    print("| farm | delay | its share before | now | honest pages before | now |")
    print("|---|---|---|---|---|---|")
    curves: dict[float, dict[str, tuple[Crawl, Crawl]]] = {}
    for delay in (0.0, 1.0):
        alone = crawl({"honest": honest(PAGES)}, delay, 1.0)
        number = 9 * len(alone.log) // 10
        until = alone.time_of("honest", number)
        curves[delay] = {}
        for name, web in WEBS.items():
            both = curves[delay][name] = (
                crawl(web, delay, 1.0, until),
                crawl(web, delay, LSWC_UNPROVEN_SHARE, until),
            )
            shares = " | ".join(f"{one.share('honest'):.0%}" for one in both)
            pages = " | ".join(f"{one.pages('honest') / number:.0%}" for one in both)
            print(f"| {name} | {delay:g} s | {shares} | {pages} |", flush=True)
    if sys.argv[1:]:
        draw(curves, sys.argv[1])
    blog_host()


def draw(curves: dict[float, dict[str, tuple[Crawl, Crawl]]], path: str) -> None:
    """Draw the farms' part of every STEP requests over time, by delay, before and now."""
    figure = Figure(figsize=(11, 4.5), layout="constrained")
    for axes, (delay, by_farm) in zip(
        figure.subplots(1, 2, sharey=True), curves.items(), strict=True
    ):
        for (name, both), (colour, width) in zip(by_farm.items(), LOOKS, strict=True):
            for one, style, told in zip(both, (":", "-"), ("without", "with"), strict=True):
                times, shares = zip(*one.shares("honest", STEP), strict=True)
                axes.plot(
                    times, shares, style, color=colour, lw=width, label=f"{name}, {told} a share"
                )
        axes.set_title(f"a server rests {delay:g} s" if delay else "no rests", fontsize=10)
        axes.set_xlabel("Seconds")
        axes.grid(color="#dddddd", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_xlim(left=0)
        axes.set_ylim(0, 1.02)
    figure.axes[0].yaxis.set_major_formatter(PercentFormatter(1))
    figure.axes[0].set_ylabel(f"The farm's part of {STEP} requests")
    handles, _ = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    figure.savefig(path, dpi=100)


def blog_host() -> None:
    """Print how many blogs are proven, and when 90 % of their pages had come, by share."""
    web: Web = {"honest": honest(PAGES, blogs=BLOGS), "blog": blogs(BLOGS)}
    names = [f"blog-{number}.blogspot.com" for number in range(BLOGS)]
    for share in (1.0, LSWC_UNPROVEN_SHARE):
        made = terms(share, LSWC_MAX_UNPROVEN_SITES)
        with closing(Frontier(MEMORY, strategy("adaptive"), {}, made)) as frontier:
            done = Crawl(frontier, web).run(1_000_000)
            proven = sum(frontier.family_of(name) == () for name in names)
        most = done.time_of("blog", 9 * done.pages("blog") // 10)
        print(
            f"share {share:g}: {proven:,} blogs proven, 90% of their pages after {most:.0f} s, "
            f"all {len(done.log):,} pages after {done.now:.0f} s"
        )


if __name__ == "__main__":
    main()
