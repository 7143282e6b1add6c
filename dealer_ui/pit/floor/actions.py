"""The actions of the pit at a table: the fields of each form, when it is possible, and its consequences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django import forms

from dealer_ui.entry_forms import EntryForm
from tables.board import secrecy
from tables.floor import permissions
from tables.floor.inputs import (
    AbandonTable,
    ForgiveCommission,
    Input,
    LockRack,
    RetireShoe,
    SettleReader,
    TakeBack,
    UnlockRack,
    VoidRound,
)
from tables.form_fields import WholeNumberField
from tables.games.cards import pack_of
from tables.games.protocol import Shuffle
from tables.log import slip_workflow
from tables.log.entries.rounds import clauses_of
from tables.log.irregularities import REASONS
from tables.log.message import text_of
from tables.log.state import Stop, TableState
from tables.models import ShoeSource
from tables.roles import Role
from tables.setup import policies


class ActForm(EntryForm):
    """The form that confirms an action. Each action uses some of its fields."""

    owes = WholeNumberField(required=False)
    reason = forms.CharField(required=False)
    note = forms.CharField(required=False)
    unknown = forms.BooleanField(required=False)


@dataclass(frozen=True, slots=True)
class Act:
    """Something that the pit may do at a table; confirmed on a page of its own."""

    name: str
    label: str
    done: str
    entered: Callable[[Mapping[str, Any]], Input]
    """Builds the input from the values of ActForm and the user name of the second signer."""
    owes: bool = False
    """Whether the form asks at which seat that owes commission, and why."""
    reasons: str = ""
    """Policy with the reasons that the form offers, together with a note."""
    noted: bool = False
    """Whether the form asks for a note alone."""
    second: str = ""
    """Policy with the roles that may give the second signature; empty for none."""
    at_once: bool = False
    """Whether the action is carried out even if the table has changed since the page was drawn."""

    @property
    def asks(self) -> list[tuple[str, str]]:
        """Its reasons, in words."""
        return [(name, REASONS[name]) for name in policies.words(self.reasons)] if self.reasons else []

    @property
    def seconds(self) -> tuple[str, ...]:
        """The roles that may give the second signature; empty where one signature is enough."""
        return policies.words(self.second) if self.second else ()

    @property
    def second_says(self) -> str:
        return slip_workflow.either(self.seconds)


ACTS: Final[Mapping[str, Act]] = {
    act.name: act
    for act in (
        Act("reader-right", "Reader is right", ": the card reader goes on", lambda form: SettleReader("reader")),
        Act("dealer-right", "Dealer is right", ": the dealer keys the cards", lambda form: SettleReader("dealer")),
        Act("take-back", "Take back", ": the latest input is taken back", lambda form: TakeBack(reopens=True)),
        Act("retire-shoe", "Retire shoe", ": the shoe is retired", lambda form: RetireShoe()),
        Act("forgive-commission", "Forgive commission", ": the commission is forgiven",
            lambda form: ForgiveCommission(form["owes"] or 0, form["reason"]), owes=True),
        Act("void-round", "Void round", ": the round is void",
            lambda form: VoidRound(form["reason"], form["note"], unknown=form["unknown"], second=form["second"]),
            reasons="void_reasons", second="void_second_roles"),
        Act("abandon", "Abandon table", ": the table is abandoned",
            lambda form: AbandonTable(form["reason"], form["note"]), reasons="abandon_reasons", at_once=True),
        Act("lock-rack", "Lock rack", ": the rack is locked",
            lambda form: LockRack(form["note"]), noted=True, at_once=True),
        Act("unlock-rack", "Unlock rack", ": the rack is unlocked",
            lambda form: UnlockRack(form["note"], form["second"]), noted=True, second="unlock_second_roles"),
    )
}  # fmt: skip


def possible(standing: TableState) -> tuple[Act, ...]:
    """The actions that are possible in the state of the table. Permission is checked at entry."""
    if not standing.is_open:
        return ()
    is_locked = standing.lock is not None
    is_asked = permissions.settles_readers() == Role.PIT_BOSS and standing.reader is not None and standing.reader.stop
    can = [ACTS["reader-right"], ACTS["dealer-right"]] if is_asked and not is_locked else []
    can += [ACTS["take-back"]] if _can_take_back(standing) and not is_locked else []
    if standing.round_open:
        can.append(ACTS["void-round"])
    else:
        can += [ACTS["retire-shoe"]] if standing.shoe else []
        can += [ACTS["forgive-commission"]] if standing.marks else []
    can.append(ACTS["unlock-rack" if is_locked else "lock-rack"])
    return (*can, ACTS["abandon"]) if standing.lock is None or not standing.lock.abandoned else tuple(can)


def _can_take_back(state: TableState) -> bool:
    current, shoe = state.round, state.shoe
    if not (current and current.plays and shoe) or current.voided or current.first_seq < shoe.ready_seq:
        return False
    last = current.plays[-1]
    dealt_by_house = last.has_card and shoe.source == ShoeSource.HOUSE
    return not (dealt_by_house or any(isinstance(action, Shuffle) for action in last.actions))


def consequences(standing: TableState, chosen: Act) -> list[str]:
    """The consequences of confirming an action, in sentences."""
    if chosen.name == "retire-shoe":
        opened = standing.shoe is not None and standing.shoe.commitment is not None
        return [
            "The shoe leaves the table; a new one is loaded before the next round.",
            *(["The order that it was dealt from is opened in the log."] if opened else []),
        ]
    if standing.reader is not None and standing.reader.stop is not None and chosen.name in READERS:
        return _settles(standing.reader.stop, chosen)
    if chosen.reasons:
        return _ends(standing, chosen)
    if chosen.noted:
        return _locks(chosen)
    if chosen.owes:
        return [
            "The player will not pay what is marked: it stays out of the rack.",
            "Your name and the reason stay in the log, and an alert is raised.",
        ]
    if not (standing.round and standing.round.plays):
        return []
    last = standing.round.plays[-1]
    pack = pack_of(standing.round.opening.dealt)
    words = text_of(clauses_of(secrecy.latest(standing.round)), pack)
    reversed_ = ["The round was settled by it: its transfers are reversed."] if standing.round.over else []
    return [f"Round {standing.round.number}, entry {last.seq} is taken back: “{words}”.", *reversed_,
            "The entry stays in the log; a correcting one that names you follows it."]  # fmt: skip


READERS: Final = ("reader-right", "dealer-right")


def _settles(stop: Stop, chosen: Act) -> list[str]:
    """The consequences of a decision for the reader or the dealer."""
    beside = f", the dealer keyed {stop.keyed}" if stop.keyed else ""
    goes_on = "The reader names the cards again." if chosen.name == READERS[0] else (
        "The dealer keys the cards. If a wrong one stands in the round, it is taken back and keyed."
    )  # fmt: skip
    return [f"The reader read {stop.read or 'nothing'}{beside}. {stop.says}", goes_on, "Your name stays in the log."]


def _locks(chosen: Act) -> list[str]:
    """The consequences of locking the rack, or of unlocking it."""
    if chosen.second:
        return ["The table goes on from where it was locked.", "Your name and the reason stay in the log."]
    return [
        "Nothing is dealt, paid, bought, filled or carried away until the rack is unlocked or the table is closed.",
        "A round that is open can be made void. Your name and the reason stay in the log; an alert is raised.",
    ]


def _ends(state: TableState, chosen: Act) -> list[str]:
    """The consequences of voiding a round or abandoning a table."""
    number = state.round.number if state.round and state.round_open else None
    void = [
        f"Round {number} ends without a result: every bet goes back, and what was paid in it is reversed."
    ] if number else []  # fmt: skip
    if not chosen.at_once:
        return [*void, "Its cards are out of the shoe. Your name and the reason stay in the log; an alert is raised."]
    return [
        *void,
        "The rack is locked, the shoe retired, the dealer signed out; chips stay where they are.",
        "Afterwards the table is closed by its closer; or the rack is unlocked, and a dealer loads a new shoe.",
    ]
