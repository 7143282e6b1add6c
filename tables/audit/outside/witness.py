"""A small witness: it cosigns a checkpoint only if that extends the one that it saw before (c2sp.org/tlog-witness).

It has a key, a file and the keys of the logs that it observes, but no database and no Django. It should run where the
casino has no influence; docs/witness.md describes how.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ledger.proof import heads as heads_of_books
from ledger.proof import merkle, note
from ledger.proof.checkpoint import Checkpoint, Submission, hashes_of
from ledger.proof.heads import BadHeads, HeadsLeaf
from ledger.proof.merkle import Unproved
from ledger.proof.note import BadNote, Note, VerifierKey
from ledger.proof.spelling import canonical
from tables.audit.outside.witness_file import Cosigned, HeadsRecord, WitnessFile

MOST_BYTES: Final = 8_000_000
"""More than the heads of fifty thousand logs."""
PATIENCE_SECONDS: Final = 10
AT_ONCE: Final = 32
"""The number of connections served at once; further ones wait."""


@dataclass(frozen=True, slots=True)
class WitnessResponse:
    """The answer to a request."""

    status: HTTPStatus
    body: str
    content_type: str = "text/plain; charset=utf-8"


@dataclass(slots=True)
class Witness:
    """A running witness. Reading its memory and writing the line that follows from it are one step under a lock."""

    name: str
    key: Ed25519PrivateKey
    logs: Mapping[str, Sequence[VerifierKey]]
    """The keys of the observed logs, by origin."""
    file: WitnessFile
    clock: Callable[[], float] = time.time
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add_checkpoint(self, body: bytes) -> WitnessResponse:
        """`POST /add-checkpoint`, with the checks in the order of the specification."""
        try:
            submission = Submission.parse(body)
            checkpoint = Checkpoint.parse(submission.note.text)
        except BadNote as bad:
            return WitnessResponse(HTTPStatus.BAD_REQUEST, f"{bad}\n")
        if (keys := self.logs.get(checkpoint.origin)) is None:
            return WitnessResponse(HTTPStatus.NOT_FOUND, "This witness does not watch such a log.\n")
        try:
            is_signed = bool(submission.note.signers(keys))
        except BadNote:
            is_signed = False
        # Only the log itself may advance its tree: otherwise a stranger could make the witness refuse the genuine one.
        if not is_signed:
            return WitnessResponse(HTTPStatus.FORBIDDEN, "No key that this witness trusts signed the checkpoint.\n")
        if submission.old_size > checkpoint.size:
            return WitnessResponse(HTTPStatus.BAD_REQUEST, "The old size is more than the checkpoint's.\n")
        with self._lock:
            return self._take(checkpoint, submission)

    def _take(self, checkpoint: Checkpoint, submission: Submission) -> WitnessResponse:
        memory = self.file.of(checkpoint.origin)
        latest = memory.latest.checkpoint if memory.latest else None
        if submission.old_size != memory.size:
            return _conflict(memory.size)
        if latest is not None and latest.size == checkpoint.size and latest.root != checkpoint.root:
            # Two signed trees of one size are proof of a forked log: the evidence is stored before the answer.
            self.file.add_conflict(checkpoint, submission.note)
            return _conflict(memory.size)
        try:
            _refuse_growth(latest, checkpoint, submission.proof)
        except Unproved as unproved:
            return WitnessResponse(
                HTTPStatus.UNPROCESSABLE_ENTITY, f"It does not extend what this witness saw: {unproved}.\n"
            )
        line = note.cosign(self.key, self.name, submission.note.text, int(self.clock()))
        whole = Note(submission.note.text, (*submission.note.signatures, line))
        # Written before the signature leaves: after a restart the witness must remember all that it vouched for.
        self.file.add_checkpoint(Cosigned(checkpoint, int(self.clock()), whole, self.verifier_key))
        return WitnessResponse(HTTPStatus.OK, line.line)

    def add_heads(self, body: bytes) -> WitnessResponse:
        """`POST /add-heads`: the heads of all logs at the last leaf of the checkpoint that was cosigned last.

        It is not part of the specification. A witness with heads can name the log and the entry that are missing.
        """
        try:
            document = json.loads(body)
            leaf = HeadsLeaf.parse(document["leaf"].encode())
            heads = dict(map(heads_of_books.read_head, document["heads"]))
            path = hashes_of(document["path"])
            origin, size = document["origin"], document["size"]
            leaf.refuse_other(heads)
        except (BadHeads, BadNote, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return WitnessResponse(HTTPStatus.BAD_REQUEST, "These are no heads of books with their leaf.\n")
        if origin not in self.logs:
            return WitnessResponse(HTTPStatus.NOT_FOUND, "This witness does not watch such a log.\n")
        with self._lock:
            memory = self.file.of(origin)
            latest = memory.latest.checkpoint if memory.latest else None
            if latest is None or latest.size != size or leaf.number != size - 1:
                return _conflict(memory.size)
            try:
                merkle.check_inclusion(bytes(leaf), leaf.number, size, path, latest.root)
            except Unproved as unproved:
                return WitnessResponse(HTTPStatus.UNPROCESSABLE_ENTITY, f"The leaf is not in the tree: {unproved}.\n")
            loss = _loss(memory.leaf, leaf) or heads_of_books.loss(memory.heads, heads)
            # Stored even after a loss: the record is the evidence of it.
            if memory.leaf != leaf:
                moved = heads_of_books.movement(memory.heads, heads)
                gone = tuple(sorted(memory.heads.keys() - heads.keys()))
                self.file.add_heads(HeadsRecord(origin, size, leaf, moved, gone), self.key)
        if loss:
            return WitnessResponse(HTTPStatus.UNPROCESSABLE_ENTITY, f"It lost what this witness saw: {loss}.\n")
        return WitnessResponse(HTTPStatus.OK, "")

    def show(self, origin: str) -> WitnessResponse:
        """`GET /show?origin=...`: the latest checkpoint and heads, in the format of the file."""
        with self._lock:
            memory = self.file.logs.get(origin)
            if memory is None or memory.latest is None:
                return WitnessResponse(HTTPStatus.NOT_FOUND, "This witness saw nothing of such a log.\n")
            lines = [canonical({"checkpoint": str(memory.latest.note)})]
            if memory.leaf is not None:
                whole = HeadsRecord(origin, memory.leaf.number + 1, memory.leaf, memory.heads)
                lines.append(canonical(whole.signed(self.key)))
        return WitnessResponse(HTTPStatus.OK, "".join(f"{line.decode()}\n" for line in lines), "application/jsonl")

    @property
    def verifier_key(self) -> VerifierKey:
        return VerifierKey.of(self.name, note.COSIGNATURE, self.key)


def _conflict(size: int) -> WitnessResponse:
    return WitnessResponse(HTTPStatus.CONFLICT, f"{size}\n", "text/x.tlog.size")


def _refuse_growth(latest: Checkpoint | None, checkpoint: Checkpoint, proof: Sequence[bytes]) -> None:
    """Raise Unproved unless the checkpoint extends the latest one."""
    if latest is None or latest.size == 0:
        if proof:
            raise Unproved("from nothing there is nothing to prove")
        if checkpoint.size == 0 and checkpoint.root != merkle.EMPTY:
            raise Unproved("a tree without leaves has another root")
        return
    merkle.check_consistency(latest.size, checkpoint.size, latest.root, checkpoint.root, proof)


def _loss(before: HeadsLeaf | None, after: HeadsLeaf) -> str | None:
    """The loss of a seal between two leaves, as a phrase; None if there is none."""
    if before is None or before.sealed is None:
        return None
    number, digest = before.sealed
    if after.sealed is None or after.sealed[0] < number:
        return f"day {number} was sealed, and is not any more"
    return f"day {number} is sealed otherwise" if after.sealed[0] == number and after.sealed[1] != digest else None


# --- Over HTTP --------------------------------------------------------------------------------------------------


class Server(ThreadingHTTPServer):
    """An HTTP server for a witness. On the internet it needs a TLS proxy in front."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], witness: Witness) -> None:
        self.witness = witness
        self.places = threading.BoundedSemaphore(AT_ONCE)
        super().__init__(address, _Handler)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        with self.places:
            super().process_request_thread(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = PATIENCE_SECONDS
    server: Server

    def do_POST(self) -> None:
        path = urlsplit(self.path).path
        witness = self.server.witness
        deeds = {"/add-checkpoint": witness.add_checkpoint, "/add-heads": witness.add_heads}
        deed = next((deed for name, deed in deeds.items() if path.endswith(name)), None)
        if (body := self._body()) is None:
            self.close_connection = True
            self._answer(
                WitnessResponse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The body has no length, or too long a one.\n")
            )
        elif deed is None:
            self._answer(WitnessResponse(HTTPStatus.NOT_FOUND, "There is no such address.\n"))
        else:
            self._answer(deed(body))

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        origins = parse_qs(address.query).get("origin", [])
        if not address.path.endswith("/show") or len(origins) != 1:
            self._answer(WitnessResponse(HTTPStatus.NOT_FOUND, "There is no such address.\n"))
        else:
            self._answer(self.server.witness.show(origins[0]))

    def _body(self) -> bytes | None:
        length = self.headers.get("Content-Length", "")
        # Without a length the body has no end, and the connection cannot be reused.
        if not length.isascii() or not length.isdigit() or int(length) > MOST_BYTES:
            return None
        return self.rfile.read(int(length))

    def _answer(self, answer: WitnessResponse) -> None:
        body = answer.body.encode()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def version_string(self) -> str:
        return "witness"
