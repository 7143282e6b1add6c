"""The connection over which sites send bundles: in signed pieces, so that a broken transfer continues where it stopped.

A piece names its bundle's SHA-256, its own offset and the bundle's size; the signature covers these and the bytes. The
answer has the number of bytes received, and after the last piece whether the bundle was accepted.
"""

from __future__ import annotations

import fcntl
import re
import time
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Final

from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from casino.office import houses, receiving
from casino.office.models import House
from casino.office.receiving import ArrivalState
from tables import pepper
from tables.alerts import webhook_signatures
from tables.refusals import Refused

STATUS: Final = {ArrivalState.TAKEN: 202, ArrivalState.KNOWN: 200, ArrivalState.EARLY: 409, ArrivalState.REFUSED: 422}
_PIECE: Final = re.compile(r"([0-9a-f]{64})/(0|[1-9][0-9]{0,12})/([1-9][0-9]{0,12})")


@dataclass(frozen=True, slots=True)
class Piece:
    """Some bytes of a bundle."""

    sha256: str
    offset: int
    size: int
    """Bytes of the whole bundle."""


@csrf_exempt  # the sender is not a browser; its signature identifies it
@require_POST
def arrivals(request: HttpRequest, code: str) -> JsonResponse:
    """Receive a piece of a bundle."""
    try:
        house = _signer(request, code)
        if request.content_type == "application/json":  # the test of a channel
            return JsonResponse({"due": houses.due(house)})
        return _take(house, _piece(request), request.body)
    except Refused as refused:
        return JsonResponse(refused.as_json(), status=refused.status)


def _signer(request: HttpRequest, code: str) -> House:
    """The site that signed the request. Raises Refused, with an answer that does not reveal which sites exist."""
    house = House.objects.filter(code=code).first()
    try:
        secret = houses.secret_of(house) if house else ""
    except pepper.NoSuchKey:
        secret = ""
    if (
        house is None
        or not secret
        or not webhook_signatures.is_ours(secret, request.headers, request.body, time.time())
    ):
        raise Refused("not_signed", "No house that reports here has signed this.", 403)
    return house


def _piece(request: HttpRequest) -> Piece:
    """The piece that the headers name. Raises Refused."""
    match = _PIECE.fullmatch(request.headers[webhook_signatures.DELIVERY])
    if match is None:
        raise Refused("bad_piece", f"{webhook_signatures.DELIVERY} must name a piece: SHA-256/OFFSET/SIZE.", 400)
    piece = Piece(match[1], int(match[2]), int(match[3]))
    if piece.size > settings.OFFICE_MOST_BYTES:
        raise Refused("too_large", f"A bundle may have at most {settings.OFFICE_MOST_BYTES:,} bytes here.", 413)
    if piece.offset + len(request.body) > piece.size:
        raise Refused("bad_piece", "The piece goes beyond the bundle's end.", 400)
    return piece


def _take(house: House, piece: Piece, content: bytes) -> JsonResponse:
    path = receiving.folder(house) / f"{piece.sha256}.part"
    with path.open("ab") as file:
        # A retry may arrive while the first attempt is still being written: one of them waits.
        fcntl.flock(file, fcntl.LOCK_EX)
        received = file.tell()
        if received == 0:
            _remove_others(path)
        # Only the next bytes are appended: a repeated piece is already there, one beyond has a gap before it.
        if piece.offset == received:
            file.write(content)
            file.flush()
            received = file.tell()
        if received < piece.size:
            return JsonResponse({"have": received})
        return _finish(house, piece, path)


def _remove_others(path: Path) -> None:
    """Remove a site's unfinished bundles when it starts another: it sends one at a time, and they would fill the
    disk."""
    for part in path.parent.glob(f"{'[0-9a-f]' * 64}.part"):
        if part != path:
            part.unlink(missing_ok=True)


def _finish(house: House, piece: Piece, path: Path) -> JsonResponse:
    """Accept or reject the complete bundle. A bundle that is not stored is removed, so that it can be sent again."""
    if not path.exists():  # another process got the last piece as well
        return JsonResponse({"have": 0})
    try:
        with path.open("rb") as file:
            if file_digest(file, "sha256").hexdigest() != piece.sha256:
                raise Refused("damaged", "The pieces do not make up the bundle that they name: send it again.", 400)
        answer = receiving.take(house, path, by="its line")
    finally:
        path.unlink(missing_ok=True)
    if answer.state == ArrivalState.TAKEN:
        receiving.queue_verification(house)
    return JsonResponse(answer.as_json(), status=STATUS[answer.state])
