"""Kind of a site: by the heading that it stands under, by its host, by what its page declares."""

from __future__ import annotations

import re

NEWS, GOVERNMENT, EDUCATION = "News", "Government", "Education"
CULTURE, SOCIETY, BLOGS, FORUMS, SHOPS = "Culture", "Society", "Blogs", "Forums", "Shops"
DIASPORA, OTHERS = "Diaspora", "Others"

KINDS = (
    NEWS, GOVERNMENT, EDUCATION, BLOGS, FORUMS, SHOPS, CULTURE, SOCIETY, DIASPORA, OTHERS
)  # fmt: skip
"""Kinds of sites, in the order of a seed list; OTHERS are those of which it isn't known."""

_OF_HEADING = (
    (DIASPORA, r"diaspora|overseas|abroad|emigrant|\bexpat"),
    (NEWS, r"\bnews|newspaper|\bmedia\b|\bpress\b|radio|\btv\b|television|broadcast|magazine"),
    (GOVERNMENT, r"govern|ministr|parliament|municipal|public service|\bstate\b"),
    (EDUCATION, r"educat|universit|school|college|academ|\bscience"),
    (BLOGS, r"\bblog|\bfeeds?\b"),
    (FORUMS, r"forum|communit|discussion|social media"),
    (SHOPS, r"shop|store|\bbusiness|econom|commerce|\bbank|market"),
    (CULTURE, r"cultur|histor|museum|\barts?\b|literat|librar|music|wikip?|entertain|dictionar"),
    (SOCIETY, r"politic|\bpart(?:y|ies)\b|relig|church|societ|organi[sz]ation|health|sport|travel"),
)
_HEADINGS = tuple((kind, re.compile(words)) for kind, words in _OF_HEADING)

_OF_HOST = (
    (GOVERNMENT, r"(?:^|\.)(?:gov|gob|gouv|govt|go|gub|mil|government)\.[a-z]{2}$|\.gov$"),
    (EDUCATION, r"(?:^|\.)(?:edu|ac|sch|school)\.[a-z]{2}$|\.edu$"),
    (CULTURE, r"(?:^|\.)(?:wikipedia|wiktionary|wikisource|wikibooks)\.org$|\.museum$"),
    (
        BLOGS,
        r"(?:^|\.)(?:blogspot|wordpress|livejournal|tumblr|substack|medium|typepad)\.[a-z.]+$"
        r"|^blogs?\.",
    ),
    (FORUMS, r"^(?:forums?|boards?|community)\.|forum\.[a-z]{2,}$"),
    (SHOPS, r"^(?:shop|store)\.|(?:shop|store)\.[a-z]{2,}$"),
    (NEWS, r"^news\.|news\.[a-z]{2,}$|\.news$"),
)
_HOSTS = tuple((kind, re.compile(pattern)) for kind, pattern in _OF_HOST)

_TYPE = re.compile(r'"@type"\s*:\s*(?:\[\s*)?"([A-Za-z]{3,40})"')
_GENERATOR = re.compile(r'name=["\']generator["\'] content=["\']([^"\']{2,60})', re.IGNORECASE)
_OF_TYPE = {
    **dict.fromkeys(("NewsMediaOrganization", "NewsArticle", "RadioStation"), NEWS),
    **dict.fromkeys(
        ("GovernmentOrganization", "GovernmentService", "GovernmentOffice"), GOVERNMENT
    ),
    **dict.fromkeys(
        ("CollegeOrUniversity", "EducationalOrganization", "School", "HighSchool", "Course"),
        EDUCATION,
    ),
    **dict.fromkeys(("Blog", "BlogPosting"), BLOGS),
    **dict.fromkeys(("DiscussionForumPosting", "QAPage"), FORUMS),
    **dict.fromkeys(("Store", "OnlineStore", "Product", "Offer"), SHOPS),
    **dict.fromkeys(("Museum", "Library", "Book", "MusicGroup"), CULTURE),
    **dict.fromkeys(("NGO", "Church", "PoliticalParty", "SportsOrganization"), SOCIETY),
}
_OF_GENERATOR = {
    "phpbb": FORUMS, "vbulletin": FORUMS, "discourse": FORUMS, "xenforo": FORUMS, "mybb": FORUMS,
    "prestashop": SHOPS, "shopify": SHOPS, "magento": SHOPS, "opencart": SHOPS,
    "woocommerce": SHOPS, "mediawiki": CULTURE, "blogger": BLOGS, "moodle": EDUCATION,
}  # fmt: skip
_EXAMINED = 200_000  # characters of a page


def of_heading(text: str) -> str:
    """Return the kind of sites below a heading in English, "" if it names none."""
    lower = text.lower()
    return next((kind for kind, words in _HEADINGS if words.search(lower)), "")


def of_page(host: str, markup: str) -> str:
    """Return the kind of a site by its host, else by what its page declares; "" if neither tells.

    A page declares by schema.org's types in JSON-LD, and by the program that made it.
    """
    for kind, pattern in _HOSTS:
        if pattern.search(host):
            return kind
    markup = markup[:_EXAMINED]
    for declared in _TYPE.findall(markup):
        if declared in _OF_TYPE:
            return _OF_TYPE[declared]
    made_by = _GENERATOR.search(markup)
    named = made_by[1].lower() if made_by else ""
    return next((kind for name, kind in _OF_GENERATOR.items() if name in named), "")
