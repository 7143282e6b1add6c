"""Formats log records: text for people, or lines of JSON for programs. Both include the request id and exclude
secrets."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

from casino.web import request_ids
from casino.web.redaction import redacted


class Text(logging.Formatter):
    """The text of a record with its traceback, and the request id, if there is one."""

    def format(self, record: logging.LogRecord) -> str:
        request = request_ids.current.get()
        return redacted(super().format(record)) + (f" [{request}]" if request else "")


class Json(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if request := request_ids.current.get():
            line["request"] = request
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return redacted(json.dumps(line))
