"""Receives bundles: checks their signatures on arrival, then has a worker verify them completely, one by one.

The first check costs one signature for each day since the first. It rejects, without storing the bundle, another site's
key, a day that was sealed differently before, and days that do not follow. A bundle that it accepts waits for a worker,
which replays every round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from hashlib import file_digest
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.db import DataError, transaction

from casino.office import figures, houses
from casino.office.models import Arrival, Day, House, Refusal, Verdict
from ledger import alerts, broker, clock, runs
from ledger.proof import seals
from tables.audit.outside import verifier
from tables.audit.outside.book_proof import short
from tables.audit.outside.bundle import ROOTS, Wrong, printable
from tables.audit.outside.verifier import Outline
from tables.log.state import UNREADABLE
from tables.refusals import Refused

NO_FOLDER: Final = "This head office has no folder for bundles: set OFFICE_FOLDER to one that web and worker share."
MOST_SAID: Final = 600
"""Characters of a verdict or refusal that are stored."""


class ArrivalState(StrEnum):
    """The result of a bundle's first check."""

    TAKEN = "taken"
    """It waits for verification."""
    KNOWN = "known"
    """All its days are here already: it was sent twice, which does no harm."""
    EARLY = "early"
    """An earlier day is missing, which must come first."""
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class ArrivalAnswer:
    """The answer to the sender of a bundle."""

    state: ArrivalState
    due: int
    """The number of the day that the site must send next."""
    says: str

    def as_json(self) -> dict[str, Any]:
        return {"state": str(self.state), "due": self.due, "says": self.says}


def folder(house: House) -> Path:
    """The folder of a site's bundles, created if missing. Raises Refused if none is configured."""
    if not settings.OFFICE_FOLDER:
        raise Refused("no_folder", NO_FOLDER, 503)
    path = Path(settings.OFFICE_FOLDER) / house.code
    path.mkdir(mode=0o750, parents=True, exist_ok=True)
    return path


def path_of(arrival: Arrival) -> Path:
    """The file of an accepted bundle."""
    return folder(arrival.house) / f"{arrival.sha256}.zip"


# --- At the door -----------------------------------------------------------------------------------------------


def take(house: House, bundle: Path, *, by: str) -> ArrivalAnswer:
    """Check a site's complete bundle. If it is accepted, its file moves to the site's folder; otherwise it stays in
    place."""
    with bundle.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    try:
        outline = verifier.outline(bundle, key=houses.trusted_key(house))
        fresh = _fresh(house, outline)
    except Wrong as wrong:
        return refuse(house, digest, str(wrong), by)
    if not fresh:
        return ArrivalAnswer(ArrivalState.KNOWN, houses.due(house), f"{_span(outline)}: already here, and the same.")
    due = houses.due(house)
    if fresh[0]["number"] > due:
        return ArrivalAnswer(ArrivalState.EARLY, due, f"{_span(outline)} cannot be taken yet: day {due} comes first.")
    return _keep(house, bundle, digest, outline, by)


def _fresh(house: House, outline: Outline) -> list[dict[str, Any]]:
    """The bundle's days that are not here yet. Raises Wrong if a day that is here was sealed differently."""
    digests = {document["number"]: seals.hash_of(document) for document in outline.chain}
    latest = Day.objects.filter(house=house, number__lte=len(digests)).order_by("-number").first()
    # Each day's document has the hash of the one before, so the newest known day stands for all earlier ones.
    if latest is not None and digests[latest.number] != latest.digest:
        first = next(day for day in Day.objects.filter(house=house).order_by("number") if _differs(day, digests))
        raise Wrong(ROOTS, f"{first.day} is sealed differently from the day that is here: history was written anew")
    return [dict(document) for document in outline.days if latest is None or document["number"] > latest.number]


def _differs(day: Day, digests: dict[int, str]) -> bool:
    return digests.get(day.number) != day.digest


def _keep(house: House, bundle: Path, digest: str, outline: Outline, by: str) -> ArrivalAnswer:
    answer = ArrivalAnswer(
        ArrivalState.TAKEN, max(houses.due(house), outline.chain[-1]["number"] + 1), f"{_span(outline)}: taken."
    )
    earlier = Arrival.objects.filter(house=house, sha256=digest).order_by("attempt").last()
    if earlier is not None and not hasattr(earlier, "verdict"):
        return answer
    path = folder(house) / f"{digest}.zip"
    # Atomic: a worker never sees an incomplete file under the bundle's name.
    bundle.replace(path)
    arrival = Arrival(
        house=house, sha256=digest, attempt=earlier.attempt + 1 if earlier else 1, size=path.stat().st_size,
        first=date.fromisoformat(outline.first), last=date.fromisoformat(outline.last),
        through=outline.chain[-1]["number"], by=by, at=clock.read().database,
    )  # fmt: skip
    Arrival.objects.bulk_create([arrival], ignore_conflicts=True)  # two processes may get the last piece at once
    return answer


def refuse(house: House, digest: str, reason: str, by: str) -> ArrivalAnswer:
    """Reject a bundle: record only its digest and the reason, and raise an alert."""
    row = Refusal(house=house, sha256=digest, says=reason[:MOST_SAID], by=by, at=clock.read().database)
    Refusal.objects.bulk_create([row], ignore_conflicts=True)
    _alert(house, reason)
    return ArrivalAnswer(ArrivalState.REFUSED, houses.due(house), reason)


def _alert(house: House, reason: str) -> None:
    message = f"A bundle of {house.name} does not hold: {reason}"
    alerts.raise_alert(None, "day_refused", message, {"house": house.code})


def _span(outline: Outline) -> str:
    return outline.first if outline.first == outline.last else f"{outline.first} to {outline.last}"


# --- Verification ----------------------------------------------------------------------------------------------


def queue_verification(house: House) -> None:
    """Have a worker verify the waiting bundles. If the broker is away, the next sweep finds them."""
    otherwise = f"bundles of {house.code} wait for the next sweep"
    broker.send("casino.office.tasks.verify_arrivals", house.pk, otherwise=otherwise)


def verify_waiting(house: House) -> int:
    """Verify a site's waiting bundles in order, unless another worker is doing it. Returns the number of valid ones."""
    with runs.alone(f"arrivals of the house {house.code}") as is_alone:
        return sum(_verify(arrival) for arrival in houses.waiting(house)) if is_alone else 0


def _verify(arrival: Arrival) -> bool:
    house, lines = arrival.house, list[str]()
    path = path_of(arrival)
    try:
        key = houses.trusted_key(house)
        # Again, because a day before it may have been rejected since it arrived.
        outline = verifier.outline(path, key=key)
        fresh = _fresh(house, outline)
        _refuse_gap(house, fresh)
        verifier.verify(path, key=key, say=lines.append)
        sheet = figures.sheet_of(path)
    except Wrong as wrong:
        return _reject(arrival, str(wrong))
    except FileNotFoundError:
        return _reject(arrival, f"{path.name} is no longer in the folder: it has to be sent again")
    except UNREADABLE as error:  # the verifier does not read the parts that only figures need
        return _reject(arrival, f"its figures cannot be read: {short(error)}")
    moment = clock.read().database
    try:
        with transaction.atomic():
            # Verdict, days and figures in one transaction: a day without figures would look like a day without
            # business.
            Verdict.objects.create(arrival=arrival, holds=True, says=lines[-1][:MOST_SAID], at=moment)
            _enter(arrival, fresh, moment)
            figures.enter(arrival, sheet, [date.fromisoformat(document["day"]) for document in fresh])
    except (DataError, *UNREADABLE) as error:
        return _reject(arrival, f"its figures are impossible: {short(error)}")
    return True


def _reject(arrival: Arrival, reason: str) -> bool:
    reason = printable(reason)
    Verdict.objects.create(arrival=arrival, holds=False, says=reason[:MOST_SAID], at=clock.read().database)
    _alert(arrival.house, reason)
    return False


def _refuse_gap(house: House, fresh: Sequence[dict[str, Any]]) -> None:
    """Raises Wrong if the day before is missing, as when its bundle was rejected in the meantime."""
    last = houses.last_day(house)
    number = last.number + 1 if last else 1
    if fresh and fresh[0]["number"] != number:
        raise Wrong(ROOTS, f"day {number} must come first, and is not here")


def _enter(arrival: Arrival, fresh: Sequence[dict[str, Any]], moment: datetime) -> None:
    for document in fresh:
        Day.objects.create(
            house=arrival.house,
            number=document["number"],
            day=date.fromisoformat(document["day"]),
            digest=seals.hash_of(document),
            key=document["key"],
            ends=datetime.fromisoformat(document["ends"]),
            arrival=arrival,
            at=moment,
        )
