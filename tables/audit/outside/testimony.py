"""What a witness says of a house: read from its file, its answer, or a checkpoint that somebody kept. Pure."""

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
    """Where a witness's word is read: a file, or the witness's address."""

    place: str
    keys: tuple[VerifierKey, ...]
    """Those of the witness, as somebody has them from elsewhere."""

    @contextmanager
    def records(self, origins: Iterable[str]) -> Iterator[Iterator[Record]]:
        """What it says; an address is asked for these trees. Raises BadFile, OSError."""
        if urlsplit(self.place).scheme in ("http", "https"):
            yield (record for origin in origins for record in self._asked(origin))
            return
        with Path(self.place).open("rb") as file:
            yield _read(file, self.keys)

    def _asked(self, origin: str) -> Iterator[Record]:
        address = f"{self.place.rstrip('/')}/show?origin={quote(origin, safe='')}"
        try:
            with urllib.request.urlopen(address, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310 -- http(s), looked at above
                yield from records(iter(answer), self.keys)
        except (OSError, http.client.HTTPException) as error:
            raise BadFile(f"{self.place} does not say what it saw of {origin}: {error}") from None


def _read(file: IO[bytes], keys: Sequence[VerifierKey]) -> Iterator[Record]:
    """The records of a witness's file; or the one checkpoint, where the file is that."""
    if file.read(1) == b"{":
        file.seek(0)
        # A line that is not whole was told to nobody: the witness may be writing it now.
        yield from records((line for line in file if line.endswith(b"\n")), keys)
        return
    file.seek(0)
    try:
        yield cosigned(Note.parse(file.read(LONGEST_NOTE).decode()), keys)
    except (BadNote, UnicodeDecodeError) as bad:
        raise BadFile(f"It is neither a witness's file nor a checkpoint: {bad}") from None
