"""Defaults of the project. A profile in ``settings_profiles/`` overrides them, ``-s`` both.

The comment above a setting is its sentence in docs/settings.md, which
``python -m lswc.cli.reference docs`` makes from this file; a comment with a blank
line below it begins a section there.
"""

from lswc import __version__

# The crawl: what is collected, and where it is kept

# The profile: a file in settings_profiles/, which sets any of these settings. You may name several,
# as in `bfs,as_in_the_paper`. Then the later one wins (strategies.md#as-in-the-paper).
LSWC_PROFILE = "adaptive"
# The rule that decides what is fetched next, with its parameters: `lswc:S=5,T=3`. Every profile
# sets one.
LSWC_STRATEGY = ""
# What counts for the strategy `adaptive`. `pages`: each relevant page counts 1. `text`: each page
# counts as much as the new clean text that it brings, up to 1 (strategies.md#clean-text).
LSWC_VALUE = "pages"
# The method that finds the language of a page (languages.md).
LSWC_IDENTIFIER = "auto"
# The share of a page's text that must be in the language, from 0 to 1
# (languages.md#when-a-page-is-relevant).
LSWC_MIN_SHARE = 0.15
# Which pages are relevant: those that contain the language with that share (`contains`), or only
# those in which it leads (`leads`).
LSWC_RELEVANT = "contains"
# What pages count as that say that a program translated them: `relevant` or `irrelevant`
# (corpus.md#machine-translation).
LSWC_MACHINE_TRANSLATED = "relevant"
# What becomes of sites that machines seem to have written (corpus.md#sites-that-machines-wrote).
# `keep`: they are as others, and told of. `last`: their URLs wait until no others are left. `drop`:
# nothing more of them is fetched.
LSWC_GENERATED = "keep"
# The folder of your own languages: `<code>.toml`, `seeds/<code>.txt` and `tables/`.
LSWC_LANGUAGES = ""
# What a page counts as if its language isn't known. `guess`: as the page that links to it.
# `irrelevant`. `strategy`: as in the strategy's paper.
LSWC_UNKNOWN = "strategy"
# At 1, the crawl takes a URL only when the one before is finished and every server has rested. That
# is the order of the papers and of the simulator. Not with Redis.
LSWC_IN_ORDER = 0
# The share of the requests for unproven sites while others wait, from 0 to 1 (safety.md#farms). At
# 1 all sites are alike.
LSWC_UNPROVEN_SHARE = 0.25
# Time against downloads, from 0 to 1. It is the share of requests for unlikely URLs while likelier
# ones wait for busy servers. At 0 connections wait, at 1 they never do
# (strategies.md#hours-and-downloads).
LSWC_HASTE = 0.1
# The crawl ends when the next pages should bring a smaller share of relevant ones, and the last
# 1,000 requests of each worker brought no more. At 0 it goes on until no URL is left. The profile
# adaptive has 0.01.
LSWC_STOP_HARVEST = 0.0
# What a new crawl with a learned order begins with. Empty: what links led to on other webs. A
# crawl's folder, or redis://host:6379/0#key: what that crawl learned. A table of `lswc
# learn-order`. `none`: nothing (strategies.md#what-other-webs-taught).
LSWC_EXPERIENCE = ""
# If given, only these domains and their subdomains are crawled.
LSWC_ALLOWED_DOMAINS: list[str] = []
# If given, only URLs that match one of these patterns are crawled: `path:/news/*`,
# `host:*.example.com`, `example.com/a/*`, or a regular expression, `query~(^|&)id=`
# (safety.md#patterns).
LSWC_INCLUDE: list[str] = []
# URLs that match one of these patterns are left out, and so is what archived pages need there.
LSWC_EXCLUDE: list[str] = []
# The crawl's folder; `crawls/<lang>` if empty. The same folder goes on with the same crawl.
LSWC_CRAWL = ""
# The folder of a frozen web to crawl instead of the real one; or `demo`; or `changing`, the demo
# web with pages that change.
LSWC_WEB = ""
# What goes into WARC files: `relevant` pages with the redirects and errors that their links lead
# to, `all`, or `none`.
LSWC_ARCHIVE = "relevant"
# Whether the crawl also archives what archived pages need to look right: images, style sheets,
# scripts, fonts, frames, from any host. `all`, `none`, or their share of the requests from 0 to 1.
# With `all` it is 0.09, and more while no page is being fetched.
LSWC_REQUISITES = "all"
# Whether the crawl reads the sitemaps of servers that gave a relevant page, and the feeds (RSS,
# Atom, JSON) that relevant pages name. What they name counts as a link of a relevant page.
LSWC_SITEMAPS = False
# Whether a browser shows pages that are empty until their scripts run (browser.md): `off`, `auto`
# with the system's Chromium, or the path of one. The crawl reads such a page as it is shown.
LSWC_BROWSER = "off"
# Which further pages the browser shows: none (`shells`), those that URL patterns name, such as
# `host:*.example.co.th`, or archived ones: a share, such as 0.1, or `all`. What their scripts ask
# for is archived then.
LSWC_BROWSER_PAGES: list[str] = ["shells"]
# The share of the pages that the browser may show in vain, and 20 pages more. A page that turns out
# to be relevant, and like no other, isn't counted. At 1 there is no bound.
LSWC_BROWSER_SHARE = 0.05
# How many pages of a registered domain the browser shows in vain, and as many more as brought
# something. What is left is shown once there is room for it.
LSWC_BROWSER_TRIES = 5
# Whether a page that shows nothing but a question of age or consent is answered by one press of the
# button that agrees. The crawl never writes into a field.
LSWC_BROWSER_PRESS = False
# Whether documents are collected as pages are: PDF, Word, PowerPoint, Excel, OpenDocument, EPUB,
# RTF, plain text and CSV. At 0 URLs with such names aren't fetched.
LSWC_DOCUMENTS = True
# Bytes of documents that are archived though their language isn't known, because a relevant page
# links to them: scans, encrypted and damaged files, older formats. At 0 none are.
LSWC_LINKED_DOCUMENTS = 10_000_000_000
# Media types of linked files that are archived too, such as `image/*,audio/*,video/*`, or `*/*` for
# all. A linked file is what an archived page links to and is no page. With LSWC_ARCHIVE=all every
# type is archived.
LSWC_ARCHIVE_FILES: list[str] = []
# Bytes after which such a file is cut.
LSWC_MAX_FILE = 20_000_000
# Whether the crawl keeps an index of its pages, by which `lswc watch` lists and searches them
# (watch.md#pages).
LSWC_PAGE_INDEX = True
# Who runs the crawl, such as `National Library of Example`: the `operator` in WARC files.
LSWC_OPERATOR = ""
# What the crawl is for: the `description` in WARC files, and in a WACZ file.
LSWC_DESCRIPTION = ""
# Bytes after which a WARC file is closed and the next one begins. After a quarter of them
# pages.jsonl becomes a part, `pages-00001.jsonl.gz`.
LSWC_WARC_SIZE = 1_000_000_000
# The folders of earlier crawls, the latest first. The crawl asks servers only for what has changed
# since.
LSWC_RECRAWL: list[str] = []
# Visits a day to each relevant page, on average: more to pages that change or lead to new ones. The
# crawl then goes on until you stop it (continuous.md). At 0 pages are visited once.
LSWC_REVISIT = 0.0

# Processes that read pages. `cores`: as many as the machine has besides the crawl's own, at most 2.
# 0: the crawl reads them itself (lab/performance.md).
LSWC_READERS = "cores"

# What goes wrong

# Seconds that a URL waits after each failure before it is tried again. Without numbers it is
# finished at once. Failures are: no address, no connection, no answer in time, status 429 or 5xx,
# no robots.txt.
LSWC_TRY_AGAIN = [60, 600, 7_200, 86_400]
# At 1, a crawl that goes on tries once more the URLs that failed.
LSWC_RETRY_FAILED = False
# The crawl pauses while the disk of its folder has fewer free bytes. At 0 it goes on until the disk
# is full.
LSWC_MIN_DISK = 500_000_000
# Seconds that a crawl waits for its own network. Then it ends, with exit code 3. At 0 it waits
# without end.
LSWC_MAX_OFFLINE = 86_400

# One crawl, many workers

# Where the frontier is: `sqlite` (in the crawl's folder), `:memory:`, or a Redis through which
# several workers share a crawl (workers.md): `redis://host:6379/0`, also `rediss://`, `unix://`,
# `redis+cluster://a:6379,b:6379/` and `redis+sentinel://a:26379,b:26379/name/0`.
LSWC_FRONTIER = "sqlite"
# With Redis: the crawl's name; `lswc:<lang>` if empty. The crawl takes seeds from
# `<name>:start_urls`, or from REDIS_START_URLS_KEY. REDIS_PARAMS are more arguments of redis-py's
# client.
LSWC_REDIS_KEY = ""

# To watch it

# Where this process answers Prometheus (/metrics) and container engines (/health), such as
# `127.0.0.1:9410`. Port 0 takes a free one, which the log names. Empty: nowhere.
LSWC_METRICS = ""

# Who gets the summary as JSON when a crawl ends: a command, run without a shell, such as `mail -s
# "the crawl" me@library.example`; or a web address (operations.md#how-it-ends).
LSWC_ON_END = ""
# Settings that a job of scrapyd may give although they run something, or name a place outside
# scrapyd's folder: `LSWC_ON_END`, classes, modules. Only the project's own settings can allow it
# (safety.md#who-may-run-something).
LSWC_JOBS_MAY: list[str] = []

# A good guest

# Who crawls: the URL of a page about the crawl, or an e-mail address. Every request has it, in the
# User-Agent. The real web isn't crawled without one.
LSWC_CONTACT = ""
# The name that servers see. (+<contact>) is added, unless you set your own name.
USER_AGENT = f"lswc/{__version__}"
# Whether robots.txt is obeyed (RFC 9309).
ROBOTSTXT_OBEY = True
# The languages that requests ask for (Accept-Language), such as `th, en;q=0.5`. Empty: the crawl's
# language, else any other.
LSWC_ACCEPT_LANGUAGE = ""
# The crawler's name in robots.txt: one word of letters, digits and signs such as `-`, `_` and `.`.
ROBOTSTXT_USER_AGENT = "lswc"
# Which of `nofollow`, `noindex` and `noarchive` are obeyed, in META robots and X-Robots-Tag.
LSWC_ROBOTS_META = ["nofollow"]
# What follows if a page says that its text must not be mined (safety.md#opt-outs). `record`: it is
# recorded. `skip-corpus`: the page isn't in the corpus. `skip-archive`: it isn't in the archive
# either. `record-pages`: as `record`, but no server is asked for its tdmrep.json.
LSWC_OPT_OUT = "skip-corpus"
# Seconds that a server rests after an answer.
DOWNLOAD_DELAY = 1.0
# Rests have no random part: a server's own reasons make them longer.
DOWNLOAD_DELAY_JITTER = 0
# A server rests so many times as long as it took to answer. Not if DOWNLOAD_DELAY is 0.
LSWC_DELAY_FACTOR = 5
# Seconds that a server rests after 429 or 503 without Retry-After; twice as long each further time,
# up to a day, also after a restart. Not if DOWNLOAD_DELAY is 0.
LSWC_BACKOFF = 60
# Seconds of Crawl-delay from which on a server is left alone.
LSWC_MAX_CRAWL_DELAY = 300
# Requests at a time, to all servers together.
CONCURRENT_REQUESTS = 32
# Requests at a time to one IP address, with a rest of DOWNLOAD_DELAY after each. Content networks
# get more (safety.md#politeness). 0: any number.
LSWC_MAX_PER_ADDRESS = 2
# Requests at a time to the servers of a registered domain. 0: any number.
LSWC_MAX_PER_DOMAIN = 4
# Requests at a time to one server. More are never sent.
CONCURRENT_REQUESTS_PER_DOMAIN = 1

# Whether a server gets its own cookies back if it shows its pages only then (safety.md#cookies). No
# other cookie is ever sent.
COOKIES_ENABLED = True

# Safety: off at 0, or if empty

# Networks that may be crawled besides the public internet, such as `10.1.0.0/16`.
LSWC_ALLOWED_NETWORKS: list[str] = []
# Ports that may be used.
LSWC_ALLOWED_PORTS = [80, 81, 443, 8000, 8008, 8080, 8081, 8088, 8443, 8888]
# Characters of a URL.
URLLENGTH_LIMIT = 2083
# Bytes of an answer's body, also after it is decompressed.
DOWNLOAD_MAXSIZE = 10_000_000
# Bytes of a document, also after it is decompressed.
LSWC_MAX_DOCUMENT = 20_000_000
# Seconds from a request to the last byte of its answer.
DOWNLOAD_TIMEOUT = 60
# Whether a page that was cut short is an error. If not, it is read as far as it came.
DOWNLOAD_FAIL_ON_DATALOSS = False
# Redirects in a row.
REDIRECT_MAX_TIMES = 10
# Whether the browser has its sandbox, which root, and most containers, can't give it.
LSWC_BROWSER_SANDBOX = True
# Pages of a server; of one first folder a quarter of them, or 25,000 if that is more. This and the
# next three settings have other defaults for some languages (safety.md#quotas).
LSWC_MAX_SERVER_PAGES = 100_000
# Bytes that a server may send.
LSWC_MAX_SERVER_BYTES = 100_000_000_000
# Pages of a registered domain.
LSWC_MAX_DOMAIN_PAGES = 1_000_000
# Bytes that a registered domain may send.
LSWC_MAX_DOMAIN_BYTES = 1_000_000_000_000
# URLs of a server that are pending at once; ten times as many of a registered domain. More are
# discarded, the worst first. Another page may offer them again.
LSWC_MAX_WAITING_PER_SERVER = 100_000
# Unproven sites with pending URLs (safety.md#farms), a tenth of them of one family.
# Links to more sites are discarded. Another page may offer them again.
LSWC_MAX_UNPROVEN_SITES = 200_000
# Near-duplicates in a row after which a directory is left alone; twice as many for a server, four
# times for a registered domain.
LSWC_MAX_DUPLICATES = 30
# Whether sites with several names, and pages with several URLs, are collected once
# (safety.md#one-site-once).
LSWC_TWINS = True

# What Scrapy does otherwise: leave these as they are

BOT_NAME = "lswc"
# Where spiders are; yours go into the second (`scrapy genspider`).
SPIDER_MODULES = ["lswc.crawl.spider", "lswc.crawl.spiders"]
NEWSPIDER_MODULE = "lswc.crawl.spiders"
COMMANDS_MODULE = "lswc.cli.commands"
# Each fact of a page has its own middleware. A page meets 1040 first: the status of its server,
# then its distance, its top-level domain, and the strategy. What you give in this setting or in the
# next three is added (extend.md).
SPIDER_MIDDLEWARES = {
    "lswc.crawl.middlewares.VisitGuardMiddleware": 10,
    "lswc.crawl.middlewares.StrategyMiddleware": 1010,
    "lswc.crawl.middlewares.LinkLanguageMiddleware": 1020,
    "lswc.crawl.middlewares.ReferrerDistanceMiddleware": 1030,
    "lswc.crawl.middlewares.ServerRelevanceMiddleware": 1040,
}
# They stand between Scrapy's own. The guest decides whether and when a server may be asked
# (robots.txt, delays).
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
# They show a crawl, and end it.
EXTENSIONS = {
    "lswc.monitor.terminal_line.TerminalLine": 500,
    "lswc.monitor.recorder.Recorder": 500,
    "lswc.monitor.end_notice.EndNotice": 600,
    "lswc.monitor.metrics.MetricsExtension": 500,
    "lswc.crawl.ends.HarvestStopExtension": 500,
    "lswc.seeds.seeds_folder.SeedsFolderExtension": 500,
}
# What each request says besides; LSWC_ACCEPT_LANGUAGE says in which language.
DEFAULT_REQUEST_HEADERS = {
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
}
# It formats only lines that are shown: Scrapy's own formats two for every page.
LOG_FORMATTER = "lswc.monitor.log_formatter.ShownFormatter"
# It gives only addresses that may be crawled, or those of a frozen web.
TWISTED_DNS_RESOLVER = "lswc.crawl.transport.resolver.Resolver"
# Names that are looked up at a time, so that a slow one holds up no other.
REACTOR_THREADPOOL_MAXSIZE = 64
# A page is one item. More at a time bring nothing.
CONCURRENT_ITEMS = 1
# Whether a proxy may be used. A proxy connects wherever it wants, also past LSWC_WEB.
HTTPPROXY_ENABLED = False
# Whether Scrapy follows a page that refreshes itself. lswc records such a page, and its target is
# one of its links.
METAREFRESH_ENABLED = False
LOG_LEVEL = "INFO"
# The summary has how every request ended.
RETRY_GIVE_UP_LOG_LEVEL = "INFO"
