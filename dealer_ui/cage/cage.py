"""The screen of the cage: holdings of the site, chips sold and redeemed, links to slips of the vault."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date
from typing import Any, Final
from uuid import uuid4

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from dealer_ui import pieces, signatures
from dealer_ui.cage.paper_form import PaperForm
from dealer_ui.charts.rows import shares
from dealer_ui.denomination_form import CountForm
from dealer_ui.entry_forms import KeyForm, render_form
from dealer_ui.guards import permitted, viewer_of
from ledger.proof.chips import BANK, CAGE, VAULT, VAULT_CASH, money
from tables.cage import cage_desk, chip_series, custody_items, site_back_entry
from tables.cage.cage_desk import Holdings
from tables.cage.chip_series import Candidates
from tables.form_fields import InputForm
from tables.log import attestation
from tables.log.policies import CURRENCIES
from tables.log.slip_types import Chips, offered, total
from tables.models import Denomination
from tables.refusals import Refused
from tables.reports import cash_shifts
from tables.setup import cash_policies

_EXCHANGES: Final = {"sell": (cage_desk.sell, "Chips are sold"), "redeem": (cage_desk.redeem, "Chips are redeemed")}


class CounterForm(KeyForm):
    """An exchange at the counter: the cage sells chips for cash, or redeems them."""

    message = "This form was incomplete: fill it in again."
    do = forms.ChoiceField(choices=[(name, name) for name in _EXCHANGES])
    currency = forms.CharField(required=False)


class SeriesField(forms.CharField):
    """The series of the chips of one kind: known, or to be read off the chips."""

    def __init__(self, value_cents: int, candidates: Candidates, last_days: Mapping[str, date | None]) -> None:
        super().__init__(required=False)
        self.value_cents, self.candidates = value_cents, candidates
        self.choices = [(name, last_days.get(name)) for name in candidates.names]
        """Each series, with its last day where it is retired."""

    def clean(self, value: Any) -> Any:
        return self.candidates.only or super().clean(value)


class SeriesForm(InputForm):
    """A field for each kind of chip that has a series, the largest first. A name in HTML is of-series-500."""

    prefix = "of-series"

    def __init__(self, data: QueryDict) -> None:
        super().__init__(data)
        last_days = {row.name: chip_series.last_day_of(row) for row in chip_series.all_of_them()}
        kinds = sorted(chip_series.candidates().items(), reverse=True)
        self.fields |= {str(value): SeriesField(value, candidates, last_days) for value, candidates in kinds}

    def of(self, chips: Chips) -> tuple[tuple[int, str], ...]:
        """The series of each kind that is among the chips, if it is known."""
        counted = {str(value) for value, _ in chips}
        return tuple((int(value), name) for value, name in self.values().items() if name and value in counted)


@sensitive_post_parameters("pin")
@permitted("tables.watch_cage")
@require_http_methods(["GET", "POST"])
def cage(request: HttpRequest) -> HttpResponse:
    """The holdings by place, and a counter at which chips are sold and redeemed."""
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
        "series": SeriesForm(request.POST),
        "no_series": chip_series.NO_SERIES if chip_series.has_older_chips() else "",
        "runs": viewer_of(request).has_perm("tables.run_cage"),
        "key": uuid4(),
        "terms": dict.fromkeys(("stage", "cents", "chips", "of_series"))
        | {"format": attestation.COUNTER, "book": cage_desk.BOOK},
        "mode": site_back_entry.mode_at(None),
        "paper": PaperForm(request.POST),
        "asked": [*CountForm(request.POST, Denomination.objects.all())],
        "kinds": Denomination.objects.all(),
        "badge": signatures.typed_badge(request),
    }
    return render_form(request, "dealer_ui/cage/cage.html", context, refused)


def _labels(places: Collection[str]) -> list[str]:
    return [label for label, place in (("Vault", VAULT), ("Cage", CAGE)) if place in places]


def _cash(held: Holdings, unseen: Collection[str]) -> list[tuple[str, int | None]]:
    """The house's cash by place; None for one that people like the viewer are counting."""
    places = [("In the cage", BANK, held.bank), ("In the vault", VAULT_CASH, held.vault_cash)]
    shown = [(label, None if place in unseen else cents) for label, place, cents in places]
    return [*shown, ("At the bank, since the house keeps it", held.depositary)]


def _exchange(request: HttpRequest) -> None:
    """Chips for cash or cash for chips, signed by a cashier. Raises Refused."""
    values = CounterForm(request.POST).values()
    chips = CountForm(request.POST, Denomination.objects.all()).chips()
    if not (amount := total(chips)):
        raise Refused("bad_amount", "Say how many chips of each kind pass the counter.", 422)
    exchange, result = _EXCHANGES[values["do"]]
    of_series, paper = SeriesForm(request.POST).of(chips), PaperForm(request.POST).from_paper()
    extra = {"key": values["key"], "currency": values["currency"], "of_series": of_series, "paper": paper}
    attested = signatures.attested(request)
    by, _ = signatures.sign(request, lambda by: exchange(amount, chips=chips, by=by, attested=attested, **extra))
    messages.success(request, f"{result}: {money(amount)}, signed by {by.name}.", extra_tags=values["do"])
