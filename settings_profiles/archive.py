"""As slow as the papers' crawls: at most 30 servers at a time, 1-2 minutes between two pages."""

LSWC_STRATEGY = "server_aggressive:T=10"
CONCURRENT_REQUESTS = 30
DOWNLOAD_DELAY = 90.0
LSWC_SITEMAPS = 1
LSWC_ARCHIVE_FILES = ["image/*", "audio/*", "video/*", "application/*"]
