"""Defaults of the project. A profile in ``settings_profiles/`` overrides them, ``-s`` both.

The comment above a setting is its sentence in docs/settings.md, which
``python -m lswc.cli.reference docs`` makes from this file; a comment with a blank
line below it begins a section there.
"""

from lswc import __version__

# The crawl: what is collected, and where it is kept

# The profile: the name of a file in settings_profiles/, which sets any of these settings. Of
# several, as in `bfs,as_in_the_paper`, the later has the last word (strategies.md#as-in-the-paper).
LSWC_PROFILE = "adaptive"
# What to fetch next, with its parameters: `lswc:S=5,T=3`. Every profile sets one.
LSWC_STRATEGY = ""
# What counts, for the strategy `adaptive`: `pages`, each relevant one 1; or `text`, each page what
# it brings of new clean text, up to 1 (strategies.md#clean-text).
LSWC_VALUE = "pages"
# How a page's language is told: a method of languages.md.
LSWC_IDENTIFIER = "auto"
# The share of a page's text that must be in the language, from 0 to 1; languages.md says why so
# little.
LSWC_MIN_SHARE = 0.15
# Which pages are relevant: `contains` for those that contain the language, with that share, or
# `leads` for only those in which it leads.
LSWC_RELEVANT = "contains"
# Whether pages that say that they were machine-translated, by the marks of plug-ins
# (archive.md#machine-translation), are `relevant` as others are, or `irrelevant`.
LSWC_MACHINE_TRANSLATED = "relevant"
# The folder of your own languages, if any: `<code>.toml`, `seeds/<code>.txt` and `tables/`.
LSWC_LANGUAGES = ""
# What a page counts as if its language can't be told: `guess` (its referrer's language),
# `irrelevant`, or `strategy` (as the strategy's paper does it).
LSWC_UNKNOWN = "strategy"
# At 1, a URL is taken only when the one before is finished and every server has rested: the exact
# order of the papers and of the simulator, in which all sites are alike. Not with Redis.
LSWC_IN_ORDER = 0
# The share of the requests that sites get for which nobody but one other site vouches, from 0 to 1,
# while others wait: farms, and sites that are hardly known (safety.md). At 1 all sites are alike.
LSWC_UNPROVEN_SHARE = 0.25
# Time against downloads, from 0 to 1: the share of the requests for URLs that would wait, while
# connections are free, for far likelier ones of busy servers. At 0 connections idle rather than
# fetch what is hardly relevant, at 1 none idles. Nobody waits for servers that rest for much longer
# than others (strategies.md#hours-and-downloads).
LSWC_HASTE = 0.1
# The crawl ends once the next pages should bring a smaller share of relevant ones, and the last
# 1,000 requests of each worker brought no more. At 0 it goes on until no URL is left; the profile
# adaptive has 0.01.
LSWC_STOP_HARVEST = 0.0
# What a new crawl with a learned order begins with. If it is empty, what links led to on other webs
# (strategies.md#what-other-webs-taught). The folder of an earlier crawl of the language, or
# redis://host:6379/0#key: what that learned. A table of `lswc learn-order`. `none`: nothing.
LSWC_EXPERIENCE = ""
# Only these domains and their subdomains are crawled, if any are given.
LSWC_ALLOWED_DOMAINS: list[str] = []
# Only URLs that match one of these patterns are crawled, if any are given: `path:/news/*`,
# `host:*.example.com`, `example.com/a/*`, or a regex, `query~(^|&)id=` (safety.md#patterns).
LSWC_INCLUDE: list[str] = []
# URLs that match one of these patterns are left out; what archived pages need, too.
LSWC_EXCLUDE: list[str] = []
# The crawl's folder, `crawls/<lang>` if empty. The same folder goes on with the same crawl.
LSWC_CRAWL = ""
# The folder of a frozen web to crawl instead of the real one, or `demo`, or `changing`: the demo
# web with pages that change.
LSWC_WEB = ""
# What goes into WARC files: `relevant` pages (with the redirects and errors that their links lead
# to), `all`, or `none`.
LSWC_ARCHIVE = "relevant"
# Whether what an archived page needs to look as it does is asked for and archived too (`all`):
# images, style sheets, scripts, fonts, frames, from any host; or not (`none`). They get 0.09 of the
# requests, or the share that is written here, from 0 to 1; more while no page is being asked for.
LSWC_REQUISITES = "all"
# Whether the sitemaps of servers that gave a relevant page are asked for, and the feeds (RSS, Atom,
# JSON) that relevant pages name: what they name is pending as if such a page linked to it.
LSWC_SITEMAPS = False
# Whether pages that are empty until their scripts run are shown in a browser, and read as it shows
# them (browser.md): `off`, `auto` with the system's Chromium, or the path of one.
LSWC_BROWSER = "off"
# Which pages the browser shows besides, so that what their scripts ask for is archived too: none
# (`shells`); a share of the relevant pages, such as 0.1, or 1 for `all`; or those that URL patterns
# name, such as `host:*.example.co.th`. Each takes a second of processor, and 60 seconds at most.
LSWC_BROWSER_PAGES: list[str] = ["shells"]
# The share of the pages that may be shown in the browser and bring nothing, 20 pages besides. One
# that turns out to be relevant, and like no other, isn't counted. At 1 there is no bound.
LSWC_BROWSER_SHARE = 0.05
# How many pages of a registered domain are shown that bring nothing, before no more are; as many
# more as brought something. What is left is shown once there is room for it.
LSWC_BROWSER_TRIES = 5
# Whether a page that shows nothing but a question of age or consent is answered, by one press of
# the button that agrees. Nothing is ever written into a field.
LSWC_BROWSER_PRESS = False
# Whether documents are collected as pages are: PDF, Word, PowerPoint, Excel, OpenDocument, EPUB,
# RTF, plain text and CSV. At 0 no URL is asked for that ends as their names do.
LSWC_DOCUMENTS = True
# Documents whose language can't be told (scans, encrypted and damaged files, older formats) are
# archived too if a relevant page links to them, up to so many bytes in all. At 0 none are.
LSWC_LINKED_DOCUMENTS = 10_000_000_000
# Media types of linked files that are archived too, such as `image/*,audio/*,video/*`, or `*/*` for
# all: what archived pages link to, and no page is. With LSWC_ARCHIVE=all each is, whatever its
# type.
LSWC_ARCHIVE_FILES: list[str] = []
# Bytes of such a file, or of one of these types that a page shows: a longer one is cut there.
LSWC_MAX_FILE = 20_000_000
# Who runs the crawl, such as `National Library of Example`: the `operator` in WARC files.
LSWC_OPERATOR = ""
# What the crawl is for: the `description` in WARC files, and in a WACZ file.
LSWC_DESCRIPTION = ""
# A WARC file is closed once it has so many bytes; and pages.jsonl, with a quarter of them, becomes
# a part, `pages-00001.jsonl.gz`.
LSWC_WARC_SIZE = 1_000_000_000
# The folders of earlier crawls, the latest first: what they stored is only sent if it has changed.
LSWC_RECRAWL: list[str] = []
# How often a day each relevant page is visited again, on the mean: most often those that change, or
# lead to new pages. The crawl then goes on until it is stopped (continuous.md). At
# 0 none is. Not with several Redis servers.
LSWC_REVISIT = 0.0

# Processes that read pages: `cores` for as many as this machine has besides the crawl's own, 2 at
# most; 0 if the crawl reads them itself (performance.md).
LSWC_READERS = "cores"

# What goes wrong

# A URL that couldn't be had (its name wasn't looked up, no connection, no answer in time, 429 or
# 5xx, no robots.txt) waits so many seconds, and is tried again; as often as there are numbers. If
# there are none, it is finished at once.
LSWC_TRY_AGAIN = [60, 600, 7_200, 86_400]
# At 1, a crawl that goes on tries once more what is finished because it couldn't be had.
LSWC_RETRY_FAILED = False
# The crawl pauses while the disk of its folder has fewer free bytes, and goes on when it has more.
# At 0 it goes on until the disk is full.
LSWC_MIN_DISK = 500_000_000
# A crawl whose own network is away waits for it so many seconds, then it ends, with exit code 3. At
# 0 it waits as long as it takes.
LSWC_MAX_OFFLINE = 86_400

# One crawl, many workers

# Where the queued URLs are: `sqlite` (in the crawl's folder), `:memory:`, or a Redis through which
# several workers share a crawl, each with a folder of its own (workers.md): `redis://host:6379/0`,
# also `rediss://`, `unix://`, `redis+cluster://a:6379,b:6379/` and
# `redis+sentinel://a:26379,b:26379/name/0`.
LSWC_FRONTIER = "sqlite"
# With Redis: the crawl's name, `lswc:<lang>` if empty. Seeds pushed to `<name>:start_urls` (or to
# REDIS_START_URLS_KEY) are taken; REDIS_PARAMS are more arguments of redis-py's client.
LSWC_REDIS_KEY = ""

# To watch it

# Where this process answers Prometheus (/metrics) and container engines (/health), such as
# `127.0.0.1:9410`; at port 0 it chooses a free one, and says which. Not at all if empty.
LSWC_METRICS = ""

# What is told of the end of a crawl, with its summary as JSON: a command, run without a shell, such
# as `mail -s "the crawl" me@library.example`, or a web address (operations.md#how-it-ends).
LSWC_ON_END = ""
# Settings that a job of scrapyd's may give though they run something, or name a place outside the
# folder that scrapyd runs in: `LSWC_ON_END`, classes, modules. Only the project's own settings say
# so (safety.md#who-may-run-something).
LSWC_JOBS_MAY: list[str] = []

# A good guest

# Who crawls: the URL of a page about the crawl, or an e-mail address. It is sent with every
# request, in the User-Agent. The real web needs one.
LSWC_CONTACT = ""
# The name that servers see; (+<contact>) is added, unless you give one of your own.
USER_AGENT = f"lswc/{__version__}"
# Whether robots.txt is obeyed (RFC 9309).
ROBOTSTXT_OBEY = True
# What pages are asked for in Accept-Language, such as `th, en;q=0.5`. The crawl's language, else
# any other, if empty.
LSWC_ACCEPT_LANGUAGE = ""
# The name that is looked for in robots.txt: one word, up to a slash, of letters, digits and signs
# such as `-`, `_` and `.`.
ROBOTSTXT_USER_AGENT = "lswc"
# Which of `nofollow`, `noindex` and `noarchive` are obeyed, in META robots and X-Robots-Tag.
LSWC_ROBOTS_META = ["nofollow"]
# What follows if a page says that its text must not be mined (safety.md): `record` it, and no more;
# `skip-corpus`, leave it out of the corpus; `skip-archive`, leave it out of the archive too. With
# `record-pages` no server is asked for its tdmrep.json.
LSWC_OPT_OUT = "skip-corpus"
# Seconds that a server rests after an answer.
DOWNLOAD_DELAY = 1.0
# No more, no less: other delays are for reasons that a server has.
DOWNLOAD_DELAY_JITTER = 0
# A server rests as many times as long as it took to answer, or not to answer; not if
# DOWNLOAD_DELAY is 0.
LSWC_DELAY_FACTOR = 5
# Seconds that a server rests after 429 or 503 if it doesn't say for how long (Retry-After); twice
# as long each further time, up to a day, also across a restart. Not if DOWNLOAD_DELAY is 0.
LSWC_BACKOFF = 60
# A server whose robots.txt asks for more seconds between two pages is left alone.
LSWC_MAX_CRAWL_DELAY = 300
# Requests at a time, to all servers together.
CONCURRENT_REQUESTS = 32
# Requests at a time to one address, whatever the names of its servers; each rests DOWNLOAD_DELAY.
# Content networks get more (safety.md). 0 for any number.
LSWC_MAX_PER_ADDRESS = 2
# Requests at a time to the servers of a registered domain. 0 for any number.
LSWC_MAX_PER_DOMAIN = 4
# Requests at a time to one server. More are never sent.
CONCURRENT_REQUESTS_PER_DOMAIN = 1

# Whether a server that shows its pages only to who sends back its cookies is sent them
# (safety.md#cookies). No other cookie is ever sent.
COOKIES_ENABLED = True

# Safety: off at 0, or if empty

# Networks that may be asked besides the public internet, such as `10.1.0.0/16`.
LSWC_ALLOWED_NETWORKS: list[str] = []
# Ports that may be asked.
LSWC_ALLOWED_PORTS = [80, 81, 443, 8000, 8008, 8080, 8081, 8088, 8443, 8888]
# Characters of a URL.
URLLENGTH_LIMIT = 2083
# Bytes of a body, also once decompressed.
DOWNLOAD_MAXSIZE = 10_000_000
# Bytes of a document, also once decompressed.
LSWC_MAX_DOCUMENT = 20_000_000
# Seconds from a request to the last byte of its answer.
DOWNLOAD_TIMEOUT = 60
# Whether a page that was cut short is an error. If not, it is read as far as it came.
DOWNLOAD_FAIL_ON_DATALOSS = False
# Redirects in a row.
REDIRECT_MAX_TIMES = 10
# Whether the browser has its sandbox, which root, and most containers, can't give it.
LSWC_BROWSER_SANDBOX = True
# Pages of a server; a first folder may have a quarter of them, or 25,000 if that is more. The
# default of this and of the next three is another for some languages (safety.md#quotas).
LSWC_MAX_SERVER_PAGES = 100_000
# Bytes that are received of a server.
LSWC_MAX_SERVER_BYTES = 100_000_000_000
# Pages of a registered domain.
LSWC_MAX_DOMAIN_PAGES = 1_000_000
# Bytes that are received of a registered domain.
LSWC_MAX_DOMAIN_BYTES = 1_000_000_000_000
# URLs of a server that are pending at once; of a registered domain ten times as many. Beyond it
# the worst are discarded, by the strategy's order; another page may offer them again.
LSWC_MAX_WAITING_PER_SERVER = 100_000
# Sites with pending URLs for which nobody but one other site vouches; a tenth of them may come by
# one site. Beyond it links to further ones are discarded; another page may offer them again.
LSWC_MAX_UNPROVEN_SITES = 200_000
# Near-duplicates in a row: of a directory so many, of a server twice, of a registered domain four
# times as many.
LSWC_MAX_DUPLICATES = 30
# Whether a site of several names, and a page that names another URL of its own, are collected once
# (safety.md#one-site-once).
LSWC_TWINS = True

# What Scrapy does otherwise: leave these as they are

BOT_NAME = "lswc"
# Spiders; those of yours go into the second (`scrapy genspider`).
SPIDER_MODULES = ["lswc.crawl.spider", "lswc.crawl.spiders"]
NEWSPIDER_MODULE = "lswc.crawl.spiders"
COMMANDS_MODULE = "lswc.cli.commands"
# Each fact of a page has a middleware of its own. A page comes from the spider, so it meets that of
# 1040 first: the status of its server, its distance, its top-level domain, then the strategy. What
# you give in this setting, or in the next three, is added (extend.md).
SPIDER_MIDDLEWARES = {
    "lswc.crawl.middlewares.VisitGuardMiddleware": 10,
    "lswc.crawl.middlewares.StrategyMiddleware": 1010,
    "lswc.crawl.middlewares.LinkLanguageMiddleware": 1020,
    "lswc.crawl.middlewares.ReferrerDistanceMiddleware": 1030,
    "lswc.crawl.middlewares.ServerRelevanceMiddleware": 1040,
}
# Between Scrapy's own: the guest says whether and when a server may be asked (robots.txt, delays).
DOWNLOADER_MIDDLEWARES = {
    "lswc.crawl.guest_middleware.RetryMiddleware": 550,
    "lswc.crawl.guest_middleware.RedirectMiddleware": 585,  # of a body that is unpacked
    "lswc.crawl.transport.refused.CompressionMiddleware": 590,
    "lswc.crawl.transport.refused.RefusalMiddleware": 870,
    "lswc.crawl.guest_middleware.GuestMiddleware": 880,
    "lswc.crawl.recrawl.RecrawlMiddleware": 890,
}
# A page that reaches the last one is recorded.
ITEM_PIPELINES = {
    "lswc.crawl.middlewares.EntryPipeline": 0,
    "lswc.crawl.middlewares.RecordPipeline": 1000,
}
# What shows a crawl, and ends it.
EXTENSIONS = {
    "lswc.monitor.terminal_line.TerminalLine": 500,
    "lswc.monitor.recorder.Recorder": 500,
    "lswc.monitor.end_notice.EndNotice": 600,
    "lswc.monitor.metrics.MetricsExtension": 500,
    "lswc.crawl.ends.HarvestStopExtension": 500,
    "lswc.seeds.seeds_folder.SeedsFolderExtension": 500,
}
# What else each request says: in which language is up to LSWC_ACCEPT_LANGUAGE.
DEFAULT_REQUEST_HEADERS = {
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
}
# Formats no line that isn't shown: Scrapy's has two for every page.
LOG_FORMATTER = "lswc.monitor.log_formatter.ShownFormatter"
# Passes on only the addresses that may be asked, or those of a frozen web.
TWISTED_DNS_RESOLVER = "lswc.crawl.transport.resolver.Resolver"
# Names looked up at a time; a slow one keeps no other waiting.
REACTOR_THREADPOOL_MAXSIZE = 64
# A page is one item; more at a time only cost tasks.
CONCURRENT_ITEMS = 1
# A proxy connects where it likes, and round the resolver of LSWC_WEB too.
HTTPPROXY_ENABLED = False
# A page that refreshes itself is a page: it is recorded, and its target is one of its links.
METAREFRESH_ENABLED = False
LOG_LEVEL = "INFO"
# How every request ended is in the summary.
RETRY_GIVE_UP_LOG_LEVEL = "INFO"
