"""The audit bundle: a zip file with a manifest and the parts that it lists. Pure; see docs/audit-bundle.md."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Iterator
from hashlib import sha256
from io import FileIO
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, Final

from ledger.proof.spelling import canonical

FORMATS: Final = ("audit-bundle/1", "audit-bundle/2", "audit-bundle/3", "audit-bundle/4")
"""The versions of the format that a verifier reads.

A bundle has the first if all its entries are of format 1 (see ``ledger/proof/spelling.py``), so that days of that time
are still exported as they were then; the third once the site has terminal keys, which older verifiers do not know; and
the fourth if witnesses saw its days.
"""

MANIFEST: Final = "manifest.json"
KEYS: Final = "keys.jsonl"
ROOTS: Final = "roots.jsonl"
WITNESS: Final = "witness.jsonl"
LONGEST_LINE: Final = 4_000_000
"""A length in characters that no line of a genuine bundle reaches: a bundle of unknown origin is read line by line."""
LEAVES: Final = "leaves/"
MOST_HELD: Final = {KEYS: 8_000_000, ROOTS: 64_000_000, LEAVES: 64_000_000}
"""The maximum size in bytes of parts that a verifier holds in memory, by the start of their names: ten thousand keys, a
day's document for each day of a century, the leaves of a hundred thousand logs. A small compressed part could otherwise
fill a machine's memory, and a site that signs its own leaves may be hostile too."""
MOST_DIRECTORY_BYTES: Final = 4_000_000
"""The maximum size of the zip directory, which is read before anything else: some fifty thousand parts."""
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)


def leaves_part(day: str) -> str:
    """The name of the part with a day's leaves: one document per log."""
    return f"{LEAVES}{day}.jsonl"


def _most_held(name: str) -> int | None:
    return next((most for start, most in MOST_HELD.items() if name.startswith(start)), None)


def book_part(number: int, name: str) -> str:
    """The name of one log's part; ``number`` is the place of its leaf in the last day's tree, from 1."""
    return f"books/{number:04}/{name}.jsonl"


def printable(text: str) -> str:
    """A sentence that quotes a bundle, safe for terminals and databases: control characters and lone surrogates are
    escaped."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


class Wrong(Exception):
    """A failed verification: the part of the bundle, and the fault."""

    def __init__(self, part: str, what: str) -> None:
        self.part = printable(part)
        self.what = printable(what)
        super().__init__(f"{self.part}: {self.what}")


# --- Writing ---------------------------------------------------------------------------------------------------


class Writer:
    """Writes a bundle. Equal content makes equal bytes: fixed order of parts, no times, no host names."""

    def __init__(self, file: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(file, "w")
        self._parts: list[dict[str, Any]] = []
        self.format = FORMATS[0]

    def part(self, name: str, lines: Iterable[bytes]) -> None:
        """Write one part, line by line."""
        digest, size = sha256(), 0
        with self._zip.open(_member(name), "w", force_zip64=True) as file:
            for line in lines:
                whole = line + b"\n"
                digest.update(whole)
                size += len(whole)
                file.write(whole)
        self._parts.append({"name": name, "bytes": size, "sha256": digest.hexdigest()})

    def close(self, first: str, last: str) -> None:
        """Write the manifest, which comes last: the bundle's days, and the size and digest of each part."""
        manifest = {"format": self.format, "from": first, "to": last, "parts": self._parts}
        self._zip.writestr(_member(MANIFEST), canonical(manifest) + b"\n")
        self._zip.close()


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type, info.create_system, info.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
    return info


# --- Reading ---------------------------------------------------------------------------------------------------


class _Bounded(FileIO):
    """A zip file whose directory is read only up to a maximum size: zipfile reads it in one piece of the size that the
    file claims."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > MOST_DIRECTORY_BYTES:
            raise ValueError(f"its directory has {size:,} bytes, and a house's {MOST_DIRECTORY_BYTES:,} at most")
        return super().read(size)


class Bundle:
    """An untrusted bundle: its content counts only after verification. Raises Wrong."""

    def __init__(self, path: Path) -> None:
        try:
            self._file = _Bounded(path)
        except OSError as error:
            raise Wrong(path.name, f"it cannot be opened ({error})") from None
        try:
            self._zip = zipfile.ZipFile(self._file)
        except Exception as error:  # zipfile raises many types for a malformed file
            self._file.close()
            raise Wrong(path.name, f"it is no whole zip file ({error})") from None
        self._open: set[IO[bytes]] = set()
        self._were_read: set[str] = set()
        try:
            self._take_in()
        except Wrong:
            self.close()
            raise

    def _take_in(self) -> None:
        names = sorted(self._zip.namelist())
        # Tools differ in which of two members of one name they read, so one bundle could show two contents.
        if twice := next((name for name, after in pairwise(names) if name == after), None):
            raise Wrong(twice, "is in the bundle twice")
        self.manifest = self._manifest()
        self.days = (str(self.manifest["from"]), str(self.manifest["to"]))
        self._listed = {part["name"]: part for part in self.manifest["parts"]}

    def __enter__(self) -> Bundle:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and any part that is still open after an interrupted read."""
        for part in self._open:
            part.close()
        self._zip.close()
        self._file.close()

    def _manifest(self) -> dict[str, Any]:
        manifest = self._json(MANIFEST, next(self._read(MANIFEST), b""))
        if not isinstance(manifest, dict) or manifest.get("format") not in FORMATS:
            form = manifest.get("format") if isinstance(manifest, dict) else None
            mine = " and ".join(FORMATS)
            raise Wrong(MANIFEST, f"its format is {form!r}; this verifier reads {mine}: a newer one may be needed")
        parts = manifest.get("parts")
        shaped = isinstance(parts, list) and all(
            isinstance(part, dict) and isinstance(part.get("name"), str) and isinstance(part.get("sha256"), str)
            for part in parts
        )
        if not shaped or not {"from", "to"} <= manifest.keys():
            raise Wrong(MANIFEST, "it lists no days and parts")
        return manifest

    def damaged(self) -> list[Wrong]:
        """The differences between the parts and the manifest."""
        names = set(self._zip.namelist()) - {MANIFEST}
        faults = [
            Wrong(name, "is in the bundle, and not in its manifest") for name in sorted(names - self._listed.keys())
        ]
        # Damage is reported apart from verification, so that a broken copy is not taken for fraud.
        for name, part in self._listed.items():
            if name not in names:
                faults.append(Wrong(name, "is missing: the manifest lists it"))
            elif self._digest(name) != part["sha256"]:
                faults.append(Wrong(name, "its bytes are not those that the manifest lists (SHA-256)"))
        return faults

    def has(self, name: str) -> bool:
        """Whether the manifest lists a part."""
        return name in self._listed

    def unread(self) -> list[Wrong]:
        """The parts that no other part refers to."""
        return [
            Wrong(name, "nothing in the bundle refers to it") for name in sorted(self._listed.keys() - self._were_read)
        ]

    def _digest(self, name: str) -> str:
        digest = sha256()
        try:
            with self._zip.open(name) as file:
                while block := file.read(1 << 20):
                    digest.update(block)
        except Exception:
            return "unreadable"
        return digest.hexdigest()

    def lines(self, name: str) -> Iterator[bytes]:
        """The lines of a part, one in memory at a time. Raises Wrong."""
        if name not in self._listed:
            raise Wrong(name, "is missing")
        return self._read(name)

    def documents(self, name: str) -> Iterator[Any]:
        """The parsed lines of a part. Raises Wrong."""
        return (self._json(name, line) for line in self.lines(name))

    def _read(self, name: str) -> Iterator[bytes]:
        try:
            with self._zip.open(name) as file:
                self._open.add(file)
                self._were_read.add(name)
                size, most = 0, _most_held(name)
                while line := file.readline(LONGEST_LINE):
                    size += len(line)
                    # Counted while reading: the size in the zip directory is the sender's claim.
                    if most is not None and size > most:
                        raise Wrong(name, f"it is larger than any house's: {most:,} bytes at most")
                    if not line.endswith(b"\n"):
                        raise Wrong(name, "its last line is not whole")
                    yield line[:-1]
                self._open.discard(file)
        except KeyError:
            raise Wrong(name, "is missing") from None
        except Wrong:
            raise
        except Exception as error:  # each compression method raises types of its own
            raise Wrong(name, f"it cannot be read: {error}") from None

    @staticmethod
    def _json(name: str, line: bytes) -> Any:
        try:
            return json.loads(line)
        except (ValueError, RecursionError):
            raise Wrong(name, "a line of it is not JSON") from None
