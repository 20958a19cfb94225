"""Hosts of the demo web, one a line: name, languages, pages, encoding, features.

Features: ``hub`` links to many hosts; ``island`` is linked only through a tunnel; ``english``,
``frames``, ``image`` and ``refresh`` say what the front page is; ``declares=X`` and
``undeclared`` what the META says; ``upper``, ``broken``, ``xhtml`` and ``base`` how the HTML is
written; ``query`` that URLs are made of queries; ``private`` and ``closed`` what robots.txt
excludes; ``slow`` and ``calendar`` what they say; ``users`` that each directory is a person's;
``negotiates`` that each page is in both of its languages, served in the second to who asks for it;
``sitemap``, ``index`` (of sitemaps, one of them packed), ``rss`` and ``atom`` that such a listing
names pages that nobody links to; ``document`` and ``shell`` that the front page links to a PDF, and
to a page that a script writes.
"""

from __future__ import annotations

from typing import NamedTuple


class Host(NamedTuple):
    """A line of the table; ``languages`` has one directory each if there are several."""

    name: str
    languages: tuple[str, ...]
    pages: int
    encoding: str
    features: frozenset[str]
    declares: str | None


TABLE = """
www.siamsabai-portal.com     th       150 windows-874  hub declares=windows-874
www.thaiweblink-demo.co.th   th        90 tis-620      hub upper
www.krungdaily-demo.net      th       130 utf-8        hub xhtml index rss
www.lannaboard-demo.com      th       120 utf-8        query calendar
www.phumpanya-demo.ac.th     th        80 tis-620      english sitemap
www.samutlib-demo.go.th      th        70 utf-8        index document shell
www.talaadnam-demo.com       th        60 windows-874  frames upper
www.esannews-demo.co.th      th        55 tis-620      declares=iso-8859-1 atom
www.ruengsan-demo.net        th        45 numeric
www.aharnthai-demo.com       th        45 utf-8        image sitemap
www.watpa-demo.or.th         th        40 windows-874  broken sitemap
www.changphap-demo.net       th        32 tis-620      undeclared
www.isangift-demo.com        th        26 windows-874  refresh
www.rongrian-demo.ac.th      th        24 tis-620      private
www.phleng-demo.com          th        20 utf-8        base
www.muaythai-demo.net        th        16 utf-8        english
www.samunprai-demo.com       th        14 tis-620      declares=utf-8
www.doisuthep-demo.or.th     th        12 utf-8        slow
www.khaohom-demo.co.th       th        10 windows-874  declares=tis-620
www.baansuan-demo.in.th      th         9 utf-8        undeclared
www.silpa-demo.com           th         8 numeric      image
www.kanfai-demo.net          th         7 tis-620      broken upper
www.loykrathong-demo.org     th         6 utf-8        xhtml
www.plathong-demo.co.th      th         5 windows-874  frames
www.maliwan-demo.com         th         4 tis-620
www.nokkaew-demo.net         th         3 utf-8        declares=shift_jis
www.yaowarat-demo.in.th      th         2 tis-620
www.talay-island-demo.com    th        24 utf-8        island
www.phukao-island-demo.net   th        18 windows-874  island
www.nakhon-island-demo.go.th th        14 tis-620      island
www.suanpa-island-demo.com   th        12 utf-8        island english
www.khlong-island-demo.co.th th        10 numeric      island
www.bangna-island-demo.net   th         9 tis-620      island
www.hatyai-island-demo.ac.th th         8 utf-8        island
www.loei-island-demo.com     th         7 windows-874  island
www.asialibrary-demo.org     th,en,ja,my 120 utf-8     hub
www.uniasia-demo.ac.th       en,th     90 utf-8        xhtml
members.homepages-demo.com   en,th,en,ja,th,en,my 105 utf-8 users
www.globalembassy-demo.net   en,th,my  60 utf-8        upper
www.webdirectory-demo.com    en       100 us-ascii     hub
www.worldportal-demo.net     en        70 utf-8        hub
www.asiaguide-demo.org       en        50 iso-8859-1   hub upper
www.encyclomedia-demo.com    en       260 utf-8        xhtml sitemap
www.softdocs-demo.org        en       190 us-ascii
www.sportsdaily-demo.com     en       140 iso-8859-1   broken
www.newsworld-demo.com       en       110 utf-8        query rss
www.bookshop-demo.co.uk      en        75 utf-8
www.cityuniversity-demo.edu  en        55 us-ascii     private
www.phukethotels-demo.com    en        40 us-ascii     declares=windows-874
www.samuiresort-demo.net     en        40 us-ascii     declares=tis-620
www.bangkoktrade-demo.co.th  en        30 us-ascii     declares=windows-874
www.gardenclub-demo.org.uk   en        28 utf-8        base
www.oldrailways-demo.com     en        22 us-ascii     upper broken
www.jazzrecords-demo.com     en        18 iso-8859-1   image
www.healthfacts-demo.org     en        16 utf-8        calendar
www.linuxnotes-demo.net      en        14 us-ascii
www.chefsecrets-demo.com     en        12 utf-8        refresh
www.birdwatch-demo.org       en        10 utf-8        frames
www.smalltown-demo.us        en         8 us-ascii     undeclared
www.closedhouse-demo.com     en         6 utf-8        closed
www.photoblog-demo.com       en         5 utf-8
www.lonelypage-demo.net      en         2 us-ascii
www.nihonportal-demo.co.jp   ja       150 shift_jis    hub sitemap
www.kyotoguide-demo.jp       ja       110 euc-jp
www.gakkou-demo.ac.jp        ja        80 utf-8        xhtml
www.densha-demo.com          ja        55 shift_jis    upper
www.ryouri-demo.ne.jp        ja        40 utf-8
www.onsen-demo.co.jp         ja        30 euc-jp       frames
www.tokyonikki-demo.net      ja        24 iso-2022-jp  atom
www.hanami-demo.or.jp        ja        18 utf-8        image
www.bangkokkai-demo.jp       ja        14 shift_jis
www.yakyuu-demo.com          ja        10 utf-8        undeclared
www.minka-demo.jp            ja         6 euc-jp       broken
www.shodou-demo.net          ja         3 utf-8
www.myanmarweb-demo.com      my        75 utf-8        hub index
www.yangondaily-demo.net     my        50 zawgyi       rss
www.baganinfo-demo.com.mm    my        30 utf-8
www.shwezagar-demo.com       my        24 zawgyi       broken
www.saonlay-demo.org         my        16 numeric
www.inlelake-demo.com        my        10 utf-8        english
www.mandalaynet-demo.net     my         6 zawgyi       undeclared
www.gitameit-demo.com.mm     my         3 utf-8
www.twotongues-demo.org      en,th     12 utf-8        negotiates
"""


def read_table() -> list[Host]:
    """Return the hosts in the table's order."""
    return [_host(*line.split()) for line in TABLE.strip().splitlines()]


def _host(name: str, languages: str, pages: str, encoding: str, *features: str) -> Host:
    declared = [word.partition("=")[2] for word in features if word.startswith("declares=")]
    declares = None if "undeclared" in features else (declared or [charset(encoding)])[0]
    return Host(
        name, tuple(languages.split(",")), int(pages), encoding, frozenset(features), declares
    )


def charset(encoding: str) -> str:
    """Return the charset, by its IANA name, that bytes of this encoding are in."""
    return {"numeric": "us-ascii", "zawgyi": "utf-8"}.get(encoding, encoding)
