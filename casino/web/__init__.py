"""The web server and what happens to a request before and after Django: pools, limits, slow clients, logs, streams."""
