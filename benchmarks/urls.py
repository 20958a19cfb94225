"""Speed of bringing URLs into canonical form, beside w3lib's canonicalize_url in the same run.

python -m benchmarks.urls
"""

from __future__ import annotations

from statistics import median
from time import perf_counter

from w3lib.url import canonicalize_url

from lswc.urls import fingerprint, parse

SHAPES = {
    "plain": "http://www.example.co.th/news/2026/{}.html",
    "query": "http://www.example.co.th/board.php?topic={}&page=2",
    "tracked": "https://www.example.co.th/{}?utm_source=a&utm_medium=b&fbclid=c",
    "session": "http://www.example.co.th/{};jsessionid=0123456789ABCDEF",
    "escaped": "http://www.example.co.th/%e0%b8%81/%7e{}",
    "Thai host": "http://ตัวอย่าง.ไทย/{}",
}
COUNT = 20_000
RUNS = 5


def main() -> None:
    """Print microseconds a URL for each shape."""
    for name, shape in SHAPES.items():
        urls = [shape.format(n) for n in range(COUNT)]
        ours, theirs = _time(parse, urls), _time(canonicalize_url, urls)
        print(f"{name:11} parse {ours:5.2f} µs   canonicalize_url {theirs:5.2f} µs")
    print(f"fingerprint       {_time(fingerprint, urls):5.2f} µs")


def _time(function: object, urls: list[str]) -> float:
    assert callable(function)
    times = []
    for _ in range(RUNS):
        start = perf_counter()
        for url in urls:
            function(url)
        times.append(perf_counter() - start)
    return median(times) / len(urls) * 1e6


if __name__ == "__main__":
    main()
