"""A witness outside, as a house's terms name it: its key, its address, and whether it is shown the heads. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from ledger.proof.note import COSIGNATURE, BadNote, VerifierKey

SHOWN_HEADS: Final = "heads"
LONGEST: Final = 300


@dataclass(frozen=True, slots=True)
class Witness:
    """A witness as a term of the house names it: its key, where it answers, and what it is shown."""

    key: VerifierKey
    address: str
    """Without a slash at its end: what is asked for is added to it."""
    shows_heads: bool
    """Whether the witness receives the head of each log, so that it can name missing logs and entries."""

    @property
    def name(self) -> str:
        return self.key.name

    @classmethod
    def parse(cls, text: str) -> Witness:
        """Parse the policy text of a witness. Raises ValueError with a sentence."""
        words = text.split()
        if len(words) not in (2, 3) or words[2:] not in ([], [SHOWN_HEADS]):
            raise ValueError("A witness is its verifier key and its address, and the word heads if it is shown those.")
        key = VerifierKey.parse(words[0])
        if key.type != COSIGNATURE:
            raise BadNote(f"The key of {key.name} is not a witness's: its type is {key.type}, and not {COSIGNATURE}.")
        try:
            address = urlsplit(words[1])
            is_whole = address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
        except ValueError:
            is_whole = False
        if not is_whole or address.query or address.fragment or address.username:
            raise ValueError("A witness's address is https://HOST, with a path at most; or http in a closed network.")
        return cls(key, words[1].rstrip("/"), len(words) == 3)


def fault(text: str) -> str:
    """The fault in the policy text of a witness; empty if there is none."""
    try:
        Witness.parse(text)
    except ValueError as wrong:
        return str(wrong)
    return ""
