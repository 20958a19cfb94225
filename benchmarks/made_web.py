"""A web of any number of hosts, made page by page: python -m benchmarks.made_web --hosts 50.

Every page is Thai, some 30 KB, with 20 links unless told otherwise: half to its own host, half to
others, so the web has no end. It is served on a free port of loopback, in the
clear and by TLS; the port is printed.
"""

from __future__ import annotations

import argparse
import random
from typing import Any

from twisted.internet import reactor as default_reactor

from benchmarks.addresses import listen
from lswc.crawl.web.answers import Answer
from lswc.lab.demo.vocabulary import VOCABULARIES

LINKS = 20
TEXTS = 300
PAGE = 30_000
"""Bytes of a page, about."""

_HTML = (("Content-Type", "text/html; charset=utf-8"),)
_SCRIPT = "<script>" + "window.dataLayer=window.dataLayer||[];" * 80 + "</script>"


class MadeWeb:
    """The pages of hosts ``www.host<n>.co.th``, by their number."""

    def __init__(self, hosts: int, scheme: str, links: int = LINKS) -> None:
        self._hosts, self._scheme, self._links = hosts, scheme, links
        choose, words = random.Random(1), VOCABULARIES["th"]
        self._texts = []
        for _ in range(TEXTS):
            text = ""
            while len(text.encode()) < PAGE - 6_000:
                text += f"<p>{words.sentence(choose)} {words.sentence(choose)}</p>\n"
            self._texts.append(text)

    def knows(self, server: str) -> bool:
        """Tell whether a server is of this web."""
        return True

    def answer(self, server: str, target: str, accepted: str) -> Answer:
        """Return a page, or an empty robots.txt."""
        if target == "/robots.txt":
            return Answer(404)
        choose = random.Random(server + target)
        links = []
        for number in range(self._links):
            host = server if number % 2 else f"www.host{choose.randrange(self._hosts)}.co.th"
            url = (
                f"{self._scheme}://{host}/folder{choose.randrange(9)}/{choose.getrandbits(40)}.html"
            )
            links.append(f'<li><a href="{url}">{choose.choice(self._texts)[3:40]}</a></li>')
        body = f"<title>{target}</title>{_SCRIPT}<ul>{''.join(links)}</ul>"
        text = choose.choice(self._texts)
        cut = choose.randrange(len(text) // 2)
        return Answer(200, _HTML, f"<html><body>{body}{text[cut:]}{text[:cut]}".encode())


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=50)
    parser.add_argument("--scheme", choices=("http", "https"), default="http")
    parser.add_argument("--links", type=int, default=LINKS, help="of a page")
    options = parser.parse_args()
    reactor: Any = default_reactor
    web: Any = MadeWeb(options.hosts, options.scheme, options.links)
    print(listen(reactor, web), flush=True)
    reactor.run()


if __name__ == "__main__":
    main()
