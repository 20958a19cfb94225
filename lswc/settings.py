"""Defaults of the project. A profile in ``settings_profiles/`` overrides them, ``-s`` both."""

from lswc import __version__

BOT_NAME = "lswc"
SPIDER_MODULES = ["lswc.crawler.spider"]
COMMANDS_MODULE = "lswc.commands"
ADDONS = {"lswc.crawler.profiles.ProfileAddon": 0}

# What is collected, and how; -s LSWC_PROFILE=name chooses a file of settings_profiles/.
LSWC_PROFILE = "server_aggressive_t10"
# How a page's language is told; LSWC_UNKNOWN says what counts if it can't be: "guess" (the
# referrer's language), "irrelevant", or "strategy" (as the strategy's paper does it).
LSWC_IDENTIFIER = "auto"
LSWC_MIN_SHARE = 0.15  # of a page's text in the language; docs/languages.md says why
# Pages that count as relevant: those that "contain" the language, with the share above, or only
# those in which it "leads".
LSWC_RELEVANT = "contains"
LSWC_UNKNOWN = "strategy"
# Folder of your own languages: <code>.toml, tables/, seeds/<code>.txt.
LSWC_LANGUAGES = ""
# Only these domains and their subdomains, if any are given.
LSWC_ALLOWED_DOMAINS: list[str] = []
# Who crawls: a URL or an e-mail address, sent with every request. The real web needs one.
LSWC_CONTACT = ""
# Folder of the crawl, crawls/<lang> if empty; the same folder resumes the crawl.
LSWC_CRAWL = ""
# Folder of a frozen web to crawl instead of the real one, or "demo".
LSWC_WEB = ""
# "sqlite" (in the crawl's folder), ":memory:", or "redis://host:6379/0" for many workers,
# each with a folder of its own.
LSWC_FRONTIER = "sqlite"
# With Redis: the crawl's name, lswc:<lang> if empty; and after how long a dead worker's URLs
# are given to others. Seeds pushed to <name>:start_urls (or REDIS_START_URLS_KEY) are taken.
LSWC_REDIS_KEY = ""
LSWC_LEASE_SECONDS = 60

# What goes into WARC files: "relevant" pages (with the redirects and errors that their links
# lead to), "all", or "none"; a file is closed once it has LSWC_WARC_SIZE bytes.
LSWC_ARCHIVE = "relevant"
LSWC_WARC_SIZE = 1_000_000_000
# Folders of earlier crawls, the latest first: what they stored is only sent if it has changed.
LSWC_RECRAWL: list[str] = []

SCHEDULER = "lswc.crawler.scheduler.TierScheduler"
SPIDER_MIDDLEWARES = {
    "lswc.crawler.middlewares.LeaseGuardMiddleware": 10,
    "lswc.crawler.middlewares.StrategyMiddleware": 1010,
    "lswc.crawler.middlewares.LinkLanguageMiddleware": 1020,
    "lswc.crawler.middlewares.ReferrerDistanceMiddleware": 1030,
    "lswc.crawler.middlewares.ServerRelevanceMiddleware": 1040,
    # Links become requests in the scheduler only: what these did, the scope does before.
    "scrapy.spidermiddlewares.depth.DepthMiddleware": None,
    "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware": None,
}
ITEM_PIPELINES = {"lswc.crawler.pipeline.RecordPipeline": 1000}
EXTENSIONS = {
    "lswc.crawler.transport.early_stop.ContentExtension": 500,
    "lswc.crawler.summary.SummaryExtension": 500,
    "lswc.crawler.progress.ProgressExtension": 500,
    "scrapy.extensions.logstats.LogStats": None,  # ProgressExtension says more
}
TWISTED_DNS_RESOLVER = "lswc.crawler.transport.resolver.Resolver"
REACTOR_THREADPOOL_MAXSIZE = 64  # names looked up at a time; a slow one keeps no other waiting

# Safety; docs/safety.md says more of each limit. Off at 0, or if empty.
# Networks allowed besides the public internet, such as 10.1.0.0/16.
LSWC_ALLOWED_NETWORKS: list[str] = []
LSWC_ALLOWED_PORTS = [80, 81, 443, 8000, 8008, 8080, 8081, 8088, 8443, 8888]
LSWC_MAX_HEADERS_SIZE = 65_536
DOWNLOAD_MAXSIZE = 10_000_000
DOWNLOAD_WARNSIZE = 0
DOWNLOAD_TIMEOUT = 60  # seconds, the body included
DOWNLOAD_FAIL_ON_DATALOSS = False  # a page cut short is a page
REDIRECT_MAX_TIMES = 10
# Of a page that is read: bytes, tags in them, links; elements within one another, and attributes
# and bytes of a tag. Much more would hold the parser for seconds.
LSWC_MAX_PAGE_SIZE = 524_288
LSWC_MAX_TAGS = 12_000
LSWC_MAX_LINKS = 3_000
LSWC_MAX_NESTING = 200
LSWC_MAX_ATTRIBUTES = 4_000
LSWC_MAX_TAG_SIZE = 8_000
LSWC_MAX_WORDS = 4_000  # different ones of a large page: they may be attributes
LSWC_MAX_SERVER_PAGES = 100_000
LSWC_MAX_DIRECTORY_PAGES = 25_000
LSWC_MAX_DUPLICATES = 30  # in a row, of a directory; of a server twice as many
LSWC_MAX_TIMEOUTS = 40  # in a row, of all servers of a registered domain
LSWC_MAX_PATH_SEGMENTS = 24
LSWC_MAX_REPEATS = 3  # of a segment in a path, or of a name in a query
LSWC_MAX_PARAMETERS = 12
URLLENGTH_LIMIT = 2083

# lswc/<version> (+<contact>), unless given.
USER_AGENT = f"lswc/{__version__}"
ROBOTSTXT_OBEY = True
ROBOTSTXT_USER_AGENT = "lswc"
# Which of nofollow, noindex, noarchive are obeyed in META robots and X-Robots-Tag.
LSWC_ROBOTS_META = ["nofollow"]
# A server that asks for more seconds between pages, or before a retry, is left alone.
LSWC_MAX_CRAWL_DELAY = 300
LSWC_MAX_RETRY_AFTER = 3600
# A server rests as many times as long as it took to answer, or not to; not if DOWNLOAD_DELAY is 0.
LSWC_DELAY_FACTOR = 5
DOWNLOADER_MIDDLEWARES = {
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "lswc.crawler.politeness.RobotsMiddleware": 100,
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,
    "lswc.crawler.transport.compression.CompressionMiddleware": 590,
    "lswc.crawler.politeness.TwinMiddleware": 540,  # after the retries
    "lswc.crawler.politeness.RetryMiddleware": 550,
    "lswc.crawler.transport.refused.RefusalMiddleware": 870,
    "lswc.crawler.politeness.DelayMiddleware": 880,
    "lswc.crawler.recrawl.RecrawlMiddleware": 890,
}
# Per server, as long as the crawl lasts: one request at a time, a second between two.
DOWNLOAD_DELAY = 1.0
DOWNLOAD_DELAY_JITTER = 0
CONCURRENT_REQUESTS_PER_DOMAIN = 1
CONCURRENT_REQUESTS = 32
CONCURRENT_ITEMS = 1  # a page is one item; more only cost tasks
COOKIES_ENABLED = False
HTTPPROXY_ENABLED = False  # a proxy connects where it likes, round LSWC_WEB's resolver too
# A page that refreshes itself is a page: it is recorded, and its target is one of its links.
METAREFRESH_ENABLED = False
# A crawled page may link to anything; only http and https are ever fetched.
DOWNLOAD_HANDLERS = {
    "http": "lswc.crawler.transport.capture.AttemptHandler",
    "https": "lswc.crawler.transport.capture.AttemptHandler",
    "data": None,
    "file": None,
    "ftp": None,
    "s3": None,
}
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
LOG_LEVEL = "INFO"
RETRY_GIVE_UP_LOG_LEVEL = "INFO"  # how every request ended is in the summary
