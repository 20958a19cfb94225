"""A crawl's archive as one WACZ file: whole, in order, and what its manifest says of it."""

from __future__ import annotations

import gzip
import json
from base64 import b64decode
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from zipfile import ZIP_STORED, ZipFile

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_der_public_key,
)

from lswc.archive.appended_files import ArchiveError
from lswc.archive.cdxj import surt_of
from lswc.archive.wacz import write
from lswc.archive.wacz_signing import SigningKey
from lswc.archive.zipnum import ZipNum
from lswc.errors import ConfigError
from lswc.workbench.replay import lay_out
from tests.archive.reading import index, member, records
from tests.scenarios.site import ENGLISH, THAI, page, run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.scenarios.site import Site

SEED = "http://www.one.co.th/"


def described(archive: ZipFile) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(archive.read("datapackage.json"))
    return found


def index_lines(archive: ZipFile) -> list[bytes]:
    """Return the lines of an index, each block found as the list of blocks says."""
    packed = archive.read("indexes/index.cdx.gz")
    meta, *blocks = archive.read("indexes/index.idx").splitlines()
    assert json.loads(meta.partition(b"!meta 0 ")[2])["filename"] == "index.cdx.gz"
    lines: list[bytes] = []
    for block in blocks:
        begin, _, said = block.partition(b" {")
        about = json.loads(b"{" + said)
        piece = packed[about["offset"] : about["offset"] + about["length"]]
        assert about["digest"] == f"sha256:{sha256(piece).hexdigest()}"
        found = gzip.decompress(piece).splitlines()
        assert found[0].startswith(begin + b" {")
        lines += found
    return lines


def test_an_index_of_many_lines_is_in_blocks() -> None:
    lines = [
        b'k%05d 20260101000000 {"url": "http://a.example/%d"}\n' % (n, n) for n in range(2_500)
    ]
    index = ZipNum(iter(lines))
    packed = b"".join(index)
    assert index.lines == 2_500
    assert gzip.decompress(packed) == b"".join(lines)
    _, *blocks = index.blocks()
    assert [block.partition(b" ")[0] for block in blocks] == [b"k00000", b"k01024", b"k02048"]


def test_a_signed_file_tells_whose_it_is_and_that_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    key = SigningKey(path)
    assert path.stat().st_mode & 0o077 == 0
    signed = SigningKey(path).sign("sha256:abc")
    assert signed["publicKey"] == key.public
    public = load_der_public_key(b64decode(signed["publicKey"]))
    assert isinstance(public, ec.EllipticCurvePublicKey)
    raw = b64decode(signed["signature"])
    assert len(raw) == 96
    halves = (int.from_bytes(half, "big") for half in (raw[:48], raw[48:]))
    public.verify(encode_dss_signature(*halves), b"sha256:abc", ec.ECDSA(hashes.SHA256()))
    for wrong in (b"no key", RSA):
        path.write_bytes(wrong)
        with pytest.raises(ConfigError, match=r"key\.pem"):
            SigningKey(path)


RSA = rsa.generate_private_key(65_537, 2_048).private_bytes(
    Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
)


def test_pages_have_their_text_and_are_in_the_order_of_their_titles(
    site: Site, tmp_path: Path
) -> None:
    site.seeds(SEED)
    icon = "<link rel=icon href=/favicon.ico>"
    for name, title in (("", "ข่าว"), ("a.html", "Zebra"), ("b.html", "apple"), ("c.html", "")):
        body = page(f"{THAI} {name}", "/a.html", "/b.html", "/c.html")
        site.add(f"www.one.co.th/{name}", body.replace("<title>t", f"<title>{title}") + icon)
    site.add("www.one.co.th/favicon.ico", b"\0\0\1\0")
    site.crawl()
    out = tmp_path / "one.wacz"
    command = site.command()
    key = tmp_path / "key.pem"
    done = run([*command[: command.index("crawl")], "wacz", str(site.folder), "--out", str(out),
                "--text", "--sign", str(key)])  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert SigningKey(key).public in done.stdout
    with ZipFile(out) as archive:
        head, *listed = map(json.loads, archive.read("pages/pages.jsonl").splitlines())
        digest = json.loads(archive.read("datapackage-digest.json"))
    assert head["hasText"] is True
    assert [one["title"] for one in listed] == ["apple", "Zebra", "ข่าว", ""]
    assert all(THAI.strip() in one["text"] for one in listed)
    assert {one["favIconUrl"] for one in listed} == {f"{SEED}favicon.ico"}
    assert digest["signedData"]["hash"] == digest["hash"]


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
        packed = ["indexes/index.cdx.gz", "indexes/index.idx", "pages/pages.jsonl"]
        assert paths == [*(f"archive/{name}" for name in warcs), *packed]
        assert archive.getinfo(paths[0]).compress_type == ZIP_STORED
        # Without, ReplayWeb.page doesn't look how long the fields in front of a file are.
        assert all(info.extra for info in archive.infolist())
        assert archive.getinfo("indexes/index.cdx.gz").compress_type == ZIP_STORED
        lines = index_lines(archive)
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


def test_an_index_has_urls_as_browsers_ask_for_them(tmp_path: Path) -> None:
    (tmp_path / "warc").mkdir()
    (tmp_path / "settings.json").write_text('{"language": "th"}')
    (tmp_path / "warc" / "th-1.warc.gz").write_bytes(b"0")
    place = {"filename": "th-1.warc.gz", "offset": "0", "length": "1"}
    urls = (
        "http://a.example/%5Bx%5D%7B?a%5B%5D=A%7CB%7B",
        "http://a.example/?q=%5e%3F",
        "http://b/",
    )
    lines = [f"{surt_of(url)} 20260101000000 {json.dumps({'url': url, **place})}\n" for url in urls]
    (tmp_path / "warc" / "th-1.cdxj").write_text("".join(lines))
    assert write([tmp_path], tmp_path / "x.wacz").captures == len(urls)
    with ZipFile(tmp_path / "x.wacz") as archive:
        found = index_lines(archive)
    assert found == sorted(found)
    keys = {json.loads(line.split(b" ", 2)[2])["url"]: line.split(b" ")[0] for line in found}
    spelled = ("http://a.example/[x]%7B?a[]=A|B{", "http://a.example/?q=^%3F")
    assert keys.keys() == {*urls, *spelled}
    assert keys[spelled[0]] == b"example,a)/[x]{?a[]=a|b{"


def test_files_of_two_workers_have_names_of_their_own(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two")]
    for number, folder in enumerate(folders):
        (folder / "warc").mkdir(parents=True)
        (folder / "settings.json").write_text('{"language": "th"}')
        (folder / "warc" / "th-1.warc.gz").write_bytes(b"%d" % number)
        place = {"filename": "th-1.warc.gz", "offset": "0", "length": "1"}
        line = {"url": f"http://a.example/{number}", **place}
        (folder / "warc" / "th-1.cdxj").write_text(f"k{number} 20260101000000 {json.dumps(line)}\n")
    assert write(folders, tmp_path / "x.wacz")[:2] == (2, 2)
    with ZipFile(tmp_path / "x.wacz") as archive:
        lines = index_lines(archive)
        names = [json.loads(line.split(b" ", 2)[2])["filename"] for line in lines]
        assert [archive.read(f"archive/{name}") for name in names] == [b"0", b"1"]
    (folders[1] / "warc" / "th-1.cdxj").unlink()
    (said,) = write(folders, tmp_path / "x.wacz").gone
    assert said.startswith(f"{folders[1] / 'warc' / 'th-1.warc.gz'} has no index")
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


def test_what_was_cut_off_a_file_is_counted_and_left_out(site: Site, tmp_path: Path) -> None:
    site.seeds(SEED)
    site.add("www.one.co.th/", page(THAI, "a.html"))
    site.add("www.one.co.th/a.html", page(THAI * 2))
    site.crawl()
    (warc,) = site.folder.glob("warc/*.warc.gz")
    lines = sorted(index(site.folder).values(), key=lambda entry: int(entry["offset"]))
    last = lines[-1]
    with warc.open("r+b") as file:
        file.truncate(int(last["offset"]) + int(last["length"]) // 2)
    said = f"{warc} is cut short: 1 capture of its index left out"
    written = write([site.folder], tmp_path / "cut.wacz")
    assert written.gone == (said,)
    assert written.captures == len(lines) - 1
    with ZipFile(tmp_path / "cut.wacz") as archive:
        pages = archive.read("pages/pages.jsonl").decode()
    assert (last["url"] in pages) is False
    home = tmp_path / "pywb"
    home.mkdir()
    assert lay_out(home, {warc: warc.name}) == (said,)
    (looked_up,) = (home / "index").iterdir()
    assert len(looked_up.read_bytes().splitlines()) == len(lines) - 1
