"""Calls of workers to the Redis that they share: how many a request, and what for.

``python -m benchmarks.redis_calls [--pages 600] [--hosts 200] [--slots 16 2] [--servers 1 3]
[--workers 1 2]`` from the project's folder, with servers of its own. A web on loopback, all at
one address, is crawled whole, each time anew. Printed: requests, robots.txt and tdmrep.json
included; calls a request, those of scripts among them, and each kind's; what the Redis servers'
processors took a page; how much of its time each worker waited for answers. Commands that are sent
together are one call.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar

import redis
from scrapy.cmdline import execute
from scrapy_redis.defaults import REDIS_PARAMS

from benchmarks.redis_frontier import cpu
from benchmarks.workers import COMMON, LSWC, graph
from tests.frontier.redis_server import RedisServer
from tests.scenarios.shared_web import PORT, SharedWeb

if TYPE_CHECKING:
    from collections.abc import Mapping

OFTEN = 0.05  # calls a request, below which a kind isn't printed


class Counting(redis.Connection):
    """Counts what is sent, by its kind, and the seconds until it is answered."""

    calls: ClassVar[Counter[str]] = Counter()
    waited = 0.0
    _is_named = False

    def send_command(self, *args: Any, **options: Any) -> None:
        self.calls[kind_of(args)] += 1
        self._is_named = True
        super().send_command(*args, **options)

    def send_packed_command(self, command: Any, check_health: bool = True) -> None:
        self.calls["commands together"] += not self._is_named
        self._is_named = False
        super().send_packed_command(command, check_health)

    def read_response(self, *args: Any, **options: Any) -> Any:
        begun = monotonic()
        try:
            return super().read_response(*args, **options)
        finally:
            Counting.waited += monotonic() - begun


def kind_of(command: tuple[Any, ...]) -> str:
    """Return what a command is counted as: a script by what it is asked to do."""
    words = [
        word.decode(errors="replace") if isinstance(word, bytes) else str(word) for word in command
    ]
    match words:
        case ["FCALL", _, _, _, verb, *_]:
            return f"script {verb}"
        case ["EVALSHA" | "EVAL", _, number, *rest]:
            keys, arguments = rest[: int(number)], rest[int(number) :]
            if any(key.endswith("}:rules") for key in keys):
                return "script files"
            return f"script slots {arguments[1] or 'give back'}"
    return " ".join([words[0], *(word.rpartition("}:")[2] for word in words[1:2])])


def crawl(file: Path, arguments: list[str]) -> None:
    """Be a worker, and write the calls that it made."""
    REDIS_PARAMS["connection_class"] = Counting
    begun = monotonic()
    try:
        execute(["scrapy", "crawl", "lswc", *arguments])
    finally:
        waited = Counting.waited / (monotonic() - begun)
        file.write_text(json.dumps([Counting.calls, waited]))


def run(pages: Mapping[str, str], slots: int, servers: int, workers: int) -> str:
    """Crawl the web; return what that took of Redis."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        web = stack.enter_context(SharedWeb(pages))
        stores = []
        for number in range(servers):
            (own := folder / f"redis{number}").mkdir()
            stores.append(RedisServer(own))
            stack.callback(stores[-1].stop)
        (folder / "seeds.txt").write_text(next(iter(pages)))
        settings = {**COMMON, **LSWC, "LSWC_MAX_PER_ADDRESS": slots, "LSWC_READERS": 0}
        settings["LSWC_LEASE_SECONDS"] = 60
        where = ",".join(f"127.0.0.1:{store.port}" for store in stores)
        settings["LSWC_FRONTIER"] = f"redis://{where}/0"
        given = [part for key, value in settings.items() for part in ("-s", f"{key}={value}")]
        given += ["-a", "lang=th", "-a", f"seeds={folder}/seeds.txt", "-s"]
        environment = {**os.environ, PORT: str(web.port)}
        command = [sys.executable, "-m", "benchmarks.redis_calls", "--worker"]
        files = [folder / f"calls{number}" for number in range(workers)]
        running = [
            subprocess.Popen(
                [*command, str(file), *given, f"LSWC_CRAWL={folder / f'crawl{number}'}"],
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for number, file in enumerate(files)
        ]
        for worker in running:
            worker.wait()
        took = sum(cpu(redis.Redis.from_url(store.url)) for store in stores)
        found = [json.loads(file.read_text()) for file in files]
        requests, fetched = len(web.asked), len(set(web.fetched))
    calls = sum((Counter(one) for one, _ in found), Counter[str]())
    often = {kind: n / requests for kind, n in calls.most_common() if n > OFTEN * requests}
    scripts = sum(n for kind, n in calls.items() if kind.startswith("script "))
    waited = ", ".join(f"{share:.0%}" for _, share in found)
    return (
        f"{slots} slots, {servers} servers, {workers} workers: {fetched} pages, "
        f"{requests} requests; "
        f"{calls.total() / requests:.2f} calls a request, {scripts / requests:.2f} of scripts; "
        f"{1000 * took / fetched:.2f} ms of Redis a page; {waited} of the time waited\n  "
        + ", ".join(f"{kind} {number:.2f}" for kind, number in often.items())
    )


def main() -> None:
    """Measure, and print."""
    if sys.argv[1:2] == ["--worker"]:
        crawl(Path(sys.argv[2]), sys.argv[3:])
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=600)
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--slots", type=int, nargs="+", default=[16, 2])
    parser.add_argument("--servers", type=int, nargs="+", default=[1, 3])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    given = parser.parse_args()
    pages = graph(given.pages, given.hosts)
    for slots, servers, workers in product(given.slots, given.servers, given.workers):
        print(run(pages, slots, servers, workers), flush=True)


if __name__ == "__main__":
    main()
