"""The frontier of one worker in a SQLite file: its URLs, servers, and what is next."""
