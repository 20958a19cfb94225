"""Lab: traces, simulation, synthetic webs, analyses and methods; no crawl imports it."""
