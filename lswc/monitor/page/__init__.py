"""A page in the browser that shows a crawl, and says things to it: a process of its own."""
