"""A long crawl: does it stay as small and as fast as it began?

python -m benchmarks.soak [--pages 100000] [--hosts 2000]

A process of its own serves a web of pages in Thai, each made when it is asked for. Prints the
crawl's resident memory, its open handles, and pages a second of its own processor time since the
last line, at 1, 5, 10, 20, 50 and 100 % of the pages; then what `scrapy check` says of the folder.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING

from typing_extensions import override

from lswc.archive.check.agreement import check
from tests.resolvers import OverNames

if TYPE_CHECKING:
    from collections.abc import Sequence

PORT = "LSWC_SOAK_PORT"
SHARES = (0.01, 0.05, 0.1, 0.2, 0.5, 1.0)
WORDS = [
    "ข่าว", "วันนี้", "ประเทศไทย", "ภาษา", "หนังสือ", "โรงเรียน", "ตลาด", "น้ำ", "ฝน", "ความรู้", "บ้าน",
    "เมือง", "การเดินทาง",
]  # fmt: skip
LINKS = 40


class SoakResolver(OverNames):
    """Leads every name to the server of this benchmark."""

    @override
    def addresses(self, name: str) -> Sequence[str]:
        return ["93.184.216.34"]

    @override
    def leads(self, name: str, port: int, address: str) -> int:
        return int(os.environ[PORT])


def address(number: int, hosts: int) -> str:
    return f"http://www.s{number % hosts}.co.th/{number}.html"


def page(number: int, pages: int, hosts: int) -> str:
    """Return a page: it links to two that nobody else may link to, and to random ones."""
    choose = random.Random(number)
    linked = [n for n in (2 * number + 1, 2 * number + 2) if n < pages]
    linked += [choose.randrange(pages) for _ in range(LINKS)]
    text = "".join(f"<p>{' '.join(choose.choices(WORDS, k=60))}</p>" for _ in range(6))
    links = "".join(f'<li><a href="{address(n, hosts)}">อ่านต่อ</a>' for n in linked)
    return f"<html><title>หน้า {number}</title>{text}<ul>{links}</ul>"


async def serve(pages: int, hosts: int) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            path = (await reader.readuntil(b"\r\n\r\n")).split(b" ", 2)[1].decode()
            number = path.removeprefix("/").removesuffix(".html")
            status, body = "404 Not Found", b""
            if number.isdecimal() and int(number) < pages:
                status, body = "200 OK", page(int(number), pages, hosts).encode()
            head = f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\n"
            head += f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            writer.write(head.encode() + body)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def crawl(folder: Path, pages: int, hosts: int, port: int) -> None:
    """Crawl all pages, and print how it goes."""
    seeds = folder / "seeds.txt"
    seeds.write_text(address(0, hosts), "utf-8")
    settings = {
        "LSWC_CRAWL": folder / "crawl", "LSWC_CONTACT": "https://library.example/",
        "LSWC_ARCHIVE": "all", "LSWC_MAX_DUPLICATES": 0, "DOWNLOAD_DELAY": 0, "DEPTH_LIMIT": 0,
        "LSWC_MAX_PER_ADDRESS": 0, "LSWC_STOP_HARVEST": 0,
        "TWISTED_DNS_RESOLVER": "benchmarks.soak.SoakResolver",
    }  # fmt: skip
    given = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    command = [sys.executable, "-m", "scrapy", "crawl", "lswc", "-a", "lang=th", "-L", "WARNING"]
    command += ["-a", f"seeds={seeds}", *given]
    environment = {**os.environ, PORT: str(port)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        watch(process, folder / "crawl" / "pages.jsonl", pages)
    report = check(folder / "crawl")
    print("all agree" if report.agrees else report)


def watch(process: subprocess.Popen[bytes], record: Path, pages: int) -> None:
    print(f"{'pages':>9} {'MB':>6} {'handles':>8} {'pages per CPU second':>21}")
    counted = at = before = 0
    spent = 0.0
    marks = [round(share * pages) for share in SHARES]
    while marks and process.poll() is None:
        sleep(0.2)
        if record.exists():
            with record.open("rb") as lines:
                lines.seek(at)
                data = lines.read()
            at, counted = at + len(data), counted + data.count(b"\n")
        if counted >= marks[0]:
            marks.pop(0)
            now = processor_seconds(process.pid)
            rate = (counted - before) / (now - spent)
            handles = len(list(Path(f"/proc/{process.pid}/fd").iterdir()))
            print(f"{counted:9,} {resident(process.pid):6.0f} {handles:8} {rate:21.0f}", flush=True)
            before, spent = counted, now


def resident(pid: int) -> float:
    """Return the resident memory of a process in MB."""
    lines = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process took so far."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--hosts", type=int, default=2_000)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve(options.pages, options.hosts))
        return
    command = [sys.executable, "-m", "benchmarks.soak", "--serve"]
    command += ["--pages", str(options.pages), "--hosts", str(options.hosts)]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server,
    ):
        assert server.stdout is not None
        try:
            crawl(Path(folder), options.pages, options.hosts, int(server.stdout.readline()))
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
