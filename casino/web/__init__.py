"""The web server and the processing of a request around Django: pools, limits, slow clients, logs, streams."""
