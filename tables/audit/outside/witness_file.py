"""A witness's memory: one append-only file with each checkpoint that it cosigned and the heads that it received.

A line is flushed to disk before the witness answers. A line that a killed witness left incomplete was never
acknowledged, and is removed at the next start.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from ledger.proof import heads as heads_of_books
from ledger.proof.checkpoint import Checkpoint
from ledger.proof.heads import BadHeads, Head, Heads, HeadsLeaf
from ledger.proof.note import BadNote, Note, VerifierKey, decoded, encoded
from ledger.proof.spelling import canonical

HEADS_RECORD: Final = b"witness-heads/1\n"
"""The prefix of the signed bytes of a heads record, so that its signature cannot pass for a cosignature."""


class BadFile(Exception):
    """A file that a witness cannot continue, or that proves nothing; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Cosigned:
    """A checkpoint, and when a witness vouched for it (POSIX seconds)."""

    checkpoint: Checkpoint
    seconds: int
    note: Note
    key: VerifierKey


@dataclass(frozen=True, slots=True)
class HeadsRecord:
    """The heads of all logs at a checkpoint's last leaf, as far as they differ from the record before."""

    origin: str
    size: int
    leaf: HeadsLeaf
    moved: Heads
    gone: tuple[str, ...] = ()
    """Logs that were in the record before, and are missing now."""

    def signed(self, key: Ed25519PrivateKey) -> dict[str, Any]:
        body = self._body()
        return {"heads": body, "signature": encoded(key.sign(HEADS_RECORD + canonical(body)))}

    def _body(self) -> dict[str, Any]:
        return {
            "origin": self.origin,
            "size": self.size,
            "leaf": bytes(self.leaf).decode(),
            "moved": [[name, *head] for name, head in sorted(self.moved.items())],
            "gone": list(self.gone),
        }

    @classmethod
    def read(cls, document: Any, keys: Sequence[VerifierKey]) -> HeadsRecord:
        """A record from a parsed line. Raises BadFile if none of the keys signed it."""
        try:
            body, signature = document["heads"], decoded(document["signature"])
            # The file may come from the casino: only the witness's signature makes its records evidence.
            if not any(_signs(key, signature, HEADS_RECORD + canonical(body)) for key in keys):
                raise BadFile("A record of heads is not signed by the witness.")
            leaf = HeadsLeaf.parse(body["leaf"].encode())
            moved = dict(map(heads_of_books.read_head, body["moved"]))
            return cls(str(body["origin"]), int(body["size"]), leaf, moved, tuple(body["gone"]))
        except (BadHeads, BadNote, LookupError, TypeError, ValueError, AttributeError):
            raise BadFile("A record of heads cannot be read.") from None


def _signs(key: VerifierKey, signature: bytes, message: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(key.public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


@dataclass(slots=True)
class Memory:
    """A witness's last view of one log."""

    latest: Cosigned | None = None
    heads: dict[str, Head] = field(default_factory=dict)
    leaf: HeadsLeaf | None = None
    conflicts: set[tuple[int, bytes]] = field(default_factory=set)
    """Other checkpoints that the log signed in conflict with cosigned ones: size and root."""

    @property
    def size(self) -> int:
        return self.latest.checkpoint.size if self.latest else 0

    def take_heads(self, record: HeadsRecord) -> None:
        self.heads = {name: head for name, head in self.heads.items() if name not in record.gone} | dict(record.moved)
        self.leaf = record.leaf


Record = Cosigned | HeadsRecord | Note
"""A plain note is a conflict: a checkpoint that the log signed in contradiction to the cosigned one."""


def origin_of(record: Record) -> str:
    """The tree of a record."""
    if isinstance(record, HeadsRecord):
        return record.origin
    return record.checkpoint.origin if isinstance(record, Cosigned) else Checkpoint.parse(record.text).origin


def records(lines: Iterator[bytes], keys: Sequence[VerifierKey]) -> Iterator[Record]:
    """The records in a witness's file, each verified with the witness's keys. Raises BadFile, naming the line."""
    for number, line in enumerate(lines, 1):
        try:
            yield _record(json.loads(line), keys)
        except BadFile as bad:
            raise BadFile(f"Line {number}: {bad}") from None
        except (BadNote, ValueError, LookupError, TypeError, RecursionError):
            raise BadFile(f"Line {number} is no record of a witness.") from None


def _record(document: Any, keys: Sequence[VerifierKey]) -> Record:
    if "heads" in document:
        return HeadsRecord.read(document, keys)
    if "conflict" in document:
        return Note.parse(document["conflict"])
    return cosigned(Note.parse(document["checkpoint"]), keys)


def cosigned(note: Note, keys: Sequence[VerifierKey]) -> Cosigned:
    """A checkpoint that one of these witnesses cosigned. Raises BadFile and BadNote."""
    times = note.signers(keys)
    if not times:
        names = ", ".join(key.name for key in keys) or "no key"
        raise BadFile(f"A checkpoint is not cosigned by {names}.")
    key, seconds = next(iter(times.items()))
    return Cosigned(Checkpoint.parse(note.text), seconds, note, key)


def memories(every: Iterable[Record]) -> dict[str, Memory]:
    """The witness's last view of each log, from the records of its file. Raises BadFile if they contradict one
    another."""
    logs: dict[str, Memory] = {}
    for record in every:
        _follow(logs, record)
    for origin, memory in logs.items():
        if memory.leaf is not None:
            _refuse_other_heads(origin, memory)
    return logs


def _follow(logs: dict[str, Memory], record: Record) -> None:
    if isinstance(record, Note):
        conflict = Checkpoint.parse(record.text)
        logs.setdefault(conflict.origin, Memory()).conflicts.add((conflict.size, conflict.root))
    elif isinstance(record, HeadsRecord):
        logs.setdefault(record.origin, Memory()).take_heads(record)
    else:
        memory = logs.setdefault(record.checkpoint.origin, Memory())
        # A witness never cosigns a smaller tree, so its own file cannot have one.
        if record.checkpoint.size < memory.size:
            raise BadFile(f"The tree of {record.checkpoint.origin} shrinks: lines were moved or taken away.")
        memory.latest = record


class WitnessFile:
    """The witness's file, locked by one process. Raises BadFile if another process holds it, or it was changed."""

    def __init__(self, path: Path, key: VerifierKey) -> None:
        self.logs: dict[str, Memory] = {}
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        self._file: IO[bytes] = os.fdopen(descriptor, "r+b", buffering=0)
        try:
            # Two processes with one file could cosign two different trees.
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise BadFile(f"Another process holds {path}: one witness has one file, and one process.") from None
        try:
            self._take_in(key)
            _fsync_folder(path.parent)
        except BaseException:
            self._file.close()
            raise

    def _take_in(self, key: VerifierKey) -> None:
        whole = 0

        def lines() -> Iterator[bytes]:
            nonlocal whole
            with open(os.dup(self._file.fileno()), "rb") as file:
                for line in file:
                    if line.endswith(b"\n"):
                        whole += len(line)
                        yield line

        self.logs = memories(records(lines(), [key]))
        # New lines must not follow the incomplete one.
        self._file.truncate(whole)
        self._file.seek(whole)

    def of(self, origin: str) -> Memory:
        return self.logs.setdefault(origin, Memory())

    # --- Adding. Whoever calls these holds the witness's lock, and tells of it afterwards.

    def add_checkpoint(self, record: Cosigned) -> None:
        self._append({"checkpoint": str(record.note)})
        self.of(record.checkpoint.origin).latest = record

    def add_heads(self, record: HeadsRecord, key: Ed25519PrivateKey) -> None:
        self._append(record.signed(key))
        self.of(record.origin).take_heads(record)

    def add_conflict(self, checkpoint: Checkpoint, note: Note) -> None:
        """Store evidence against a log, once for each conflict."""
        conflicts = self.of(checkpoint.origin).conflicts
        if (checkpoint.size, checkpoint.root) not in conflicts:
            self._append({"conflict": str(note)})
            conflicts.add((checkpoint.size, checkpoint.root))

    def _append(self, document: dict[str, Any]) -> None:
        line = canonical(document) + b"\n"
        # A partial line without an error would be removed at the next start, although the witness had answered.
        if self._file.write(line) != len(line):
            raise OSError("the disk took a part of a line only")
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()


def _refuse_other_heads(origin: str, memory: Memory) -> None:
    try:
        assert memory.leaf is not None  # noqa: S101 -- the caller looked
        memory.leaf.refuse_other(memory.heads)
    except BadHeads:
        raise BadFile(f"The heads of {origin} are not those of their leaf: lines were moved or taken away.") from None


def _fsync_folder(folder: Path) -> None:
    """Flush a folder, which makes a new file in it durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
