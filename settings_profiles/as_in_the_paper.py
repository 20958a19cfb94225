"""With a paper's profile before it, nothing besides what the papers do: bfs,as_in_the_paper.

What protects others, or the crawl from endless spaces, stays (docs/strategies.md).
"""

COOKIES_ENABLED = False
LSWC_DOCUMENTS = False
LSWC_LINKED_DOCUMENTS = 0
LSWC_MAX_DOMAIN_BYTES = 0
LSWC_MAX_DOMAIN_PAGES = 0
LSWC_MAX_DUPLICATES = 100
LSWC_MAX_SERVER_BYTES = 0
LSWC_MAX_SERVER_PAGES = 0
LSWC_MAX_UNPROVEN_SITES = 0
LSWC_MAX_WAITING_PER_SERVER = 0
LSWC_OPT_OUT = "record-pages"
LSWC_REQUISITES = "none"
LSWC_ROBOTS_META: list[str] = []
LSWC_SITEMAPS = False
LSWC_TWINS = False
LSWC_UNPROVEN_SHARE = 1.0
