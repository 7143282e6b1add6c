"""Keeps the addresses of seats' pages out of the logs: whoever has one sees a player's cards."""

import logging
import re

TOKEN = re.compile(r"(/seat/)[^/\s?\"']+")


class SeatAddresses(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        text = record.getMessage()
        if "/seat/" in text:
            record.msg, record.args = TOKEN.sub(r"\1…", text), ()
        return True
