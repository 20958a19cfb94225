"""lswc beside other crawlers, on one frozen web: ``python -m benchmarks.peers CACHE``.

CACHE is a folder in which each peer has a virtual environment of its own, made once with pip:
nothing of them is among what the project needs. The web is the demo web, or ``--web FOLDER`` of
your own, with its ``--seeds``; what is relevant is only known of a web with a truth.jsonl.

Each crawls by itself, with 32 requests at once and no delay between two to a server, as far as it
can be told so; the server takes 20 ms for an answer. It obeys robots.txt if it can. All are
stopped at ``--budget`` downloads: all answers but those of robots.txt. CPU time and memory are of
all its processes: a page more from the first quarter of the budget on, and the sum of each
process's peak.

Then each crawls a web of 400 pages on 40 hosts, all linked, and is killed (SIGKILL) at ten moments,
each time started again with the same command, and left to finish. What isn't in its output then is
lost. Last, what lswc archived is compared with what was served, byte by byte.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import venv
from collections import Counter, deque
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, NamedTuple

import redis

from benchmarks.peer_crawls.server import HUB
from benchmarks.workers import graph
from lswc.crawl.web import open_web, prepare, truth
from lswc.urls import parse
from tests.frontier.redis_server import RedisServer
from tests.scenarios.site import THAI

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ROOT = Path(__file__).parents[1]
CRAWLS = ROOT / "benchmarks" / "peer_crawls"
DELAY = 0.02
KILLS = 10
IDLE = 20.0
"""Seconds without a request after which a crawl is taken for finished."""

LONGEST = 600.0

COMMON = {
    "DOWNLOAD_DELAY": "0",
    "CONCURRENT_REQUESTS": "32",
    "ROBOTSTXT_OBEY": "True",
    "LOG_LEVEL": "ERROR",
}
PLAIN = COMMON | {
    "COOKIES_ENABLED": "False",
    "TELNETCONSOLE_ENABLED": "False",
    "TWISTED_DNS_RESOLVER": "scrapy.resolver.CachingHostnameResolver",
}
LSWC = COMMON | {
    "TWISTED_DNS_RESOLVER": "benchmarks.crawl.EveryName",
    "LSWC_CONTACT": "crawl@library.example",
    "LSWC_ARCHIVE": "all",
    "LSWC_READERS": "1",
    "LSWC_STOP_HARVEST": "0",
    "LSWC_MAX_DUPLICATES": "0",
}


class Place(NamedTuple):
    """What a peer's command is made of: its folder, the seeds' file, and where Redis is."""

    folder: Path
    seeds: Path
    redis: str


class Peer(NamedTuple):
    """A crawler: what pip installs, its command, and how its output's URLs are read.

    Whether it ``goes_on`` after a kill, on many hosts: else it isn't killed.
    """

    name: str
    package: str
    command: Callable[[str, Place], Sequence[str]]
    urls: Callable[[Place], Iterator[str]]
    goes_on: bool = True


def _settings(settings: dict[str, str]) -> list[str]:
    return [part for key, value in settings.items() for part in ("-s", f"{key}={value}")]


def _scrapy(python: str, place: Place, own: dict[str, str]) -> list[str]:
    spider = [str(CRAWLS / "crawlspider.py"), "-a", f"seeds={place.seeds}"]
    out = ["-o", str(place.folder / "pages.jsonl")]
    return [python, "-m", "scrapy", "runspider", *spider, *out, *_settings(PLAIN | own)]


def _lswc(python: str, place: Place) -> list[str]:
    own = {"LSWC_CRAWL": str(place.folder / "crawl")}
    start = [python, "-m", "scrapy", "crawl", "lswc", "-a", "lang=th"]
    return [*start, "-a", f"seeds={place.seeds}", *_settings(LSWC | own)]


def _crawlspider(python: str, place: Place) -> list[str]:
    return _scrapy(python, place, {"JOBDIR": str(place.folder / "job")})


def _scrapy_redis(python: str, place: Place) -> list[str]:
    own = {
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "SCHEDULER_PERSIST": "True",
        "ITEM_PIPELINES": '{"scrapy_redis.pipelines.RedisPipeline": 300}',
        "REDIS_URL": place.redis,
    }
    return _scrapy(python, place, own)


def _crawlee(python: str, place: Place) -> list[str]:
    return [python, str(CRAWLS / "crawlee_crawl.py"), str(place.seeds)]


def _trafilatura(python: str, place: Place) -> list[str]:
    return [python, str(CRAWLS / "trafilatura_crawl.py"), str(place.seeds), "th"]


def _crawl4ai(python: str, place: Place) -> list[str]:
    script = [python, str(CRAWLS / "crawl4ai_crawl.py"), f"http://{HUB}/"]
    return [*script, str(place.folder), ".th/", "thai", "/th/"]


def _of_lines(*path: str) -> Callable[[Place], Iterator[str]]:
    def urls(place: Place) -> Iterator[str]:
        for file in sorted(place.folder.glob("/".join(path))):
            for line in file.read_text().splitlines():
                with suppress(ValueError):  # a line that a kill has cut
                    yield json.loads(line)["url"] if line.startswith("{") else line

    return urls


def _of_redis(place: Place) -> Iterator[str]:
    for item in redis.from_url(place.redis).lrange("plain:items", 0, -1):
        yield json.loads(item)["url"]


def _of_crawlee(place: Place) -> Iterator[str]:
    for file in place.folder.glob("storage/datasets/default/0*.json"):
        with suppress(ValueError):
            yield json.loads(file.read_text())["url"]


PEERS = (
    Peer("lswc", "", _lswc, _of_lines("crawl", "pages.jsonl")),
    Peer("CrawlSpider", "", _crawlspider, _of_lines("pages.jsonl")),
    Peer("scrapy-redis", "scrapy-redis==0.9.1", _scrapy_redis, _of_redis),
    Peer("crawlee", "crawlee[parsel,httpx]==1.11.0", _crawlee, _of_crawlee),
    Peer(
        "trafilatura",
        "trafilatura==2.3.1 py3langid lxml_html_clean",
        _trafilatura,
        _of_lines("output"),
    ),
    Peer("crawl4ai", "crawl4ai==0.9.5", _crawl4ai, _of_lines("pages.txt")),
)


def python_of(peer: Peer, cache: Path) -> str:
    """Return the Python that has a peer; it is installed if it isn't there."""
    if not peer.package:
        return sys.executable
    folder = cache / peer.name
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *peer.package.split()], check=True)
    return str(python)


class Asked(NamedTuple):
    """A request that the server answered."""

    time: float
    server: str
    target: str
    status: int


class Log:
    """What the server was asked for, read as it grows; robots.txt is left out."""

    def __init__(self, path: Path) -> None:
        path.touch()
        self._file = path.open()
        self.asked: list[Asked] = []

    def read(self) -> int:
        """Take what is new; return how many there are."""
        while (line := self._file.readline()).endswith("\n"):
            one = Asked(*json.loads(line))
            if one.target != "/robots.txt":
                self.asked.append(one)
        return len(self.asked)


class Used(NamedTuple):
    """CPU seconds, and MB at the peak, of a process and all below it."""

    cpu: float
    memory: float


def used(process: int) -> Used:
    """Return what a process and those below it have used; those that have ended count too."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(stat.parent.name)] = stat.read_text().rpartition(")")[2].split()
    family, number = {process}, 0
    while len(family) > number:
        number = len(family)
        family |= {pid for pid, fields in parents.items() if int(fields[1]) in family}
    ticks, memory = 0, 0
    for pid in family & parents.keys():
        ticks += sum(map(int, parents[pid][11:15]))
        with suppress(OSError):
            for line in Path(f"/proc/{pid}/status").read_text().splitlines():
                if line.startswith("VmHWM"):
                    memory += int(line.split()[1])
    return Used(ticks / os.sysconf("SC_CLK_TCK"), memory / 1024)


@contextmanager
def serving(web: Path, log: Path, seeds: Path) -> Iterator[int]:
    """Serve a web while the block lasts; gives the port."""
    module = ["-m", "benchmarks.peer_crawls.server", web, log, seeds, "--delay", DELAY]
    command = [sys.executable, *map(str, module)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        assert server.stdout is not None
        try:
            yield int(server.stdout.readline())
        finally:
            server.terminate()


def started(peer: Peer, python: str, place: Place, port: int) -> subprocess.Popen[bytes]:
    """Start a peer's crawl, or let it go on."""
    names = "" if peer.name == "lswc" else os.pathsep.join(["", str(CRAWLS / "names")])
    environment = {
        **os.environ,
        "BENCHMARK_PORT": str(port),
        "PYTHONPATH": f"{ROOT}{names}",
        "CRAWLEE_STORAGE_DIR": str(place.folder / "storage"),
        "CRAWLEE_PURGE_ON_START": "0",
        "CRAWL4_AI_BASE_DIRECTORY": str(place.folder),
    }
    with (place.folder / "output").open("a") as output, (place.folder / "errors").open("a") as said:
        return subprocess.Popen(
            peer.command(python, place),
            env=environment,
            cwd=ROOT if peer.name == "lswc" else place.folder,
            stdout=output,
            stderr=said,
            start_new_session=True,
        )


class Sample(NamedTuple):
    """What a crawl had asked for at a time, and used till then."""

    asked: int
    time: float
    used: Used


def wait(
    process: subprocess.Popen[bytes], log: Log, number: int, longest: float = LONGEST
) -> list[Sample]:
    """Return once so many requests were answered, the process has ended, or nothing goes on.

    Returns what it used meanwhile, looked at four times a second.
    """
    began = since = monotonic()
    before, samples = -1, [Sample(0, began, Used(0.0, 0.0))]
    while log.read() < number and process.poll() is None:
        now = monotonic()
        if len(log.asked) != before:
            before, since = len(log.asked), now
        if now - since > IDLE + 20 * (before == 0) or now - began > longest:
            break
        if now - samples[-1].time > 0.25:
            samples.append(Sample(len(log.asked), now, used(process.pid)))
        sleep(0.02)
    if process.poll() is None:
        samples.append(Sample(len(log.asked), monotonic(), used(process.pid)))
    return samples


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a crawl with all that it started in its session."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def at_once(asked: Sequence[Asked]) -> int:
    """Return the most requests that one host had to answer at a time."""
    most, running = 0, dict[str, deque[float]]()
    for one in asked:
        host = running.setdefault(one.server, deque())
        while host and host[0] + DELAY <= one.time:
            host.popleft()
        host.append(one.time)
        most = max(most, len(host))
    return most


def _relevant(asked: Sequence[Asked], wanted: set[tuple[str, str]]) -> int:
    return len({(one.server, one.target) for one in asked if one.status == 200} & wanted)


def speed(peer: Peer, python: str, store: str, options: Any) -> dict[str, Any]:
    """Crawl until the budget is used up; return what that took, and brought."""
    folder, web = _fresh(options.cache / "crawls" / peer.name), options.web
    log_file = folder / "server.log"
    with serving(web, log_file, options.seeds) as port:
        log = Log(log_file)
        process = started(peer, python, Place(folder, options.seeds, store), port)
        samples = wait(process, log, options.budget)
        kill(process)
    number = len(log.asked)
    last = samples[-1]
    first = next(one for one in samples if one.asked >= last.asked / 4)
    more = last.asked - first.asked
    wanted = {
        (parsed.server, "/" + url.partition("://")[2].partition("/")[2])
        for url, page in (truth(web) or {}).items()
        if page.language == "th" and (parsed := parse(url)) is not None
    }
    marks = (options.budget // 4, options.budget // 2, options.budget)
    ends = {min(mark, number): None for mark in marks}
    return {
        "relevant of downloads": {_relevant(log.asked[:end], wanted): end for end in ends},
        "pages/s": round(more / (last.time - first.time), 1) if more else None,
        "CPU ms": round(1000 * (last.used.cpu - first.used.cpu) / more, 2) if more else None,
        "MB": round(max(one.used.memory for one in samples)),
        "at once per host": at_once(log.asked),
        "downloaded twice": _twice(log.asked),
    }


def _twice(asked: Sequence[Asked]) -> int:
    counts = Counter((one.server, one.target) for one in asked if one.status == 200)
    return sum(number - 1 for number in counts.values())


def killed(peer: Peer, python: str, store: str, options: Any) -> dict[str, Any]:
    """Kill a crawl at ten moments; return what was lost, and fetched twice, in the end."""
    folder, pages = _fresh(options.cache / "killed" / peer.name), graph(400)
    web, seeds, log_file = folder / "web", folder / "seeds.txt", folder / "server.log"
    for url, body in pages.items():
        file = web / url.partition("://")[2]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(body + f"<p>{' '.join([THAI] * 20)}</p>")  # as little some take for nothing
    seeds.write_text(next(iter(pages)))
    place = Place(folder, seeds, store)
    with serving(web, log_file, seeds) as port:
        log = Log(log_file)
        for number in range(1, KILLS + 1):
            process = started(peer, python, place, port)
            wait(process, log, max(len(log.asked) + 1, number * len(pages) // (KILLS + 1)), 60)
            kill(process)
        process = started(peer, python, place, port)
        wait(process, log, sys.maxsize)
        kill(process)
    kept = Counter(peer.urls(place))
    fetched = {f"http://{one.server}{one.target}" for one in log.asked}
    return {
        "never downloaded": len(pages.keys() - fetched),
        "lost": len(pages.keys() - kept.keys()),
        "downloaded twice": _twice(log.asked),
        "in the output twice": sum(kept[url] - 1 for url in pages if kept[url] > 1),
    }


def _fresh(folder: Path) -> Path:
    rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def replayed(crawl: Path, web: Path) -> dict[int, int]:
    """Compare the bodies of an archive's pages with what the web serves."""
    from warcio.archiveiterator import ArchiveIterator

    served, same, other = open_web(web), 0, 0
    for file in sorted(crawl.glob("warc/*.warc.gz")):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream):
                url = parse(record.rec_headers.get_header("WARC-Target-URI") or "")
                if record.rec_type != "response" or url is None:
                    continue
                if not served.knows(url.server):
                    continue
                target = url.href.partition("://")[2].partition("/")[2]
                answer = served.answer(url.server, f"/{target}", "th")
                body = answer.body.read_bytes() if isinstance(answer.body, Path) else answer.body
                is_same = record.content_stream().read() == body
                same, other = same + is_same, other + (not is_same)
    return {same: same + other}


def main() -> None:
    """Run all, and print a line of JSON for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--budget", type=int, default=2_000)
    parser.add_argument("--web", type=Path)
    parser.add_argument("--seeds", type=Path)
    parser.add_argument("--only", nargs="*", default=[], choices=[peer.name for peer in PEERS])
    parser.add_argument("--part", nargs="*", default=["speed", "killed", "replay"])
    options = parser.parse_args()
    options.cache = options.cache.resolve()
    options.cache.mkdir(exist_ok=True, parents=True)
    options.web = options.web or prepare("demo", options.cache) or Path()
    options.seeds = (options.seeds or options.web / "seeds-th.txt").resolve()
    results: list[dict[str, Any]] = []
    for peer in PEERS:
        if options.only and peer.name not in options.only:
            continue
        python = python_of(peer, options.cache)
        result: dict[str, Any] = {"peer": peer.name}
        for part, measured in (("speed", speed), ("killed", killed)):
            if part in options.part and (peer.goes_on or part == "speed"):
                store = RedisServer(_fresh(options.cache / "redis"))
                try:
                    result |= measured(peer, python, store.url, options)
                finally:
                    store.stop()
        if "replay" in options.part and peer.name == "lswc":
            result["same bytes in WARC"] = replayed(
                options.cache / "crawls" / "lswc" / "crawl", options.web
            )
        print(json.dumps(result), flush=True)
        results.append(result)
    print(table(results))


def table(results: Sequence[dict[str, Any]]) -> str:
    """Return results as a table of Markdown."""
    columns = list(dict.fromkeys(name for result in results for name in result))
    rows = [columns, ["---"] * len(columns)]
    rows += [[_cell(result.get(name, "")) for name in columns] for result in results]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _cell(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{part} of {whole}" for part, whole in value.items())
    return f"{value}"


if __name__ == "__main__":
    main()
