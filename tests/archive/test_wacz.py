"""A crawl's archive as one WACZ file: whole, in order, and what its manifest says of it."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from zipfile import ZIP_STORED, ZipFile

import pytest

from lswc.archive.appended_files import ArchiveError
from lswc.archive.wacz import write
from tests.archive.reading import index, member, records
from tests.scenarios.site import ENGLISH, THAI, page, run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.scenarios.site import Site

SEED = "http://www.one.co.th/"


def described(archive: ZipFile) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(archive.read("datapackage.json"))
    return found


def test_a_crawl_becomes_one_file_that_says_what_it_holds(site: Site, tmp_path: Path) -> None:
    site.seeds(SEED)
    site.add("www.one.co.th/", page(THAI, "a.html", "b.html"))
    site.add("www.one.co.th/a.html", page(ENGLISH))
    site.add("www.one.co.th/b.html", page(THAI * 2) + "<img src=i.gif>")
    site.add("www.one.co.th/i.gif", b"GIF89a")
    site.crawl(LSWC_OPERATOR="A library", LSWC_DESCRIPTION="Thai\r\nweb", LSWC_WARC_SIZE=1)
    out = tmp_path / "one.wacz"
    command = site.command()
    done = run([*command[: command.index("crawl")], "wacz", str(site.folder), "--out", str(out)])
    assert done.returncode == 0, done.stderr
    warcs = sorted(path.name for path in site.folder.glob("warc/*.warc.gz"))
    assert f"{len(warcs)} WARC files" in done.stdout
    with ZipFile(out) as archive:
        package = described(archive)
        assert package["wacz_version"] == "1.1.1"
        assert package["description"] == "Thai\r\nweb"
        for resource in package["resources"]:
            content = archive.read(resource["path"])
            assert resource["bytes"] == len(content)
            assert resource["hash"] == f"sha256:{sha256(content).hexdigest()}"
        digest = json.loads(archive.read("datapackage-digest.json"))
        assert digest["hash"] == f"sha256:{sha256(archive.read('datapackage.json')).hexdigest()}"
        paths = [resource["path"] for resource in package["resources"]]
        assert len(warcs) > 1
        assert paths == [*(f"archive/{name}" for name in warcs),
                         "indexes/index.cdxj", "pages/pages.jsonl"]  # fmt: skip
        assert archive.getinfo(paths[0]).compress_type == ZIP_STORED
        # Without, ReplayWeb.page doesn't look how long the fields in front of a file are.
        assert all(info.extra for info in archive.infolist())
        lines = archive.read("indexes/index.cdxj").splitlines()
        assert lines == sorted(lines)
        assert len(lines) == len(index(site.folder))
        head, *listed = map(json.loads, archive.read("pages/pages.jsonl").splitlines())
        assert head["format"] == "json-pages-1.0"
        assert [entry["url"] for entry in listed] == [SEED, f"{SEED}b.html"]
        assert all(entry["ts"].endswith("Z") for entry in listed)
    stored = index(site.folder)
    assert (stored[SEED]["languages"], stored[SEED]["charset"]) == ("tha", "utf-8")
    assert "languages" not in stored[f"{SEED}i.gif"]
    assert stored[SEED]["mime-detected"] == "text/html"
    assert "mime-detected" not in stored[f"{SEED}i.gif"]
    seed = member(site.folder, stored[SEED])
    assert seed.headers["WARC-Identified-Content-Language"] == "tha"
    (info, *_) = [record for record in records(site.folder) if record.type == "warcinfo"]
    assert b"operator: A library\r\n" in info.content
    assert b"description: Thai web\r\n" in info.content


def test_files_of_two_workers_have_names_of_their_own(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two")]
    for number, folder in enumerate(folders):
        (folder / "warc").mkdir(parents=True)
        (folder / "settings.json").write_text('{"language": "th"}')
        (folder / "warc" / "th-1.warc.gz").write_bytes(b"%d" % number)
        line = {"url": f"http://a.example/{number}", "filename": "th-1.warc.gz"}
        (folder / "warc" / "th-1.cdxj").write_text(f"k{number} 20260101000000 {json.dumps(line)}\n")
    assert write(folders, tmp_path / "x.wacz")[:2] == (2, 2)
    with ZipFile(tmp_path / "x.wacz") as archive:
        lines = archive.read("indexes/index.cdxj").splitlines()
        names = [json.loads(line.split(b" ", 2)[2])["filename"] for line in lines]
        assert [archive.read(f"archive/{name}") for name in names] == [b"0", b"1"]
    (folders[1] / "settings.json").write_text('{"language": "lo"}')
    with pytest.raises(ArchiveError, match="another language"):
        write(folders, tmp_path / "y.wacz")


def test_without_warc_files_nothing_is_written(site: Site, tmp_path: Path) -> None:
    site.folder.mkdir()
    with pytest.raises(ArchiveError, match="no WARC files"):
        write([site.folder], tmp_path / "x.wacz")
    (site.folder / "warc").mkdir()
    (site.folder / "warc" / "th-1-00001.warc.gz").write_bytes(b"")
    with pytest.raises(ArchiveError, match=r"settings\.json"):
        write([site.folder], tmp_path / "x.wacz")
    assert not list(tmp_path.glob("*.wacz"))
