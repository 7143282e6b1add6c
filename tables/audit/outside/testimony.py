"""A witness's records about a site: read from its file, its HTTP answer, or a checkpoint that was kept.

Pure: an auditor's machine without this project verifies with the standard library's HTTP client.
"""

from __future__ import annotations

import http.client
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final
from urllib.parse import quote, urlsplit

from ledger.proof.note import BadNote, Note, VerifierKey
from tables.audit.outside.witness_file import BadFile, Record, cosigned, records

PATIENCE_SECONDS: Final = 10
LONGEST_NOTE: Final = 100_000


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a witness's records: a file, or the witness's address."""

    place: str
    keys: tuple[VerifierKey, ...]
    """The witness's keys, obtained independently of the bundle."""

    @contextmanager
    def records(self, origins: Iterable[str]) -> Iterator[Iterator[Record]]:
        """The witness's records; an address is queried for these trees. Raises BadFile and OSError."""
        if urlsplit(self.place).scheme in ("http", "https"):
            yield (record for origin in origins for record in self._fetched(origin))
            return
        with Path(self.place).open("rb") as file:
            yield _read(file, self.keys)

    def _fetched(self, origin: str) -> Iterator[Record]:
        address = f"{self.place.rstrip('/')}/show?origin={quote(origin, safe='')}"
        try:
            with urllib.request.urlopen(address, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310 -- http(s), looked at above
                yield from records(iter(answer), self.keys)
        except (OSError, http.client.HTTPException) as error:
            raise BadFile(f"{self.place} does not say what it saw of {origin}: {error}") from None


def _read(file: IO[bytes], keys: Sequence[VerifierKey]) -> Iterator[Record]:
    """The records of a witness's file, or the single checkpoint in the file. Raises BadFile."""
    if file.read(1) == b"{":
        file.seek(0)
        # An incomplete line was never acknowledged: the witness may be writing it now.
        yield from records((line for line in file if line.endswith(b"\n")), keys)
        return
    file.seek(0)
    try:
        yield cosigned(Note.parse(file.read(LONGEST_NOTE).decode()), keys)
    except (BadNote, UnicodeDecodeError) as bad:
        raise BadFile(f"It is neither a witness's file nor a checkpoint: {bad}") from None
