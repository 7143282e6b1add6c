"""The cage's screen: what the house holds, chips sold and redeemed, and the way to the vault."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final
from uuid import UUID, uuid4

from django.contrib import messages
from django.contrib.auth.decorators import login_required, permission_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from dealer_ui import denomination_fields, pieces, signatures
from dealer_ui.cage import paper_fields
from dealer_ui.charts.rows import shares
from dealer_ui.guards import viewer_of
from ledger.proof.chips import BANK, CAGE, VAULT, VAULT_CASH, money
from tables.cage import back_entry, cage_desk, chip_series, custody_items
from tables.cage.cage_desk import Holdings
from tables.cage.chip_series import Candidates
from tables.log import attestation
from tables.log.policies import CURRENCIES
from tables.log.slip_types import offered, total
from tables.models import Denomination
from tables.refusals import Refused
from tables.reports import cash_shifts
from tables.setup import cash_policies

_DEEDS: Final = {"sell": (cage_desk.sell, "Chips are sold"), "redeem": (cage_desk.redeem, "Chips are redeemed")}


@sensitive_post_parameters("pin")
@login_required
@permission_required("tables.watch_cage", raise_exception=True)
@require_http_methods(["GET", "POST"])
def cage(request: HttpRequest) -> HttpResponse:
    """What lies where; and a counter at which chips are sold and redeemed."""
    refused = None
    if request.method == "POST":
        try:
            _exchange(request)
            return redirect("cage")
        except Refused as refusal:
            refused = refusal
    viewer = viewer_of(request)
    held, unseen = cage_desk.holdings(), cage_desk.unseen_by(viewer)
    being_counted = _labels(unseen)
    parts = [("Vault", held.vault), ("Cage", held.cage), ("Tables", held.tables), ("Players", held.outstanding)]
    ways = [series for series in offered("cage") if viewer.role in series.seen_by]
    context = {
        "held": held,
        "counting": being_counted,
        "bars": shares([(label, cents) for label, cents in parts if label not in being_counted]),
        "pieces": pieces.in_the_house(_labels(cage_desk.being_counted_by(viewer)), is_live=not being_counted),
        "cash": _cash(held, unseen),
        "imprest_cents": cash_policies.imprest_cents(),
        "off_imprest_cents": None if BANK in unseen else held.bank - cash_policies.imprest_cents(),
        "currency": cash_policies.currency(),
        "currencies": [code.upper() for code in CURRENCIES],
        "owed": cash_shifts.owed(timezone.now()),
        "envelopes": custody_items.envelopes().values(),
        "ways": [series for series in ways if not series.cash],
        "cash_ways": [series for series in ways if series.cash],
        "series": _asked_series(request),
        "no_series": chip_series.NO_SERIES if chip_series.has_older_chips() else "",
        "runs": viewer_of(request).has_perm("tables.run_cage"),
        "key": uuid4(),
        "terms": dict.fromkeys(("stage", "cents", "chips", "of_series"))
        | {"format": attestation.COUNTER, "book": cage_desk.BOOK},
        "refused": refused,
        "mode": back_entry.mode_at(None),
        "typed": request.POST,
        "asked": denomination_fields.asked(request.POST, Denomination.objects.all()),
        "kinds": Denomination.objects.all(),
        "badge": request.POST.get("badge", ""),
    }
    return render(request, "dealer_ui/cage/cage.html", context, status=refused.status if refused else 200)


@dataclass(frozen=True, slots=True)
class AskedSeries:
    """Of which series chips of one kind are: known, or to be looked at."""

    value_cents: int
    candidates: Candidates
    chosen: str
    last_days: Mapping[str, date | None]

    @property
    def field(self) -> str:
        return f"of-series-{self.value_cents}"

    @property
    def choices(self) -> list[tuple[str, date | None]]:
        """Each series, with its last day where it is retired."""
        return [(name, self.last_days.get(name)) for name in self.candidates.names]


def _asked_series(request: HttpRequest) -> list[AskedSeries]:
    """One for each kind of chip that has a series, the largest first."""
    last_days = {row.name: chip_series.last_day_of(row) for row in chip_series.all_of_them()}
    kinds = sorted(chip_series.candidates().items(), reverse=True)
    typed = request.POST
    return [
        AskedSeries(value, kind, kind.only or typed.get(f"of-series-{value}", ""), last_days) for value, kind in kinds
    ]


def _labels(places: Collection[str]) -> list[str]:
    return [label for label, place in (("Vault", VAULT), ("Cage", CAGE)) if place in places]


def _cash(held: Holdings, unseen: Collection[str]) -> list[tuple[str, int | None]]:
    """The house's cash by place; None for one that people like the viewer are counting."""
    places = [("In the cage", BANK, held.bank), ("In the vault", VAULT_CASH, held.vault_cash)]
    shown = [(label, None if place in unseen else cents) for label, place, cents in places]
    return [*shown, ("At the bank, since the house keeps it", held.depositary)]


def _exchange(request: HttpRequest) -> None:
    """Chips for cash or cash for chips, signed by a cashier. Raises Refused."""
    deed = _DEEDS.get(request.POST.get("do", ""))
    try:
        key = UUID(request.POST.get("key", ""))
    except ValueError:
        deed = None
    if deed is None:
        raise Refused("bad_form", "This form was incomplete: fill it in again.", 400)
    chips = denomination_fields.chips_of(request.POST, Denomination.objects.all())
    if not (amount := total(chips)):
        raise Refused("bad_amount", "Say how many chips of each kind pass the counter.", 422)
    exchange, done = deed
    choices = ((row.value_cents, row.chosen) for row in _asked_series(request))
    counted = {value for value, _ in chips}
    of_series = tuple((value, name) for value, name in choices if name and value in counted)
    extra: dict[str, Any] = {"currency": request.POST.get("currency", ""), "of_series": of_series}
    paper = paper_fields.of_form(request)
    attested = signatures.attested(request)
    by, _ = signatures.sign(
        request, lambda by: exchange(amount, chips=chips, by=by, key=key, attested=attested, paper=paper, **extra)
    )
    messages.success(request, f"{done}: {money(amount)}, signed by {by.name}.", extra_tags=request.POST["do"])
