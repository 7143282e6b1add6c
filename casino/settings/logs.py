"""Log lines, without secrets, and the access log."""

from casino.environment import choice
from casino.settings.base import DEMO, env
from casino.web import redaction

redaction.install()
PLAIN = {"()": "casino.ops.log_lines.Text", "fmt": "{asctime} {levelname} {name}: {message}", "style": "{"}
# Text for people, or lines of JSON for programs.
LOG_FORMAT = env("LOG_FORMAT", choice("text", "json"), "text" if DEMO else "json")
LOG_LEVEL = env("LOG_LEVEL", choice("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"), "INFO")
# The access log as lines of JSON: in a file of its own, which may be rotated, or in the general log.
ACCESS_LOG = env.str("ACCESS_LOG", "")
ACCESS_FILE = {"class": "logging.handlers.WatchedFileHandler", "filename": ACCESS_LOG, "delay": True}
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": PLAIN if LOG_FORMAT == "text" else {"()": "casino.ops.log_lines.Json"},
        "bare": {"format": "%(message)s"},
    },
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": "plain"},
        "access": {**(ACCESS_FILE if ACCESS_LOG else {"class": "logging.StreamHandler"}), "formatter": "bare"},
    },
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    "loggers": {
        "django.server": {"handlers": ["stderr"], "propagate": False},
        "httpx": {"level": "WARNING"},  # it logs whole addresses, and those of webhooks may have a secret in them
        "casino.access": {"handlers": ["access"], "level": "INFO", "propagate": False},
    },
}
