"""The project package: settings, URLs, the web and Celery entry points, and the embedded servers."""
