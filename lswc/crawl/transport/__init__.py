"""Transport: how a request gets to a server and its answer back, with bounds on both."""
