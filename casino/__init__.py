"""Wiring only: settings, addresses, the web and Celery entry points, and the embedded servers."""
