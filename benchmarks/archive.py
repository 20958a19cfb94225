"""Pages a second with the archive on and off, taking turns, in the same run.

python -m benchmarks.archive [pages]
"""

from __future__ import annotations

import random
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
ROUNDS = 3
SERVERS = 50
WORDS = [
    "ข่าว",
    "วันนี้",
    "ประเทศไทย",
    "ภาษา",
    "หนังสือ",
    "โรงเรียน",
    "ตลาด",
    "น้ำ",
    "ฝน",
    "ความรู้",
    "บ้าน",
    "เมือง",
    "การเดินทาง",
]


def main() -> None:
    pages = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
    with tempfile.TemporaryDirectory() as folder:
        web = Path(folder) / "web"
        size = generate(web, pages)
        print(f"{pages} pages, {size / pages / 1000:.0f} kB each")
        rates: dict[str, list[tuple[float, float]]] = {"none": [], "relevant": [], "all": []}
        for turn in range(ROUNDS):
            for archive, found in rates.items():
                found.append(crawl(web, Path(folder) / f"{archive}{turn}", archive, pages))
        plain = median(rate for rate, _ in rates["none"])
        for archive, found in rates.items():
            rate, spent = (median(column) for column in zip(*found, strict=True))
            print(
                f"{archive:10} {rate:6.1f} pages/s ({rate / plain:.0%}), {spent:.2f} ms CPU a page"
            )


def generate(web: Path, pages: int) -> int:
    choose, size = random.Random(1), 0
    addresses = [f"http://s{n % SERVERS}.example/{n}.html" for n in range(pages)]
    for number in range(pages):
        text = "".join(f"<p>{' '.join(choose.choices(WORDS, k=60))}</p>" for _ in range(12))
        links = choose.sample(addresses, 18) + addresses[2 * number + 1 : 2 * number + 3]
        listed = "".join(f'<li><a href="{link}">อ่านต่อ</a></li>' for link in links)
        file = web / f"s{number % SERVERS}.example" / f"{number}.html"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"<title>{number}</title>{text}<ul>{listed}</ul>", "utf-8")
        size += file.stat().st_size
    (web / "seeds-th.txt").write_text(addresses[0])
    return size


def crawl(web: Path, folder: Path, archive: str, pages: int) -> tuple[float, float]:
    settings = {
        "LSWC_WEB": web, "LSWC_CRAWL": folder, "LSWC_ARCHIVE": archive, "LSWC_PROFILE": "bfs",
        "DOWNLOAD_DELAY": 0, "CONCURRENT_REQUESTS": 32,
    }  # fmt: skip
    given = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    command = [sys.executable, "-m", "scrapy", "crawl", "lswc", "-a", "lang=th", *given]
    before = cpu()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found = re.search(r"'elapsed_time_seconds': ([\d.]+)", done.stderr)
    assert found is not None
    assert len((folder / "pages.jsonl").read_bytes().splitlines()) == pages
    return pages / float(found[1]), (cpu() - before) / pages * 1000


def cpu() -> float:
    """Return the seconds of CPU that ended processes took. The web is served by the crawl's."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
