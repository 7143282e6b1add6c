"""The permanent name of a slip: its series, its calendar year, and its number within both."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_SPELLED: Final = re.compile(r"([a-z]{1,16})/([1-9][0-9]{3})/([1-9][0-9]{0,8})")
"""Each name has one spelling: no leading zeros and no digits of other scripts, which ``int`` would accept."""


class NotASlipName(ValueError):
    """A text that is not the name of a slip."""


@dataclass(frozen=True, slots=True, order=True)
class SlipName:
    """The name of a slip. The log, URLs and forms write it as ``fill/2026/3``."""

    series: str
    year: int
    number: int

    def __str__(self) -> str:
        return f"{self.series}/{self.year}/{self.number}"

    @classmethod
    def parse(cls, text: str) -> SlipName:
        """The slip name in a text. Raises NotASlipName."""
        spelled = _SPELLED.fullmatch(text)
        if spelled is None:
            raise NotASlipName(f"{text!r} names no slip: a name is its series, its year and its number, as fill/2026/3")
        return cls(spelled[1], int(spelled[2]), int(spelled[3]))

    @property
    def run(self) -> str:
        """The gapless run of numbers that it belongs to: "fill/2026"."""
        return f"{self.series}/{self.year}"


def series_in(text: str) -> str:
    """The series in a slip's name, or the text itself if the slip has no number yet."""
    try:
        return SlipName.parse(text).series
    except NotASlipName:
        return text
