"""The rules of the house about its log: what may be written in a book, by whom, after what, and with which chips.

A proof holds every entry against them. An entry is enacted again at the table as the log tells it, by the functions
that refuse an input on the floor, and has to say what the floor would have written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

import msgspec

from ledger import cage, mends
from ledger.house import difference
from ledger.models import HOUSE, Account, Book, LogEntry, SlipSignature
from ledger.proof import seals
from ledger.proof.chain import MENDED, Entry, canonical, mends_in, timestamp
from ledger.proof.chips import CAGE, REVERSAL
from tables import dealing
from tables.audit.outside.cage_counts import SLACK
from tables.day import closing, hours
from tables.disputes import claims, corrections
from tables.edge import shoe_audit
from tables.games.catalog import GAMES
from tables.inputs import (
    Bet,
    Burn,
    BuyIn,
    CashOut,
    ChangeChips,
    CheckDecks,
    CloseDispute,
    CutCardOut,
    DeclineCorrection,
    IssueSeatPage,
    KeyCard,
    LoadShoe,
    NoteDispute,
    OpenDispute,
    Paid,
    PlaceCutCard,
    ProposeCorrection,
    RetireShoe,
    RuleDispute,
    SellChips,
    ShuffleShoe,
    SignCorrection,
    SignIn,
    StartGame,
    TakeBack,
    TimeCharge,
)
from tables.log import paper, settlement
from tables.log.fold import Shoe, Standing
from tables.log.paper import Said
from tables.log.replay import DEALT, Misconduct
from tables.log.terms import Settings, limits_of, rules_of
from tables.models import Certificate, DayClose, HouseHours, ShoeSource, Staff, Table
from tables.play import cash, doors, pots, rounds, shoes
from tables.refusals import Refused
from tables.roles import Role
from tables.scene import Scene, Step
from tables.setup.table_settings import WAITS
from tables.slips import signing
from tables.training import certificates


@dataclass(frozen=True, slots=True)
class Rule:
    """What one kind of entry comes from, what it has to say, and the kinds of transfer that it may make."""

    entered: type | None = None
    """The input behind it: whoever wrote it had to be permitted that one."""
    says: Callable[[Scene, Entry], Step] | None = None
    """What the floor would have written; None where only the writer knows."""
    moves: frozenset[str] = frozenset()
    holds: Callable[[Entry], None] | None = None
    """Raises Misconduct where the rows beside the log, or the house's entries before it, say something else."""


class Floor:
    """A table, or the house, as its log tells it up to one entry."""

    def __init__(self, book: Book, through: int = 0) -> None:
        self._book = book
        self._rules = IN_THE_HOUSE if book.name == HOUSE else AT_A_TABLE
        self._settings: Settings | None = None
        self._table: Table | None = None
        for content in _settings_through(book, through):
            self._set(Settings(**(asdict(self._settings) if self._settings else {}) | content["after"]))

    def enact(self, now: Standing, entry: Entry, moved: Collection[str]) -> Step | None:
        """What the house would have written here, where the log can tell. Raises Misconduct for anything else.

        ``now`` is where the table stands before the entry, ``moved`` the kinds of its transfers.
        """
        rule = self._rules.get((entry.subject, entry.kind))
        if rule is None:
            raise Misconduct(f"the house writes no entry {entry.subject} {entry.kind} in this book")
        if wrong := set(moved) - rule.moves:
            raise Misconduct(f"it makes a {min(wrong)}, which no {entry.subject} {entry.kind} does")
        if (entry.subject, entry.kind) == ("table", "settings_changed"):
            self._change(now, entry.content)
        if rule.holds:
            rule.holds(entry)
        if rule.entered is None and rule.says is None:
            return None
        return self._enacted(rule, self._scene(now, entry), entry)

    @staticmethod
    def _enacted(rule: Rule, scene: Scene, entry: Entry) -> Step | None:
        try:
            if rule.entered:
                _permit(scene, rule.entered, entry)
            step = rule.says(scene, entry) if rule.says else None
        except Refused as refused:
            raise Misconduct(f"it could not be entered then: {refused.sentence}") from None
        if step is not None:
            _compare(step, entry)
        return step

    def _scene(self, now: Standing, entry: Entry) -> Scene:
        table = self._table
        if table is None:
            raise Misconduct("the log does not say how the table was set up before it")
        return Scene(table, GAMES[table.game], *self._rules_and_limits, now, _writer(now, entry))

    # --- settings

    def _change(self, now: Standing, said: Mapping[str, Any]) -> None:
        before = asdict(self._settings) if self._settings else {}
        after = Settings(**before | said["after"])
        due = difference(before, asdict(after)) if before else {"before": {}, "after": said["after"]}
        if where := _difference(due, {name: said.get(name) for name in due}):
            raise Misconduct(f"the settings were others before it: its {where}")
        if before and now.round_open and (waiting := WAITS.keys() & said["after"].keys()):
            raise Misconduct(f"it changes the {min(waiting)} of a table at which a round is open")
        self._set(after)

    def _set(self, settings: Settings) -> None:
        msgspec.convert(asdict(settings), Settings)
        fields = {name: value for name, value in asdict(settings).items() if name != "denominations"}
        self._settings, self._table = settings, Table(name=self._book.name, book_id=self._book.pk, **fields)
        self._rules_and_limits = rules_of(self._table), limits_of(self._table)


def _settings_through(book: Book, through: int) -> Iterable[Mapping[str, Any]]:
    """What every change of a table's settings up to an entry said, the first one first."""
    if through:
        found = LogEntry.objects.filter(book=book, subject="table", kind="settings_changed", seq__lte=through)
        for body in found.order_by("seq").values_list("body", flat=True):
            yield json.loads(bytes(body))["content"]


def _writer(now: Standing, entry: Entry) -> Staff:
    """Who wrote an entry, as far as a table's log knows: its dealer, or else somebody who runs the floor."""
    dealer = now.dealer
    if dealer is not None and entry.by == dealer.signature:
        return _person(dealer.username, dealer.name, Role.DEALER)
    return _person("", entry.by, Role.PIT_BOSS)


@lru_cache(maxsize=100)
def _person(username: str, name: str, role: Role) -> Staff:
    return Staff(username=username, name=name, role=role)


_AT_SEAT: Final = re.compile(r"seat (\d+)")
"""How the log names a player, whom the house knows by the page of a seat alone."""


def _permit(scene: Scene, asked: type, entry: Entry) -> None:
    """Whether whoever wrote an entry may enter what it comes from: a seat its own choices, and nothing else."""
    chosen = [action["seat"] for action in entry.content.get("actions", ()) if action["do"] == "choose"]
    current = scene.standing.round if "opening" not in entry.content else None
    player = _AT_SEAT.fullmatch(entry.by)
    if player is None:
        dealing.permit(scene, _writer(scene.standing, entry), asked)
        if asked is not TakeBack and current and (hidden := [one for one in chosen if current.hides_cards_of(one)]):
            raise Misconduct(f"{entry.by} chose for seat {hidden[0]}, whose cards only that seat may know")
        return
    secret = current is not None and current.secret and scene.standing.round_open
    own = chosen == [int(player[1])] and entry.content["actions"][0]["do"] == "choose"
    if (entry.subject, entry.kind) != ("round", "play") or not (secret and own):
        raise Misconduct(f"it is by {entry.by}, which may choose for itself at a house shoe, and nothing else")


def _compare(step: Step, entry: Entry) -> None:
    """Raise Misconduct where an entry does not say what the house would have written. It may say more."""
    if (step.subject, step.kind) != (entry.subject, entry.kind):
        raise Misconduct(f"the house would have written {step.subject} {step.kind}")
    if step.round != entry.round:
        raise Misconduct(f"its round is {entry.round}, the table is at round {step.round}")
    said = {name: entry.content.get(name) for name in step.content}
    if said and (where := _difference(step.content, said)):
        raise Misconduct(f"its {where}")


def _difference(due: Mapping[str, Any], said: Mapping[str, Any]) -> str | None:
    """The first place where two contents are not the same, and what they have there."""
    if canonical(due) == canonical(said):
        return None
    for name in sorted(due.keys() | said.keys()):
        ours, theirs = due.get(name), said.get(name)
        if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
            if deeper := _difference(ours, theirs):
                return f"{name}.{deeper}"
        elif canonical({name: ours}) != canonical({name: theirs}):
            return f"{name} is {_short(theirs)}, not {_short(ours)}"
    return "content is another"


def _short(value: Any) -> str:
    spelled = canonical({"": value}).decode()[4:-1]
    return spelled if len(spelled) <= 80 else f"{spelled[:77]}..."


# --- the table and its dealer ----------------------------------------------------------------------------------


def _door(scene: Scene, entry: Entry) -> Step:
    counted = scene.standing.counted
    if counted is None:
        raise Misconduct(f"the table is {entry.kind} without {'an opener' if entry.kind == 'opened' else 'a closer'}")
    return doors.door(counted)


def _slip(scene: Scene, entry: Entry) -> Step:
    said = msgspec.convert(entry.content, Said)
    who = Staff(username=said.username, name=said.name, badge=said.badge, role=said.role)
    if who.signature != entry.by:
        raise Misconduct(f"it is signed by {who.signature}, and {entry.by} wrote it")
    return signing.entry(replace(scene, by=who), said)[0]


def _signed_in(scene: Scene, entry: Entry) -> Step:
    said = entry.content
    dealer = Staff(username=said["username"], name=said["name"], badge=said["badge"], role=Role.DEALER)
    if dealer.signature != entry.by:
        raise Misconduct(f"it signs in {dealer.signature}, and {entry.by} wrote it")
    taking = replace(scene, by=dealer)
    dealing.permit(taking, dealer, SignIn)
    doors.may_take(taking)
    return doors.taken(taking, dealer, said["terminal"], said.get("confirmed_by"))


def _signed_out(scene: Scene, entry: Entry) -> Step:
    now = scene.standing
    if now.dealer is None:
        raise Misconduct("it signs somebody out where nobody deals")
    doors.may_leave(scene)
    return Step("dealer", "signed_out", {"username": now.dealer.username})


# --- the shoe --------------------------------------------------------------------------------------------------


def _loaded(scene: Scene, entry: Entry) -> Step:
    shoes.expect(scene, "load")
    return _shoe("loaded", Shoe(scene.standing.shoes + 1, scene.game.decks(scene.rules), scene.table.source, "loaded"))


def _checked(scene: Scene, entry: Entry) -> Step:
    return shoes.check(scene, CheckDecks(tuple(entry.content["counts"]))).steps[0]


def _shuffled(scene: Scene, entry: Entry) -> Step:
    """The order of a house shoe is a secret of the house: ``commitments`` proves it when it is opened."""
    shoe = shoes.expect(scene, "shuffle")
    committed = str(entry.content["shoe"]["commitment"]) if shoe.source == ShoeSource.HOUSE else None
    return _shoe("shuffled", shoes.just_shuffled(scene, shoe, committed))


def _cut(scene: Scene, entry: Entry) -> Step:
    return shoes.place_cut_card(scene, PlaceCutCard()).steps[0]


def _burned(scene: Scene, entry: Entry) -> Step:
    return shoes.burn(scene, Burn()).steps[0]


def _cut_card_out(scene: Scene, entry: Entry) -> Step:
    shoe, current = scene.standing.shoe, scene.standing.round
    if shoe is None or shoe.source == ShoeSource.KEYED:
        return shoes.cut_card_out(scene, CutCardOut()).steps[0]
    if current is None or not rounds.cut_comes_out(scene, current, current.state):
        raise Misconduct("the cut card of this house shoe does not come out here")
    return shoes.cut_step(scene)


def _retired(scene: Scene, entry: Entry) -> Step:
    shoe = scene.standing.shoe
    if shoe is None or scene.standing.round_open:
        raise Misconduct("it retires a shoe in mid-round, or none")
    return _shoe("retired", shoe)


def _shoe(kind: str, shoe: Shoe) -> Step:
    return Step("shoe", kind, {"shoe": shoe.spelled()})


# --- the round -------------------------------------------------------------------------------------------------


def _played(scene: Scene, entry: Entry) -> Step:
    """A round is opened as the table is set and stands; what it decides and pays is the engine's to say."""
    rounds.shoe_ready(scene)
    current, pinned = rounds.round_at(scene, _start(scene, entry))
    if pinned and pinned["opening"].get("first"):
        pinned["opening"] = {**pinned["opening"], "first": _drawn(entry)}
    commits = "commitment" in entry.content
    if commits and not (_of_the_house(scene.standing) and {"do": "shuffle"} in entry.content["actions"]):
        raise Misconduct("it commits to an order, and shuffles no house shoe")
    rests_on = {"opening": pinned} if pinned or "opening" in entry.content else {}
    return Step("round", "play", rests_on, current.number)


def _start(scene: Scene, entry: Entry) -> Bet | StartGame:
    """What opened the round, if this entry did: chips for a pot are dealt for to the seats that it names."""
    pinned = entry.content.get("opening")
    return Bet(0, 0) if scene.game.banked or pinned is None else StartGame(tuple(pinned["opening"]["seats"]))


def _drawn(entry: Entry) -> int:
    """The seat that chance chose to start."""
    opening = entry.content["opening"]["opening"]
    if opening["first"] not in opening["seats"]:
        raise Misconduct(f"seat {opening['first']} starts, which is not in the game")
    return int(opening["first"])


def _of_the_house(now: Standing) -> bool:
    return now.shoe is not None and now.shoe.source == ShoeSource.HOUSE


def _taken_back(scene: Scene, entry: Entry) -> Step:
    return rounds.take_back(scene, TakeBack()).steps[0]


def _paid(scene: Scene, entry: Entry) -> Step:
    return rounds.paid(scene, Paid(int(entry.content["seat"]))).steps[0]


# --- chips at the seats of a table with a pot ------------------------------------------------------------------


def _bought_in(scene: Scene, entry: Entry) -> Step:
    said = entry.content
    bought = BuyIn(int(said["seat"]), int(said["amount_cents"]), chips=not said["cash"])
    return _paid_until(scene, entry, pots.buy_in(scene, bought).steps[0])


def _sold(scene: Scene, entry: Entry) -> Step:
    return cash.sold_step(scene, int(entry.content["amount_cents"]))


def _changed(scene: Scene, entry: Entry) -> Step:
    return cash.changed_step(scene, int(entry.content["amount_cents"]), bool(entry.content["up"]))


def _cashed_out(scene: Scene, entry: Entry) -> Step:
    seat = int(entry.content["seat"])
    amount = pots.between_games(scene).get(seat, 0)
    if not amount:
        raise Misconduct(f"it cashes out seat {seat}, which has no chips in play")
    return _paid_until(scene, entry, pots.seats_step(scene, "cash_out", {"seat": seat, "amount_cents": amount}))


def _charged(scene: Scene, entry: Entry) -> Step:
    pots.between_games(scene)
    said, at = int(entry.content["periods"]), entry.at
    if at is None or not 1 <= said <= pots.periods_due(scene.table, scene.standing.charged_at, at):
        raise Misconduct(f"it charges {said} half hours, which were not due")
    facts = {"periods": said, "each_cents": scene.table.time_charge_cents}
    return _paid_until(scene, entry, pots.seats_step(scene, "time_charge", facts))


def _paid_until(scene: Scene, entry: Entry, step: Step) -> Step:
    """Time runs from the first buy-in, of which only the entry knows the moment."""
    stacks, said = dict(step.content["stacks"]), entry.content["charged_at"]
    until = settlement.charged_after(scene.standing.charged_at, step.kind, step.content, stacks, said)
    return replace(step, content={**step.content, "charged_at": until})


# --- the house's day -------------------------------------------------------------------------------------------


def _hours_hold(entry: Entry) -> None:
    """Hours are those that the row beside the log has, and were set for days to come."""
    said, known = hours.Hours.read(entry.content), hours.calendar(before_seq=entry.seq)
    row = HouseHours.objects.filter(seq=entry.seq).first()
    if row is None or hours.hours_in(row) != said or row.by != entry.by:
        raise Misconduct("the house's hours, as they are kept beside the log, are others")
    before = replace(known.hours_of(said.from_day), from_day=said.from_day)
    if where := _difference(before.spelled(), entry.content["before"]):
        raise Misconduct(f"the hours were others before it: its before.{where}")
    if entry.at is None or (wrong := hours.faults(said, known, entry.at)):
        raise Misconduct(f"it could not be set then: {' '.join(wrong.values())}")


def _proposal_holds(entry: Entry) -> None:
    """Figures are signed first by somebody who runs the floor, once the day is over and before it is closed."""
    said = entry.content
    _refuse_signer(entry, "tables.run_floor")
    _refuse_figures(said)
    if entry.at is None or entry.at < hours.calendar(before_seq=entry.seq).span(_day(said)).end:
        raise Misconduct("it signs the figures of a day that goes on")
    if DayClose.objects.filter(day=_day(said), seq__lt=entry.seq).exists():
        raise Misconduct("it signs the figures of a day that was closed before")


def _certificate_holds(entry: Entry) -> None:
    """A certificate is what the row beside the log has, and what its practice comes to when it is played again."""
    row = Certificate.objects.filter(seq=entry.seq).select_related("dealer", "signed_by", "practice").first()
    if row is None or certificates.spelled(row) != entry.content or row.signed_as != entry.by:
        raise Misconduct("the certificate, as it is kept beside the log, is another")
    if wrong := certificates.faults(row):
        raise Misconduct(wrong)


def _close_holds(entry: Entry) -> None:
    """A day was closed by two people, over the figures that the first one signed, as the row beside the log has it."""
    said = entry.content
    row = DayClose.objects.filter(seq=entry.seq).first()
    if row is None or (row.day.isoformat(), row.closed_by, row.proposed_by) != (
        said["day"], said["username"], said["proposed_by"],
    ):  # fmt: skip
        raise Misconduct("the day's close, as it is kept beside the log, is another")
    first = LogEntry.objects.filter(book_id=entry.book_id, seq=said["proposal"], seq__lt=entry.seq).first()
    if first is None or (first.subject, first.kind) != ("day", "proposed"):
        raise Misconduct("it closes a day that nobody proposed")
    proposed = json.loads(bytes(first.body))["content"]
    if proposed["username"] != said["proposed_by"] or said["proposed_by"] == said["username"]:
        raise Misconduct("its two signatures are not of two people")
    if said["digest"] != proposed["digest"] or said["day"] != proposed["day"]:
        raise Misconduct("its figures are not those that were signed first")
    _refuse_signer(entry, "tables.close_day")
    _refuse_figures(said)
    if entry.at is None or entry.at < hours.calendar().span(row.day).end:
        raise Misconduct("it closes a day that goes on")
    if says := closing.misstated(entry.seq, said):
        raise Misconduct(f"its figures are not those of the day: {says}")


def _taking_over_holds(entry: Entry) -> None:
    """Rows are taken over once, before the house wrote the first entry of a release that enters all of them: later it
    would make of anything what was always so."""
    before = LogEntry.objects.filter(book_id=entry.book_id, seq__lt=entry.seq)
    for subject, kind in (("table", "added"), ("alert", "raised"), ("rows", "noted")):
        if before.filter(subject=subject, kind=kind).exists():
            raise Misconduct(f"it takes rows over after the first {subject} {kind}")
    for body in before.filter(subject="rows", kind="taken_over").values_list("body", flat=True):
        if json.loads(bytes(body))["content"]["rows"] == entry.content["rows"]:
            raise Misconduct(f"it takes {entry.content['rows']} over after the first time")


def _day(said: Mapping[str, Any]) -> date:
    return date.fromisoformat(said["day"])


def _refuse_signer(entry: Entry, permission: str) -> None:
    """Whoever an entry says signed it wrote it, and may."""
    said = entry.content
    if not entry.by.endswith(f" {said['name']}"):
        raise Misconduct(f"it is signed by {said['name']}, and {entry.by} wrote it")
    if not Staff(username=said["username"], role=said["role"]).has_perm(permission):
        raise Misconduct(f"{said['name']} may not sign it as {said['role']}")


def _refuse_figures(said: Mapping[str, Any]) -> None:
    """A day's figures are what their digest names, each table's once, and each win is what its parts come to."""
    rows = said["figures"]
    if said["digest"] != sha256(canonical({"day": said["day"], "figures": rows})).hexdigest():
        raise Misconduct("its figures are not those that its digest names")
    if sorted(row["name"] for row in rows) != sorted(said["through"]):
        raise Misconduct("its figures are not those of the books that it read")
    for row in rows:
        won = sum(row[name] for name in _WON) - sum(row[name] for name in _GIVEN)
        if won != row["win_cents"]:
            raise Misconduct(f"{row['name']} won {row['win_cents']} by it, its parts come to {won}")


_WON: Final = ("closer_cents", "credits_cents", "drop_cents", "corrections_cents")
_GIVEN: Final = ("opener_cents", "fills_cents", "between_cents")


# --- what is kept beside the log of slips ----------------------------------------------------------------------


def _signature_holds(entry: Entry) -> None:
    """The signature kept beside an entry is the one that it says; that there is one is asked of the whole book."""
    said = msgspec.convert(entry.content, Said)
    row = SlipSignature.objects.select_related("slip").filter(book_id=entry.book_id, seq=entry.seq).first()
    if row is None:
        return
    if (str(row.slip), row.stage, row.username, row.role) != (said.slip, said.stage, said.username, said.role):
        raise Misconduct(f"the signature kept beside it is {row}, as {row.role}")
    about = 0 if said.slip.split("/")[0] in (*paper.COUNTS, "drop") else paper.total(said.chips)
    if row.slip.seq == entry.seq and row.slip.total_cents != about:
        raise Misconduct(f"the slip kept beside it is about {row.slip.total_cents}, it says {about}")


def _cage_holds(entry: Entry) -> None:
    """The cage was counted against what the transfers of every book had left there, as far as each was read then."""
    _signature_holds(entry)
    expected, through = entry.content["now"]["expected_cents"], entry.content["through"]
    books = dict(Book.objects.exclude(name=HOUSE).values_list("name", "pk"))
    for name, pk in books.items():
        _refuse_other_time(entry, name, pk, through.get(name, 0))
    read = {books[name]: seq for name, seq in through.items()} | {entry.book_id: entry.seq - 1}
    left = cage.balance_at(Account.objects.get(place=CAGE), read)
    if left != expected:
        raise Misconduct(f"it expects {expected} in the cage, the transfers of all books left {left}")


def _refuse_other_time(entry: Entry, name: str, book_id: int, through: int) -> None:
    """How far a table was read is where its log stood then: not long before, nor after."""
    if mends.of(book_id, through, through + 1) or mends.of(entry.book_id, entry.seq, entry.seq):
        return  # of mended times the day is known, and not the minute
    near = LogEntry.objects.filter(book_id=book_id, seq__in=(through, through + 1)).values_list("seq", "at")
    at, then = dict(near), entry.at
    if then is None or (through and through not in at):
        raise Misconduct(f"it counts the cage, and {name} has no entry {through}")
    if (through and at[through] > then + SLACK) or at.get(through + 1, then) < then - SLACK:
        raise Misconduct(f"it counts the cage with {name} as it stood at another time, after entry {through}")


def _signed_by_the_house(entry: Entry) -> None:
    """Its document was signed by the key that the house had then."""
    document = entry.content["document"]
    bodies = LogEntry.objects.filter(book__name=HOUSE, subject="key").values_list("body", flat=True)
    if document["key"] not in {json.loads(bytes(body))["content"]["key"] for body in bodies}:
        raise Misconduct("it is signed by a key that is not the house's")
    if not seals.is_signed(document["key"], bytes.fromhex(entry.content["signature"]), document):
        raise Misconduct("its document is not signed by its key")


def _mend_holds(entry: Entry) -> None:
    """The true times of a book's last entries were signed by the house, and come after those that were true before."""
    _signed_by_the_house(entry)
    first = mends_in(entry)[0]
    if entry.content["document"]["book"] != Book.objects.get(pk=entry.book_id).name:
        raise Misconduct("it mends another book")
    if [mend for mend in mends.of(entry.book_id, first.first, entry.seq) if mend.entry < entry.seq]:
        raise Misconduct("it mends entries that were mended before")
    if first.first > 1 and timestamp(mends.time_of(entry.book_id, first.first - 1)) > first.since:
        raise Misconduct("it mends entries to times before the entry that they follow")


def _view_holds(entry: Entry) -> None:
    """An auditor looked, and at nothing that was still dealt from."""
    if wrong := shoe_audit.not_seen(entry.content, entry.at):
        raise Misconduct(wrong)


# --- disputes and corrections ----------------------------------------------------------------------------------


def _as_written(scene: Scene, entry: Entry, asked: type) -> Scene:
    """The scene with whoever an entry says wrote it, if they may enter what it comes from."""
    said = entry.content
    who = Staff(username=said["username"], name=said["name"], badge=said["badge"], role=said["role"])
    acting = replace(scene, by=who)
    if acting.signature != entry.by:
        raise Misconduct(f"it is of {acting.signature}, and {entry.by} wrote it")
    dealing.permit(acting, who, asked)
    return acting


def _dispute_opened(scene: Scene, entry: Entry) -> Step:
    said = entry.content["dispute"]
    entered = OpenDispute(said["round"], said["claim"], said["claimant"], said["seat"], said["claim_cents"])
    acting = _as_written(scene, entry, OpenDispute)
    return claims.open_dispute(acting, entered, said["reportable_from_cents"]).steps[0]


def _dispute_noted(scene: Scene, entry: Entry) -> Step:
    said = entry.content
    entered = NoteDispute(said["dispute"]["number"], said["heard"], said["text"])
    return claims.note(_as_written(scene, entry, NoteDispute), entered).steps[0]


def _dispute_ruled(scene: Scene, entry: Entry) -> Step:
    said = entry.content["dispute"]
    entered = RuleDispute(said["number"], said["ruling"], said["reason"])
    return claims.rule(_as_written(scene, entry, RuleDispute), entered).steps[0]


def _dispute_closed(scene: Scene, entry: Entry) -> Step:
    entered = CloseDispute(entry.content["dispute"]["number"], entry.content["text"])
    return claims.close(_as_written(scene, entry, CloseDispute), entered).steps[0]


def _correction_proposed(scene: Scene, entry: Entry) -> Step:
    said = entry.content["correction"]
    asks = ("round", "seat", "handed_cents", "reason", "due_cents", "dispute", "earlier")
    entered = ProposeCorrection(**{name: said[name] for name in asks})
    return corrections.propose(_as_written(scene, entry, ProposeCorrection), entered, said["slip"]).steps[0]


def _correction_signed(scene: Scene, entry: Entry) -> Step:
    entered = SignCorrection(entry.content["correction"]["slip"])
    return corrections.sign(_as_written(scene, entry, SignCorrection), entered).steps[0]


def _correction_declined(scene: Scene, entry: Entry) -> Step:
    entered = DeclineCorrection(entry.content["correction"]["slip"], entry.content["text"])
    return corrections.decline(_as_written(scene, entry, DeclineCorrection), entered).steps[0]


# --- the closed table ------------------------------------------------------------------------------------------

AT_A_TABLE: Final[Mapping[tuple[str, str], Rule]] = {
    ("table", "settings_changed"): Rule(),
    ("table", "opened"): Rule(None, _door),
    ("table", "closed"): Rule(None, _door),
    ("dealer", "signed_in"): Rule(None, _signed_in),
    ("dealer", "signed_out"): Rule(None, _signed_out),
    ("shoe", "loaded"): Rule(LoadShoe, _loaded),
    ("shoe", "deck_checked"): Rule(CheckDecks, _checked),
    ("shoe", "deck_check_failed"): Rule(CheckDecks, _checked),
    ("shoe", "shuffled"): Rule(ShuffleShoe, _shuffled),
    ("shoe", "cut_card_placed"): Rule(PlaceCutCard, _cut),
    ("shoe", "burned"): Rule(Burn, _burned),
    ("shoe", "cut_card_out"): Rule(CutCardOut, _cut_card_out),
    ("shoe", "retired"): Rule(RetireShoe, _retired),
    ("round", "play"): Rule(Bet, _played, DEALT),
    ("round", "paid"): Rule(Paid, _paid),
    ("round", "take_back"): Rule(TakeBack, _taken_back, frozenset({REVERSAL})),
    ("seats", "buy_in"): Rule(BuyIn, _bought_in, frozenset({"buy_in", "drop", "sit_down"})),
    ("seats", "cash_out"): Rule(CashOut, _cashed_out, frozenset({"stand_up"})),
    ("seats", "time_charge"): Rule(TimeCharge, _charged, frozenset({"time_charge"})),
    ("seat_page", "issued"): Rule(IssueSeatPage),
    ("seat_page", "revoked"): Rule(),
    ("alert", "card_refused"): Rule(KeyCard),
    ("dispute", "opened"): Rule(None, _dispute_opened),
    ("dispute", "noted"): Rule(None, _dispute_noted),
    ("dispute", "ruled"): Rule(None, _dispute_ruled),
    ("dispute", "closed"): Rule(None, _dispute_closed),
    ("correction", "proposed"): Rule(None, _correction_proposed),
    ("correction", "signed"): Rule(
        None, _correction_signed, frozenset({"correct_pay", "correct_take", "over", "short"})
    ),
    ("correction", "declined"): Rule(None, _correction_declined),
    ("chips", "buy_in"): Rule(SellChips, _sold, frozenset({"buy_in", "drop"})),
    ("chips", "changed"): Rule(ChangeChips, _changed),
    MENDED: Rule(holds=_mend_holds),
} | {("slip", kind): Rule(None, _slip, moved, _signature_holds) for kind, moved in paper.kinds(house=False).items()}

IN_THE_HOUSE: Final[Mapping[tuple[str, str], Rule]] = {
    ("chips", "issued"): Rule(moves=frozenset({"issue", "withdraw"})),
    ("chips", "sold"): Rule(moves=frozenset({"sale", "cash_in"})),
    ("chips", "redeemed"): Rule(moves=frozenset({"redeem", "cash_out"})),
    ("chips", "added"): Rule(),
    ("chips", "changed"): Rule(),
    ("hours", "changed"): Rule(holds=_hours_hold),
    ("day", "proposed"): Rule(holds=_proposal_holds),
    ("day", "closed"): Rule(holds=_close_holds),
    ("certificate", "issued"): Rule(holds=_certificate_holds),
    ("alert", "acknowledged"): Rule(),
    ("alert", "raised"): Rule(),
    ("discrepancy", "assigned"): Rule(),
    ("discrepancy", "found"): Rule(),
    ("discrepancy", "opened"): Rule(),
    ("pepper", "carried_over"): Rule(),
    ("rows", "noted"): Rule(),
    ("rows", "taken_over"): Rule(holds=_taking_over_holds),
    ("table", "added"): Rule(),
    ("staff", "added"): Rule(),
    ("staff", "changed"): Rule(),
    ("staff", "emergency_code_made"): Rule(),
    ("staff", "emergency_sign_in"): Rule(),
    ("staff", "lock_out_lifted"): Rule(),
    ("staff", "locked_out"): Rule(),
    ("staff", "signed_in"): Rule(),
    ("staff", "signed_out"): Rule(),
    ("terminal", "added"): Rule(),
    ("terminal", "enrolled"): Rule(),
    ("terminal", "link_made"): Rule(),
    ("terminal", "lock_out_lifted"): Rule(),
    ("terminal", "locked_out"): Rule(),
    ("terminal", "revoked"): Rule(),
    ("terminal", "changed"): Rule(),
    ("key", "published"): Rule(),
    ("key", "rotated"): Rule(),
    ("key", "replaced"): Rule(),
    ("day", "sealed"): Rule(),
    ("day", "restored"): Rule(holds=_signed_by_the_house),
    ("clock", "confirmed"): Rule(holds=_signed_by_the_house),
    MENDED: Rule(holds=_mend_holds),
    ("shoe_audit", "listed"): Rule(holds=_view_holds),
    ("shoe_audit", "viewed"): Rule(holds=_view_holds),
    ("shoe_audit", "exported"): Rule(holds=_view_holds),
} | {
    ("slip", kind): Rule(moves=moved, holds=_cage_holds if kind == "cage_recounted" else _signature_holds)
    for kind, moved in paper.kinds(house=True).items()
}
