"""Removes secrets from all logs: the tokens in URLs of player pages, placards and enrolment links, and API tokens
anywhere."""

import logging
import re
from typing import Any

SECRET = re.compile(r"(/(?:seat|enrol|placard/pit|placard)/)[^/\s?\"']+", re.IGNORECASE)
TOKEN = re.compile(r"(casino_)[0-9A-Za-z]{20,}")


def redacted(text: str) -> str:
    return TOKEN.sub(r"\1***", SECRET.sub(r"\1***", text))


def install() -> None:
    """Redact each log record when it is created, because the server's own loggers have handlers of their own."""
    make = logging.getLogRecordFactory()
    if getattr(make, "redacts", False):
        return

    def redacting(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = make(*args, **kwargs)
        if isinstance(record.args, tuple) and record.args:
            record.args = tuple(map(_argument, record.args))
        elif isinstance(record.msg, str):
            record.msg = redacted(record.msg)
        return record

    redacting.redacts = True  # type: ignore[attr-defined]
    logging.setLogRecordFactory(redacting)


def _argument(value: object) -> object:
    """Redact text and errors that may quote it; numbers stay numbers, for formats such as %d."""
    if not isinstance(value, str | BaseException):
        return value
    text = str(value)
    clean = redacted(text)
    return value if clean == text else clean
