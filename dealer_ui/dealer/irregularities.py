"""Irregularities at the table: their list, and the procedure of each with its one or two actions.

A card that leaves the shoe is entered by the dealer. A void round, an abandoned table and a bet over the limit take a
pit boss's badge and PIN on the table's terminal.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from dealer_ui import signatures
from dealer_ui.dealer.forms import BetForm, DealerEntryForm
from dealer_ui.guards import dealers
from dealer_ui.numbers import number
from tables.board.buttons import entries_of
from tables.floor import recorder, rounds
from tables.floor.inputs import (
    AbandonTable,
    AcceptBet,
    EnterMishap,
    FloorInput,
    LockRack,
    RetireShoe,
    RuleOnHand,
    TakeBack,
    UnlockRack,
    VoidRound,
    spell,
)
from tables.floor.irregularities import RULED_BY
from tables.games.catalog import GAMES
from tables.games.protocol import MAIN
from tables.log import slip_workflow
from tables.log.game_kinds import kind_of
from tables.log.irregularities import ACTS, MISHAPS, REASONS, RULINGS, Mishap, choice_of
from tables.log.state import HOUSE_SHOE, TableState
from tables.log.terms import rules_of
from tables.models import Staff, Table
from tables.refusals import Refused
from tables.setup import policies
from tables.staff import terminals
from tables.state import table_state as standings

SIGNED: Final = ("void", "abandon", "accept_bet", "unlock", "give_up")
"""The actions that a pit boss signs, or another role that the policies permit."""
SECOND: Final = {"void": "void_second_roles", "unlock": "unlock_second_roles"}
"""The policies with the roles of the second signatory."""
_UNSEEN: Final = "unseen"
"""The form's value for a card that was not seen."""
_CLOSE: Final = frozenset({"abandon", "lock"})
"""Acts that are about the table and no card: what else goes wrong where nothing is dealt, is a dispute."""
_KEYS: Final = "123456789ABCDEFGH"


class IrregularityForm(DealerEntryForm):
    """An action of an irregularity."""

    act = forms.CharField(required=False)
    card = forms.CharField(required=False)
    called = forms.CharField(required=False)
    note = forms.CharField(required=False)
    reason = forms.CharField(required=False)
    seat = forms.CharField(required=False)
    wager = forms.CharField(required=False)
    unknown = forms.BooleanField(required=False)


@dataclass(frozen=True, slots=True)
class Item:
    """An irregularity on the list, with the key that opens it."""

    mishap: Mishap
    key: str


@dealers
@require_GET
def listed(request: HttpRequest, viewer: Staff, pk: int) -> HttpResponse:
    """The list of irregularities, the most frequent first."""
    table, state = here(viewer, pk)
    is_by_count = kind_of(GAMES[table.game]).is_by_count
    mishaps = [mishap for mishap in MISHAPS.values() if not is_by_count or _CLOSE & {*mishap.acts}]
    items = [Item(mishap, key) for mishap, key in zip(mishaps, _KEYS, strict=False)]
    return render(request, "dealer_ui/dealer/mishaps.html", {"table": table, "standing": state, "items": items})


@dealers
@require_http_methods(["GET", "POST"])
def sheet(request: HttpRequest, viewer: Staff, pk: int, mishap: str) -> HttpResponse:
    """The procedure of one irregularity, and its actions."""
    if mishap not in MISHAPS:
        raise Http404("There is no such mishap.")
    return _sheet(request, viewer, pk, MISHAPS[mishap])


def _sheet(request: HttpRequest, viewer: Staff, pk: int, mishap: Mishap) -> HttpResponse:
    table, state = here(viewer, pk)
    refused = None
    if request.method == "POST":
        try:
            return _enter(request, viewer, table, mishap)
        except Refused as refusal:
            refused = refusal
            state = standings.of(table)
    context = _drawn(table, state, mishap, viewer) | {"refused": refused}
    context |= {
        "typed": IrregularityForm(request.POST),
        "amount": BetForm(request.POST)["amount"].value(),
        "badge": signatures.typed_badge(request),
        "second_badge": signatures.typed_badge(request, "second_"),
    }
    return render(request, "dealer_ui/dealer/mishap.html", context, status=refused.status if refused else 200)


def here(viewer: Staff, pk: int) -> tuple[Table, TableState]:
    """The table and its state, for the dealer signed in there. Raises PermissionDenied for others."""
    table = get_object_or_404(Table.objects.select_related("book"), pk=pk)
    state = standings.of(table)
    if not state.is_dealt_by(viewer.username):
        raise PermissionDenied
    return table, state


def _drawn(table: Table, state: TableState, mishap: Mishap, viewer: Staff) -> dict[str, Any]:
    """The template context of the sheet."""
    possible = _possible(table, state, mishap, viewer)
    return {
        "table": table,
        "standing": state,
        "mishap": mishap,
        "possible": possible,
        "labels": ACTS,
        "key": uuid4(),
        "cards": _cards(table, state) if "set_aside" in possible else (),
        "reasons": [(name, REASONS[name]) for name in policies.words("void_reasons")],
        "leaving": [(name, REASONS[name]) for name in policies.words("abandon_reasons")],
        "who": {act: slip_workflow.either(policies.words(f"{act}_roles")) for act in ("void", "abandon")},
        "second": {act: slip_workflow.either(policies.words(term)) for act, term in SECOND.items()},
        "wagers": [(wager.name, wager.title) for wager in kind_of(GAMES[table.game]).wagers(rules_of(table))],
        "take_back": json.dumps(spell(TakeBack())),
        "reopens": state.round is not None and state.round.over,
        "retire": json.dumps(spell(RetireShoe())),
        "ask": rounds.deciding(state.round),
        "rules_alone": _rules_alone(),
    }


def _rules_alone() -> bool:
    """Whether the policy lets a dealer alone keep the wager of a player who left in play."""
    return policies.in_force(RULED_BY) == "dealer"


def _possible(table: Table, state: TableState, mishap: Mishap, viewer: Staff) -> dict[str, bool]:
    """The actions of an irregularity that are possible in the state of the table. Permission is checked at entry."""
    entries = entries_of(table, state, viewer)
    ready, kind = state.shoe is not None and state.shoe.stage == "ready", kind_of(GAMES[table.game])
    can: Mapping[str, bool] = {
        "set_aside": ready and state.lock is None,
        "burn": ready and not state.round_open and state.lock is None,
        "take_back": entries.can_take_back() or entries.can_reopen(),
        "void": state.round_open,
        "retire": state.shoe is not None and not state.round_open,
        "correct": state.round is not None,
        "abandon": state.lock is None or not state.lock.abandoned,
        "lock": state.lock is None,
        "unlock": state.lock is not None,
        **_rulings(state),
        "accept_bet": not kind.is_by_count and bool(kind.wagers(rules_of(table))),
    }
    acts = (*mishap.acts, "unlock") if "lock" in mishap.acts else mishap.acts
    return {act: True for act in acts if can[act]}


def _rulings(state: TableState) -> dict[str, bool]:
    """The possible rulings on the hand of a player who left, once its seat has to decide."""
    ask = rounds.deciding(state.round)
    waits = ask is not None and state.lock is None
    return {ruling: waits and bool(ask and choice_of(ruling, ask.choices)) for ruling in RULINGS}


def _cards(table: Table, state: TableState) -> list[str]:
    """The cards that can be named; none for an electronic shoe, which names its own."""
    if state.shoe is None or state.shoe.source == HOUSE_SHOE:
        return []
    return [str(spelling) for spelling in state.shoe.pack.spellings]


# --- what is entered --------------------------------------------------------------------------------------------


def _enter(request: HttpRequest, viewer: Staff, table: Table, mishap: Mishap) -> HttpResponse:
    form = IrregularityForm(request.POST)
    values = form.values()
    key, seq, act, note = values["key"], values["seq"], values["act"], values["note"]
    terminals.for_dealing(request, table)
    if act in SIGNED or (act == "play_on" and not _rules_alone()):
        second = signatures.second(request, policies.words(SECOND[act])) if act in SECOND else ""
        entered = _signed(request, values, second)
        since = None if act == "abandon" else seq
        boss, _ = signatures.sign(
            request, lambda by: recorder.record(table, entered, by=by, key=key, expected_seq=since)
        )
        messages.success(request, f"{ACTS_DONE[act]}, signed by {boss.name}.")
        return redirect("dealer:tables") if act == "abandon" else redirect("dealer:screen", table.pk)
    if act == "play_on":
        recorder.record(table, _signed(request, values, ""), by=viewer, key=key, expected_seq=seq)
        return redirect("dealer:screen", table.pk)
    if act == "lock":
        recorder.record(table, LockRack(note), by=viewer, key=key, expected_seq=None)
        messages.success(request, "The rack is locked.")
        return redirect("dealer:screen", table.pk)
    if act == "set_aside" and form["card"].value() == "":
        raise Refused("no_card", "Choose the card that was set aside, or say that nobody saw it.", 422)
    card = "" if values["card"] == _UNSEEN else values["card"]
    mishap_entered = EnterMishap(mishap.name, act, card, values["called"], note)
    recorder.record(table, mishap_entered, by=viewer, key=key, expected_seq=seq)
    return redirect("dealer:screen", table.pk)


ACTS_DONE: Final = {
    "void": "The round is void",
    "abandon": "The table is abandoned",
    "accept_bet": "The bet stands",
    "unlock": "The rack is unlocked",
    "play_on": "The wager stands",
    "give_up": "The hand is given up",
}


def _signed(request: HttpRequest, values: Mapping[str, Any], second: str) -> FloorInput:
    """The input that a pit boss signs. Raises Refused."""
    act, reason, note, seat = values["act"], values["reason"], values["note"], number(values["seat"]) or 0
    if act == "void":
        return VoidRound(reason, note, unknown=values["unknown"], second=second)
    if act == "unlock":
        return UnlockRack(note, second)
    if act in RULINGS:
        return RuleOnHand(seat, act, note)
    if act == "abandon":
        return AbandonTable(reason, note)
    return AcceptBet(seat, BetForm(request.POST).values()["amount"], values["wager"] or MAIN)
