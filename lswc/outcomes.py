"""Outcomes: how URLs and links end, each in a word for counts and a sentence for users."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """How a URL ended, or why a link was left out. ``sentence`` says it to users.

    The answers of servers that are errors are counted by their number, as "status 404".
    """

    sentence: str

    def __new__(cls, value: str, sentence: str = "") -> Outcome:
        member = str.__new__(cls, value)
        member._value_ = value
        member.sentence = sentence
        return member

    # Fetched.
    HTML = "html", "A page, recorded."
    DOCUMENT = "document", "A PDF, a Word file, plain text or the like, recorded as a page is."
    REDIRECT = "redirect", "The server named another URL, which was offered instead."
    TWIN = (
        "twin",
        "Another URL, which was offered instead: of the same site by another name, or without "
        "what names a visitor.",
    )
    CANONICAL = (
        "canonical",
        "The page names another URL of its site as its own, which was offered instead.",
    )
    COPY = "copy", "The page has the text of the URL that it says to be its own, or of its twin."
    REDIRECT_ELSEWHERE = (
        "redirect elsewhere",
        "All that was asked of a server leads to others.",
    )
    REQUISITE = "requisite", "What an archived page needs: an image, a style sheet, a script ..."
    LISTING = "listing", "A sitemap or feed, whose pages were offered."
    NOT_HTML = (
        "not HTML",
        "Nor a document, by its type or by its first bytes; the download stops there.",
    )
    DOCUMENT_LEFT = "document left", "A document, while LSWC_DOCUMENTS is 0."
    NOINDEX = "noindex", "The page asks not to be kept; its links were followed."
    NOARCHIVE = "noarchive", "The page asks not to be kept; its links were followed."
    STATUS = "status", "The server answered with this error."
    STATUS_INVALID = "status invalid", "The server answered with a status that there isn't."
    COOKIE_WALL = "cookie wall", "The server sends back whoever asks, whatever cookies it set."
    REDIRECT_LOOP = "redirect loop", "The URL leads back to itself."
    TOO_MANY_REDIRECTS = "too many redirects", "More in a row than REDIRECT_MAX_TIMES."
    TOO_LARGE = "too large", "The body is larger than DOWNLOAD_MAXSIZE, or LSWC_MAX_DOCUMENT."
    DECOMPRESSED_TOO_LARGE = (
        "decompressed too large",
        "The body is larger than DOWNLOAD_MAXSIZE, or LSWC_MAX_DOCUMENT, once it is decompressed.",
    )
    HEADERS_TOO_LARGE = "headers too large", "The headers are larger than 64 KB."
    TOO_MANY_ENCODINGS = "too many encodings", "The body has more than three, one in another."
    TOO_MANY_PIECES = "too many pieces", "More than 1,000 pieces, compressed each for itself."
    BROKEN_COMPRESSION = "broken compression", "The body isn't what its encoding says."

    # Not fetched, for reasons of the server or the network.
    TIMEOUT = "timeout", "The server didn't answer in DOWNLOAD_TIMEOUT seconds."
    NAME_NOT_RESOLVED = "name not resolved", "The server's name has no address."
    NAME_LOOKUP_FAILED = "name lookup failed", "No answer to whether the server's name has one."
    CONNECTION_REFUSED = "connection refused", "Nothing answers at the server's port."
    DOWNLOAD_FAILED = "download failed", "The connection broke, or what came isn't HTTP."
    ROBOTS = "robots.txt", "The server's robots.txt forbids it."
    ROBOTS_UNAVAILABLE = "robots.txt unavailable", "The server fails to say what may be asked for."
    CRAWL_DELAY_TOO_LONG = (
        "Crawl-delay too long",
        "robots.txt asks for LSWC_MAX_CRAWL_DELAY and more.",
    )
    RETRY_AFTER_TOO_LONG = (
        "Retry-After too long",
        "The server asks to wait longer than an hour.",
    )
    TOO_MANY_WAIT = "too many wait", "Too many requests wait to be sent again."

    POSTPONED = "postponed", "It couldn't be had, and is tried again later."

    # Limits of the crawl.
    SCHEME = "scheme", "Neither http nor https."
    INVALID_URL = "invalid URL", "Not a URL by the WHATWG URL Standard."
    URL_TOO_LONG = "URL too long", "Longer than URLLENGTH_LIMIT."
    BLOCKED = "blocked", "control.toml says that nothing of the place is fetched, or kept."
    PAUSED = "paused", "control.toml lets the place wait."
    GENERATED = "generated", "Machines wrote its site, and LSWC_GENERATED is drop."
    GENERATED_LAST = (
        "generated, last",
        "Machines wrote its site: with LSWC_GENERATED=last it waits until no other URL is left.",
    )
    NOT_TOLERATED = (
        "not tolerated",
        "Its server has none but irrelevant pages, and more of them than control.toml tolerates.",
    )
    DEPTH = (
        "depth",
        "More links from the seeds than DEPTH_LIMIT, or control.toml, allows there.",
    )
    DOMAIN_NOT_ALLOWED = "domain not allowed", "Outside LSWC_ALLOWED_DOMAINS."
    EXCLUDED = "excluded by pattern", "A pattern of LSWC_EXCLUDE, or of control.toml, matches it."
    NOT_INCLUDED = (
        "included by no pattern",
        "None of LSWC_INCLUDE, or none of control.toml, matches it.",
    )
    PORT = "port", "Not one of LSWC_ALLOWED_PORTS."
    ADDRESS_NOT_PUBLIC = (
        "address not public",
        "A private, loopback or other special address, not in LSWC_ALLOWED_NETWORKS.",
    )
    DEEP_PATH = "deep path", "The path has more than 24 segments."
    REPEATED_SEGMENT = (
        "repeated path segment",
        "The path has one segment more than three times.",
    )
    FACETED_QUERY = (
        "faceted query",
        "The query has more than 12 parameters, or one more than three times.",
    )
    SERVER_PAGES = "server's page limit", "The server has LSWC_MAX_SERVER_PAGES pages."
    DIRECTORY_PAGES = "directory's page limit", "The folder has a quarter of LSWC_MAX_SERVER_PAGES."
    SITE_PAGES = "site's page limit", "The registered domain has LSWC_MAX_DOMAIN_PAGES pages."
    SERVER_BYTES = "server's byte limit", "The server has sent LSWC_MAX_SERVER_BYTES."
    SITE_BYTES = "site's byte limit", "The registered domain has sent LSWC_MAX_DOMAIN_BYTES."
    DUPLICATES_IN_DIRECTORY = (
        "near-duplicates in directory",
        "LSWC_MAX_DUPLICATES near-duplicates in a row in its folder.",
    )
    DUPLICATES_ON_SERVER = (
        "near-duplicates on server",
        "Twice LSWC_MAX_DUPLICATES near-duplicates in a row on its server.",
    )
    DUPLICATES_ON_SITE = (
        "near-duplicates on site",
        "Four times LSWC_MAX_DUPLICATES near-duplicates in a row on its registered domain, or on "
        "all domains of its family that have such.",
    )
    TIMEOUTS_ON_SITE = (
        "timeouts on site",
        "40 URLs in a row of its registered domain weren't answered in time.",
    )
    SERVER_QUEUE_FULL = (
        "server's queue full",
        "LSWC_MAX_WAITING_PER_SERVER URLs of its server were pending, none worse than it.",
    )
    SITE_QUEUE_FULL = (
        "site's queue full",
        "Ten times as many URLs of its registered domain were pending, none worse than it; "
        "1,000 if one other site at most vouches for that.",
    )
    TOO_MANY_UNPROVEN = (
        "too many unproven sites",
        "Sites that one other site at most vouches for waited: LSWC_MAX_UNPROVEN_SITES, or a tenth "
        "of that which one site introduced.",
    )
    LISTED_MISSING = (
        "sitemap's misses",
        "Its sitemap or feed named 50 URLs that aren't there, and ten more for each page.",
    )
    LISTING_NOT_WORTH = (
        "sitemap's yield",
        "Its sitemap is a long one, and less than 5 % of its server's pages were relevant.",
    )
    TOO_MANY_LINKS = (
        "too many links",
        "The page has more than 3,000, or so much else that they aren't read.",
    )
    TOO_MANY_REQUISITES = (
        "too many requisites",
        "Its page needs more than 300 in all, or it is more than five steps away.",
    )
    TOO_MANY_GUESSES = (
        "too many guesses",
        "Only a script names it, and too little of what scripts named on its server is there.",
    )
    LANGUAGE_SWITCH = (
        "language switch",
        "The link only sets a language, and its server is sent the cookie of the crawl's.",
    )
    NOFOLLOW = "nofollow", "The page, or the link, asks not to be followed."

    # The strategy's.
    STRATEGY = "strategy", "The strategy doesn't follow such links."
    IRRELEVANT_SERVER = "irrelevant server", "The server it leads to was irrelevant already."
    SERVER_BECAME_IRRELEVANT = (
        "server became irrelevant",
        "It waited when its server turned out to be irrelevant.",
    )

    # Faults on our side.
    SPIDER_ERROR = (
        "spider error",
        "Reading the page, or the link, raised an error, which is in the log.",
    )
    READER_DIED = "reader died", "Two processes that read the page died of it; others go on."
    READING_TOO_LONG = "reading too long", "Reading the page took 60 seconds."
    NOT_RENDERED = "not rendered", "The page needs its scripts; LSWC_BROWSER=auto runs them."
    RENDERED_ENOUGH = (
        "rendered enough",
        "The page needs its scripts; its site, or the crawl, had its share of the browser "
        "(LSWC_BROWSER_SHARE, LSWC_BROWSER_TRIES).",
    )
    STILL_EMPTY = "still empty", "The page shows no text, its scripts run or not."
    BROWSER_DIED = "browser died", "The browser that showed the page died of it; others go on."
    RENDERING_TOO_LONG = "rendering too long", "The browser that showed the page hung."
    RENDERED_TOO_LARGE = (
        "rendered too large",
        "The page is larger than DOWNLOAD_MAXSIZE once its scripts have run.",
    )
    NO_RECORD = "no record", "A component of the crawl kept the page back."
    ITEM_DROPPED = "item dropped or failed", "A pipeline dropped the page's record, or failed."
    IGNORED = "ignored", "A component of the crawl refused the request."
    LOST = "lost", "It isn't known how the request ended."
    FAILED = "failed", "An error that none of the others names; the crawl log has it."


REDIRECTS = (301, 302, 303, 307, 308)
"""Statuses of answers that lead to a Location."""


def of_status(status: int) -> str:
    """Return the outcome of an error that a server answered with; only a number of it counts."""
    return f"{Outcome.STATUS} {status}" if 100 <= status < 600 else Outcome.STATUS_INVALID


RECORDED = (Outcome.HTML, Outcome.DOCUMENT)
"""Outcomes of URLs that have a record."""

OF_REQUISITE = "requisite: "
"""Stands before the outcome of a requisite where a page may have the same URL."""

OF_ELSEWHERE = "elsewhere: "
"""Stands before a worker's number, and the outcome of a URL that it finished and gave away."""

OF_READERS = (Outcome.SPIDER_ERROR, Outcome.READER_DIED, Outcome.READING_TOO_LONG)
"""Outcomes of pages of which nothing could be read, by a fault of ours."""
_ANSWERS = list(Outcome)[
    list(Outcome).index(Outcome.NOT_HTML) : list(Outcome).index(Outcome.ROBOTS)
]
_MISSES = frozenset(_ANSWERS) - {Outcome.DOCUMENT_LEFT, Outcome.NOINDEX, Outcome.NOARCHIVE}


def is_miss(name: str) -> bool:
    """Tell whether a URL that ended so was asked for in vain: no page is there, or could be had."""
    return name in _MISSES or name.startswith(f"{Outcome.STATUS} ")


_UNANSWERED = {
    Outcome.TIMEOUT, Outcome.NAME_NOT_RESOLVED, Outcome.NAME_LOOKUP_FAILED,
    Outcome.CONNECTION_REFUSED, Outcome.DOWNLOAD_FAILED,
}  # fmt: skip


def is_dead_end(name: str) -> bool:
    """Tell whether the server of a URL that ended so answered, and has no page there.

    That says what a link like the one to it leads to; a server that is away says nothing of links.
    """
    return is_miss(name) and name not in _UNANSWERED


_TRANSIENT = {
    Outcome.TIMEOUT, Outcome.NAME_LOOKUP_FAILED, Outcome.CONNECTION_REFUSED,
    Outcome.DOWNLOAD_FAILED, Outcome.ROBOTS_UNAVAILABLE, Outcome.TOO_MANY_WAIT,
    f"{Outcome.STATUS} 429",
}  # fmt: skip


def is_transient(name: str) -> bool:
    """Tell whether a URL that ended so may be had another time: its server failed, or the way."""
    return name in _TRANSIENT or name.startswith(f"{Outcome.STATUS} 5")


def has_failed(name: str) -> bool:
    """Tell whether a URL that ended so couldn't be had, or read, for whatever reason."""
    return is_transient(name) or name in (Outcome.NAME_NOT_RESOLVED, Outcome.READER_DIED)


LIFTED = (
    Outcome.BLOCKED,
    Outcome.PAUSED,
    Outcome.GENERATED,
    Outcome.GENERATED_LAST,
    Outcome.NOT_TOLERATED,
    Outcome.DEPTH,
    Outcome.DOMAIN_NOT_ALLOWED,
    Outcome.EXCLUDED,
    Outcome.NOT_INCLUDED,
    Outcome.PORT,
    Outcome.LISTED_MISSING,
)
"""Outcomes of URLs that were queued before they were refused: the user may allow them again."""


OF_QUOTA = (
    Outcome.SERVER_PAGES, Outcome.SERVER_BYTES, Outcome.SITE_PAGES, Outcome.SITE_BYTES,
)  # fmt: skip
"""Outcomes of URLs whose server or registered domain has brought all that is taken of it.

They may be asked for once more is taken.
"""


INSTEAD = (Outcome.TWIN, Outcome.CANONICAL)
"""Outcomes of URLs for which another was offered; they are asked for if that shows something else.
"""


UNSHOWN = (Outcome.NOT_RENDERED, Outcome.RENDERED_ENOUGH)
"""Outcomes of pages that are empty until their scripts run, and that a browser may show later."""


_ALL = list(Outcome)
LEFT_OUT = frozenset(
    {Outcome.ROBOTS, Outcome.CRAWL_DELAY_TOO_LONG, Outcome.RETRY_AFTER_TOO_LONG}
    | set(_ALL[_ALL.index(Outcome.SCHEME) : _ALL.index(Outcome.SPIDER_ERROR)])
)
"""Outcomes of URLs that weren't wanted: by limits of the crawl, its strategy, or their server."""


def is_left_out(name: str) -> bool:
    """Tell whether a URL that ended so wasn't wanted, be it a page or a requisite."""
    return name.removeprefix(OF_REQUISITE) in LEFT_OUT


def may_return(name: str) -> bool:
    """Tell whether a URL that ended so may be asked for later in the same crawl."""
    return name in (*LIFTED, *OF_QUOTA, *INSTEAD, *UNSHOWN) or has_failed(name)


def sentence(name: str) -> str:
    """Return the sentence of a counted name. Raises ValueError if there is none."""
    plain = name.removeprefix(OF_REQUISITE)
    kind, _, number = plain.rpartition(" ")
    return Outcome(kind if number.isdecimal() else plain).sentence


NEW, CHANGED, UNCHANGED = "new", "changed", "unchanged"
"""What became of a page's text since the visit before. It is the same, as a near-duplicate is, if
only a few of its words are others."""
