"""lswc beside other crawlers, on one frozen web: ``python -m benchmarks.peers CACHE``.

CACHE is a folder in which each peer has a virtual environment of its own, made once with pip:
nothing of them is among what the project needs. The web is the demo web, or ``--web FOLDER`` of
your own, with its ``--seeds`` and ``--lang``; without a truth.jsonl pages are told by their script.

Each crawls by itself, with 32 requests at once and no delay between two to a server, or a
``--rest`` of some seconds, as far as it can be told so; the server takes 20 ms for an answer. Each
host has an address of its own. A peer obeys robots.txt if it can. All are stopped at ``--budget``
downloads: each answer is one, also a robots.txt and a 404. CPU time and memory are of all its
processes: a page more from the first quarter of the budget on, and the sum of each process's peak.

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
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, NamedTuple

import redis
import scrapy

from benchmarks.peer_crawls.relevance import Relevance
from benchmarks.peer_crawls.server import HUB
from benchmarks.workers import graph
from lswc.crawl.web import open_web, prepare
from lswc.urls import parse
from tests.frontier.redis_server import RedisServer
from tests.scenarios.site import THAI

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

ROOT = Path(__file__).parents[1]
CRAWLS = ROOT / "benchmarks" / "peer_crawls"
DELAY = 0.02
DOWNLOADS = (100, 250, 500, 1_000, 2_000, 3_000, 5_000, 8_000)
SECONDS = (5, 10, 20, 40, 75, 150, 300, 600)
WORDS = {
    "th": "th,tha,thai", "ja": "ja,jp,jpn,japanese", "zh": "zh,cn,tw,zho,chinese",
    "ko": "ko,kr,kor,korean", "km": "km,kh,khm,khmer", "my": "my,mm,mya,burmese", "lo": "lo,lao",
}  # fmt: skip
"""Words by which a link may name the language: for crawlers that take such a hint."""

KILLS = 10
IDLE = 60.0
"""Seconds without a request after which a crawl is taken for finished."""

LONGEST = 600.0

COMMON = {
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
    "LSWC_READERS": "1",
    "LSWC_STOP_HARVEST": "0",
    "LSWC_MAX_DUPLICATES": "0",
}


class Place(NamedTuple):
    """What a peer's command is made of: its folder, the seeds' file, and where Redis is.

    And the language, and the seconds that a host rests.
    """

    folder: Path
    seeds: Path
    redis: str
    lang: str = "th"
    rest: float = 0.0


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


def _scrapy(python: str, place: Place, own: dict[str, str], *spider: str) -> list[str]:
    spider = spider or ("crawlspider.py",)
    start = [python, "-m", "scrapy", "runspider", str(CRAWLS / spider[0]), *spider[1:]]
    out = ["-a", f"seeds={place.seeds}", "-o", str(place.folder / "pages.jsonl")]
    return [*start, *out, *_settings(PLAIN | {"DOWNLOAD_DELAY": str(place.rest)} | own)]


def _lswc(python: str, place: Place) -> list[str]:
    own = {"LSWC_CRAWL": str(place.folder / "crawl"), "DOWNLOAD_DELAY": str(place.rest)}
    start = [python, "-m", "scrapy", "crawl", "lswc", "-a", f"lang={place.lang}"]
    return [*start, "-a", f"seeds={place.seeds}", *_settings(LSWC | own)]


def _one_hour(by: str, queue: str = "ScrapyPriorityQueue") -> Callable[[str, Place], list[str]]:
    def command(python: str, place: Place) -> list[str]:
        words = WORDS[place.lang]
        own = {
            "CONCURRENT_REQUESTS_PER_DOMAIN": "1",
            "DOWNLOAD_DELAY": str(place.rest or 0.001),  # without one Scrapy forgets the limit
            "SCHEDULER_PRIORITY_QUEUE": f"scrapy.pqueues.{queue}",
        }
        given = ("-a", f"lang={place.lang}", "-a", f"words={words}", "-a", f"by={by}")
        return _scrapy(python, place, own, "one_hour.py", *given)

    return command


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
    return [python, str(CRAWLS / "trafilatura_crawl.py"), str(place.seeds), place.lang]


def _crawl4ai(python: str, place: Place) -> list[str]:
    script = [python, str(CRAWLS / "crawl4ai_crawl.py"), f"http://{HUB}/"]
    _, *names = WORDS[place.lang].split(",")
    return [*script, str(place.folder), f".{place.lang}/", f"/{place.lang}/", *names]


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


def _hour(name: str, *how: str) -> Peer:
    package = f"scrapy=={scrapy.__version__} py3langid"
    return Peer(name, package, _one_hour(*how), _of_lines("pages.jsonl"), goes_on=False)


PEERS = (
    Peer("lswc", "", _lswc, _of_lines("crawl", "pages.jsonl")),
    _hour("one-hour spider by names", "names"),
    _hour("one-hour spider by host", "host"),
    _hour("one-hour spider by folder", "folder"),
    _hour("one-hour spider re-ranked", "reranked"),
    _hour("one-hour spider, Scrapy's queue", "host", "DownloaderAwarePriorityQueue"),
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
    folder = cache / peer.package.split("=")[0].split("[")[0]
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
    """What the server was asked for, read as it grows; ``robots`` says whether robots.txt too."""

    def __init__(self, path: Path, *, robots: bool = False) -> None:
        path.touch()
        self._file, self._robots = path.open(), robots
        self.asked: list[Asked] = []

    def close(self) -> None:
        """Read no more."""
        self._file.close()

    def read(self) -> int:
        """Take what is new; return how many there are."""
        while (line := self._file.readline()).endswith("\n"):
            one = Asked(*json.loads(line))
            if self._robots or one.target != "/robots.txt":
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
def serving(web: Path, log: Path, seeds: Path, delay: float = DELAY) -> Iterator[int]:
    """Serve a web while the block lasts, each answer after a delay in seconds; gives the port."""
    module = ["-m", "benchmarks.peer_crawls.server", web, log, seeds, "--delay", delay]
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
        if now - since > IDLE + 120 * (before == 0) or now - began > longest:
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


def at_once(asked: Iterable[Asked], delay: float = DELAY) -> int:
    """Return the most requests that the server had to answer at a time."""
    most, running = 0, deque[float]()
    for one in asked:
        while running and running[0] + delay <= one.time:
            running.popleft()
        running.append(one.time)
        most = max(most, len(running))
    return most


def at_one_host(asked: Sequence[Asked]) -> int:
    """Return the most requests that one host had to answer at a time."""
    hosts = {one.server for one in asked}
    return max((at_once(one for one in asked if one.server == host) for host in hosts), default=0)


def curves(asked: Sequence[Asked], relevance: Relevance) -> dict[str, dict[str, int]]:
    """Return how many relevant pages had come by so many downloads, and by so many seconds."""
    found, came = set[tuple[str, str]](), list[tuple[float, int]]()
    for one in asked:
        page = one.server, one.target
        if one.status == 200 and page not in found and relevance.tells(*page):
            found.add(page)
        came.append((one.time - asked[0].time, len(found)))
    after = [number for number in DOWNLOADS if number < len(came)]
    seconds = [second for second in SECONDS if came and second < came[-1][0]]
    by_time = {second: max(n for time, n in came if time <= second) for second in seconds}
    return {
        "relevant by downloads": {str(number): came[number - 1][1] for number in after},
        "relevant by seconds": {str(second): number for second, number in by_time.items()},
        "in the end": {str(len(came)): len(found)},
    }


def speed(peer: Peer, python: str, store: str, options: Any) -> dict[str, Any]:
    """Crawl until the budget is used up; return what that took, and brought."""
    folder, web = _fresh(options.cache / "crawls" / peer.name), options.web
    log_file = folder / "server.log"
    place = Place(folder, options.seeds, store, options.lang, options.rest)
    log = Log(log_file, robots=True)
    with closing(log), serving(web, log_file, options.seeds) as port:
        process = started(peer, python, place, port)
        samples = wait(process, log, options.budget, options.seconds)
        kill(process)
    asked = log.asked[: options.budget]
    last = samples[-1]
    first = next(one for one in samples if one.asked >= last.asked / 4)
    more = last.asked - first.asked
    return {
        **curves(asked, options.relevance),
        "downloads/s": round(more / (last.time - first.time), 1) if more else None,
        "CPU ms": round(1000 * (last.used.cpu - first.used.cpu) / more, 2) if more else None,
        "MB": round(max(one.used.memory for one in samples)),
        "at once": at_once(asked),
        "at once per host": at_one_host(asked),
        "robots.txt and failures": sum(
            one.status >= 400 or one.target == "/robots.txt" for one in asked
        ),
        "downloaded twice": _twice(asked),
    }


def _twice(asked: Sequence[Asked]) -> int:
    counts = Counter(
        (one.server, one.target)
        for one in asked
        if one.status == 200 and one.target != "/robots.txt"
    )
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
    log = Log(log_file)
    with closing(log), serving(web, log_file, seeds) as port:
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


def replayed(crawl: Path, web: Path) -> dict[str, int]:
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
    return {"same": same, "other": other}


def main() -> None:
    """Run all, and print a line of JSON for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--budget", type=int, default=2_000)
    parser.add_argument("--web", type=Path)
    parser.add_argument("--seeds", type=Path)
    parser.add_argument("--lang", default="th", choices=WORDS)
    parser.add_argument("--rest", type=float, default=0.0, help="seconds between two to a host")
    parser.add_argument("--seconds", type=float, default=LONGEST, help="the longest crawl")
    parser.add_argument("--only", nargs="*", default=[], choices=[peer.name for peer in PEERS])
    parser.add_argument("--part", nargs="*", default=["speed", "killed", "replay"])
    options = parser.parse_args()
    options.cache = options.cache.resolve()
    options.cache.mkdir(exist_ok=True, parents=True)
    options.web = options.web or prepare("demo", options.cache) or Path()
    options.seeds = (options.seeds or options.web / f"seeds-{options.lang}.txt").resolve()
    options.relevance = Relevance(options.web, options.lang)
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
        return ", ".join(f"{key}: {number}" for key, number in value.items())
    return f"{value}"


if __name__ == "__main__":
    main()
