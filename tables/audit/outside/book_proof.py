"""Verifies one log's part of an audit bundle, entry by entry, from the state that the day before left. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final
from uuid import UUID

import msgspec

from ledger.proof import merkle, seals, spelling
from ledger.proof.chain import Broken, Entry, Head, Mend, mends_in, time_of, walk
from ledger.proof.chips import CASH_PLACES, HOUSE_PLACES, MAY_BE_NEGATIVE, MOVEMENTS, RACK, REVERSAL
from ledger.proof.moves import Chart, Move, Place, Posted, Proven, reconcile
from ledger.proof.spelling import canonical
from tables.audit.outside.bundle import KEYS, Bundle, Wrong, book_part, leaves_part
from tables.audit.outside.cage_counts import SecondCount, TablePart, count_of, into_places
from tables.audit.outside.house_pairs import HousePairs
from tables.games.protocol import Illegal
from tables.log import back_entry, limit_notice, non_tracked, pins, slip_workflow
from tables.log.catalog import event_of, fold
from tables.log.entries.clocks import ClockMended
from tables.log.entries.corrections import AboutCorrection, CorrectionProposed
from tables.log.entries.days import DaySealed
from tables.log.entries.keys import AboutKey
from tables.log.entries.rounds import Pinned, Played
from tables.log.entries.settings import TableSet
from tables.log.entries.slips import SlipSigned
from tables.log.event import AuditFailure, Event, Unreadable, refuse_signers
from tables.log.limit_plans import limits_in
from tables.log.pit_assignments import Posts, may_run_the_floor, tables_of
from tables.log.reader_messages import Messages
from tables.log.replay import Replay
from tables.log.shoe_orders import Seals, Unproven
from tables.log.state import UNREADABLE, Dealer, TableState
from tables.log.terms import Settings, settings_after
from tables.log.trusted_keys import Trust

HOUSE: Final = "house"
Say = Callable[[str], None]
Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SignedParts:
    """The parts of a bundle that signatures verify: each log is compared with them."""

    bundle: Bundle
    say: Say
    keys: Sequence[Document]
    days: Mapping[str, Document]
    leaves: Mapping[str, Mapping[str, Document]]
    """The documents of all logs, by day and log; the day before the bundle's first is included."""


@dataclass(slots=True)
class _State:
    """The state of a log after some of its entries."""

    standing: TableState = field(default_factory=TableState)
    seals: Seals = field(default_factory=Seals)
    settings: Settings | None = None
    trust: Trust = field(default_factory=Trust)
    """The keys of terminals, from the site log."""
    messages: Messages = field(default_factory=Messages)
    """The messages of the table's card readers."""
    tells_notice: bool = False
    """Whether an entry of this log states the notice of limits; then each further one must."""
    posts: Posts = field(default_factory=Posts)
    """The pit assignments, from the site log."""

    def carry(self, entry: Entry) -> None:
        """Replay an entry that was verified on an earlier day."""
        event = event_of(entry)
        if isinstance(event, TableSet):
            self.set(event)
        self.trust.follow(event, entry.seq)
        self.messages.resume(event)
        self.posts.follow(event, entry.seq, entry.at)
        self.standing = fold(self.standing, event, seq=entry.seq, round=entry.round)
        self.seals.resume(self.standing, entry.seq, event)

    def set(self, event: TableSet) -> None:
        self.settings = settings_after(self.settings, event.after)
        self.tells_notice |= event.tells_notice

    def same(self, other: _State, ends: datetime) -> bool:
        """Whether two states are equal, apart from the entry up to which they were read. ``ends``: the end of the
        day."""
        if self.posts.rests_on(ends) != other.posts.rests_on(ends):
            return False
        alike = [replace(state.standing, seq=0, hash=None) for state in (self, other)]
        ours, theirs = ((state.settings, state.seals.live, state.trust) for state in (self, other))
        return alike[0] == alike[1] and ours == theirs


@dataclass(frozen=True, slots=True)
class SignedEntry:
    """A signed entry, to be verified with the keys of terminals."""

    event: Event
    seq: int
    by: str
    key: UUID | None


@dataclass(frozen=True, slots=True)
class Act:
    """An entry by which a floor supervisor may have acted."""

    event: Event
    seq: int
    by: str
    at: datetime
    dealer: Dealer | None
    """The dealer at the table at that time."""


class BookProof:
    """Verifies one log's part of a bundle."""

    def __init__(self, signed: SignedParts, number: int, name: str) -> None:
        self.signed, self.bundle, self.name = signed, signed.bundle, name
        self.files = {part: book_part(number, part) for part in ("carried", "proofs", "entries", "transfers")}
        days = [(day, leaves[name]) for day, leaves in signed.leaves.items() if name in leaves]
        first = self.bundle.days[0]
        self.opening = next((leaf for day, leaf in days if day < first), None)
        self.leaves = [leaf for day, leaf in days if day >= first]
        self.mends = [Mend(*span) for leaf in self.leaves for span in leaf.get("mended", ())]
        """Entries with false times, from the documents of the days."""
        self.seq = 0
        self.part = self.files["entries"]
        self.moves: dict[int, Move] = {}
        """Transfers that a later one may reverse, by id."""
        self.reversals: set[int] = set()
        self.entries: dict[int, Entry] = {}
        """Entries that the next day may depend on, by number."""
        self.counts = {"entries": 0, "rounds": 0, "transfers": 0, "orders": 0}
        self.keys_published = 0
        self.balances: dict[int, int] = {}
        self.places: dict[int, Place] = {}
        self.carried_transfers: dict[int, Sequence[Posted]] = {}
        self.at_the_cage = TablePart(0, 0, {})
        self.cage_counts: list[SecondCount] = []
        """In the site log: counts of shared places, to be compared with the transfers of all logs."""
        self.signatures: list[SignedEntry] = []
        self.acts: list[Act] = []
        """Entries by which floor supervisors may have acted, to be compared with the assignments in the site log."""
        self.posts = Posts()
        """In the site log: the pit assignments."""
        self.pairs = HousePairs()
        self.trust = Trust()
        """In the site log: the terminal keys with which all logs' signatures are verified."""

    def run(self) -> None:
        try:
            self._run()
        except Broken as broken:
            raise Wrong(self.part, f"{self.name}, entry {broken.fault.seq}: {broken.fault.what}") from None
        except Unproven as unproven:
            raise Wrong(self.part, f"{self.name}, entry {unproven.seq}: {unproven.what}") from None
        except (AuditFailure, Unreadable) as wrong:
            raise self._wrong(str(wrong)) from None
        except Illegal as illegal:
            raise self._wrong(f"the rules do not allow it: {illegal.sentence}") from None
        except UNREADABLE as error:
            raise self._wrong(f"it is no entry that a house can write: {short(error)}") from None

    def _wrong(self, what: str) -> Wrong:
        return Wrong(self.part, f"{self.name}, entry {self.seq}: {what}")

    def _run(self) -> None:
        opening, state = self.opening, self._opening_state()
        self.trust, self.posts = state.trust, state.posts
        self.part = self.files["entries"]
        self.balances = {account: cents for account, _, _, cents in (opening["accounts"] if opening else ())}
        before, after = _head(opening), _head(self.leaves[-1])
        opening_cents: dict[str, int] = {}
        for _, place, _, cents in opening["accounts"] if opening else ():
            opening_cents[place] = opening_cents.get(place, 0) + cents
        self.at_the_cage = TablePart(before.seq, after.seq, opening_cents)
        chain = walk(self._entries(before), after, after=before if opening else None)
        proven = reconcile(chain, self._transfers(), self.name)
        replay: Replay | None = None
        last = before.seq
        for leaf in self.leaves:
            if leaf["first"] != last + 1 or leaf["last"] < last:
                says = f"{self.name}: its part of the day does not follow the day before"
                raise Wrong(leaves_part(leaf["day"]), says)
            last = leaf["last"]
            replay = self._begin(leaf, state, replay)
            self._day(leaf, proven, state, replay)
        for _ in proven:  # an entry after the last leaf is a fault, which the chain names
            pass
        self._report()

    # --- one day

    def _begin(self, leaf: Document, state: _State, replay: Replay | None) -> Replay:
        """The replay at the start of a day, with the day's places. A table may gain places and loses none. Raises
        Wrong."""
        self.places = {
            account: (place, tuple(seat) if isinstance(seat, list) else seat)
            for account, place, seat, _ in leaf["accounts"]
        }
        chart = Chart(0, {place: account for account, place in self.places.items()})
        if missing_places := [
            account for account, cents in self.balances.items() if cents and account not in self.places
        ]:
            raise Wrong(
                leaves_part(leaf["day"]), f"{self.name}: the place {missing_places[0]} is missing, which holds chips"
            )
        if replay is not None:
            return replace(replay, chart=chart)
        balances = {
            place: self.balances.get(account, 0) for account, (place, seat) in self.places.items() if seat is None
        }
        return Replay(chart, state.standing, state.seals, balances, dict(self.carried_transfers))

    def _day(self, leaf: Document, proven: Iterator[Proven], state: _State, replay: Replay) -> None:
        """Verify the entries of one day and the document signed over them."""
        slips, tree, ends = dict(leaf["slips"]), merkle.MerkleTree(), self.signed.days[leaf["day"]]["ends"]
        for _ in range(leaf["first"], leaf["last"] + 1):
            entry, posted = next(proven)
            # The signed end of the day bounds its entries: a later entry could not have been known when it was sealed.
            if (moment := time_of(entry, self.mends)) >= ends:
                raise self._wrong(f"it is of {moment}, after the end of {leaf['day']}")
            event = event_of(entry)
            if (slip := slips.get(entry.seq)) != (begun := _begun_slip(event, entry, slip)):
                raise self._wrong(f"it begins the slip {begun}, {leaf['day']} was sealed with {slip}")
            if isinstance(event, ClockMended):
                self._mend(event, entry)
            tree.add(entry.hash)
            self._check(event, entry, posted, state, replay)
        self._end(leaf, tree, state, replay)

    def _mend(self, event: ClockMended, entry: Entry) -> None:
        """Check that a clock correction was signed with the site's key and equals the days' documents. Raises Wrong."""
        spans, document, signature = mends_in(entry), event.document, bytes.fromhex(event.signature)
        keys = {key["key"] for key in self.signed.keys}
        is_signed = document.key in keys and seals.is_signed(document.key, signature, msgspec.to_builtins(document))
        if document.book != self.name or not is_signed:
            raise self._wrong("it mends the times of entries, and the house did not sign that")
        if document.by[:1] != (entry.by,):
            raise self._wrong(f"its document is not signed first by {entry.by}, who wrote it")
        spans_of_days = [
            mend
            for mend in spans
            if any(leaf["first"] <= mend.last and mend.first <= leaf["last"] for leaf in self.leaves)
        ]
        if [mend for mend in self.mends if mend.entry == entry.seq] != list(dict.fromkeys(spans_of_days)):
            raise self._wrong("it mends other entries, or to other times, than the days were sealed with")
        self.signed.say(
            f"note   {self.name}: entries {spans[0].first} to {spans[-1].last} bear false times, mended by entry"
            f" {entry.seq}: {document.reason}"
        )

    def _check(self, event: Event, entry: Entry, posted: Sequence[Posted], state: _State, replay: Replay) -> None:
        refuse_signers(event, entry.by, replay.standing.dealer)
        for transfer in posted:
            self._move(transfer)
        self._cage(event, entry, posted, replay)
        if self.name == HOUSE:
            self._house(event)
            self.pairs.follow(event, entry)
            state.trust.follow(event, entry.seq)
            state.posts.follow(event, entry.seq, entry.at)
        else:
            self._table(event, entry, replay, state)
        self._act(event, entry, replay.standing.dealer)
        replay.follow(entry, event, posted)
        if event.attested is not None or event.signed_terms() is not None:
            self.signatures.append(SignedEntry(event, entry.seq, entry.by, entry.key))
        self.counts["orders"] += event.opens is not None
        self.counts["rounds"] = replay.rounds
        self.entries[entry.seq] = entry
        self.counts["entries"] += 1
        self.counts["transfers"] += len(posted)

    def _act(self, event: Event, entry: Entry, dealer: Dealer | None) -> None:
        is_mended = any(mend.first <= entry.seq <= mend.last for mend in self.mends)
        runs = tables_of(event) if self.name == HOUSE else may_run_the_floor(event, entry.by, dealer)
        if runs and entry.at is not None and not is_mended:
            self.acts.append(Act(event, entry.seq, entry.by, entry.at, dealer))

    def _move(self, posted: Posted) -> None:
        """Check a transfer: on the closed list, between existing places, of a positive amount, and a reversal exactly
        once of its original. Raises Wrong."""
        move = posted.move
        accounts = ((move.source_account_id, move.source_place), (move.target_account_id, move.target_place))
        if (move.source_place, move.target_place) not in MOVEMENTS.get(move.kind, ()):
            raise self._wrong(f"it moves {move.spelled()}, which is not on the list of movements")
        for account, place in accounts:
            if self.places.get(account, ("", None))[0] != place:
                raise self._wrong(f"it moves {move.spelled()}, and the account {account} is no {place} of {self.name}")
        # True and 1.0 equal 1 in Python, but are other bytes in the log.
        if type(move.amount_cents) is not int or move.amount_cents <= 0 or accounts[0] == accounts[1]:
            raise self._wrong(f"it moves {move.spelled()}, which is no amount from one place to another")
        if (move.kind == REVERSAL) != (move.reverses is not None):
            raise self._wrong(f"it moves {move.spelled()}, and a reversal names what it reverses")
        if move.reverses is not None:
            original = self.moves.get(move.reverses)
            # A reversal of an altered amount, or a second reversal, would create chips.
            if original is None or original.undone(move.reverses) != move or move.reverses in self.reversals:
                raise self._wrong(f"it reverses the transfer {move.reverses}, which is another, or was reversed before")
            self.reversals.add(move.reverses)
        self.moves[posted.id] = move
        self.balances[move.source_account_id] = self.balances.get(move.source_account_id, 0) - move.amount_cents
        self.balances[move.target_account_id] = self.balances.get(move.target_account_id, 0) + move.amount_cents

    def _cage(self, event: Event, entry: Entry, posted: Sequence[Posted], replay: Replay) -> None:
        """Collect a table's transfers into and out of shared places, and the counts of those places."""
        if self.name == HOUSE:
            is_mended = any(mend.first <= entry.seq <= mend.last for mend in self.mends)
            if count := count_of(event, entry, replay.held or {}):
                self.cage_counts.append(replace(count, moment=None if is_mended else count.moment))
        elif (cents := into_places(transfer.move for transfer in posted)) and entry.at is not None:
            is_mended = any(mend.first <= entry.seq <= mend.last for mend in self.mends)
            self.at_the_cage.moves.append((entry.seq, None if is_mended else entry.at, cents))

    def _end(self, leaf: Document, tree: merkle.MerkleTree, state: _State, replay: Replay) -> None:
        """Check that a day's signed document follows from its entries: root, balances, and the entries that the next
        day depends on. Raises Wrong."""
        span = f"{self.name}, entries {leaf['first']} to {leaf['last']}"
        # The root covers each entry of the day in order, so a removed or altered one changes it.
        if tree.root.hex() != leaf["root"]:
            raise Wrong(self.part, f"{span}: they do not make the root that was signed for {leaf['day']}")
        part = leaves_part(leaf["day"])
        signed_cents = {account: cents for account, _, _, cents in leaf["accounts"]}
        # Balances are compared by account: a sum could hide chips moved between two places.
        for account in sorted(signed_cents.keys() | self.balances.keys()):
            if signed_cents.get(account, 0) != self.balances.get(account, 0):
                place, seat = self.places.get(account, ("", None))
                where = place if seat is None else f"{place} {seat}"
                says = f"{signed_cents.get(account, 0)} cents, the transfers make it {self.balances.get(account, 0)}"
                raise Wrong(part, f"{self.name}, entry {leaf['last']}: it leaves {says} in {where}")
        self._sums(leaf, part)
        # A verifier of the next day alone starts from these entries, so they must rebuild exactly this state.
        foundation = [self.entries[seq] for seq in leaf["carried"] if seq in self.entries]
        if len(foundation) != len(leaf["carried"]):
            raise Wrong(part, f"{self.name}: the day after rests on an entry that is not here")
        self.entries = {entry.seq: entry for entry in foundation}
        state.standing, tomorrow = replay.standing, _State()
        for entry in foundation:
            tomorrow.carry(entry)
        ends = _moment(self.signed.days[leaf["day"]]["ends"])
        if ends is None or not tomorrow.same(state, ends):
            raise Wrong(part, f"{self.name}, entry {leaf['last']}: what the day after rests on tells it otherwise")

    def _sums(self, leaf: Document, part: str) -> None:
        chips = cash = 0
        for account, (place, _) in self.places.items():
            cents = self.balances.get(account, 0)
            if place in CASH_PLACES:
                cash += cents
            else:
                chips += cents
            if cents < 0 and place not in MAY_BE_NEGATIVE | HOUSE_PLACES:
                self.signed.say(
                    f"note   {leaf['day']}: {self.name} leaves {cents} cents in {place}: what came there is not told"
                )
        # Chips and cash are separate closed systems: a sum other than zero means that some came from nowhere.
        if chips or cash:
            raise Wrong(part, f"{self.name}, entry {leaf['last']}: its chips add up to {chips}, its cash to {cash}")

    # --- one entry

    def _table(self, event: Event, entry: Entry, replay: Replay, state: _State) -> None:
        before = replay.standing
        if state.settings is not None:
            non_tracked.refuse(event, state.settings, replay.held.get(RACK, 0) if replay.held is not None else None)
        state.messages.follow(before, event, entry)
        match event:
            case TableSet():
                self._settings(event, entry, before, state)
            case Played(opening=Pinned() as pinned):
                self._round_opening(pinned, entry, before, state.settings)

    def _settings(self, event: TableSet, entry: Entry, standing: TableState, state: _State) -> None:
        """Check that settings continue those before, and that a raised minimum was announced to the players. Raises
        AuditFailure."""
        settings, tells_notice = state.settings, state.tells_notice
        before = msgspec.to_builtins(settings) if settings else {}
        if before and any(before.get(name) != event.before.get(name) for name in event.after):
            raise AuditFailure("the settings were others before it")
        state.set(event)
        non_tracked.refuse_change(standing, settings, state.settings)
        moment, minutes = entry.at, event.notice_minutes
        if event.plans:
            moment, minutes = datetime.fromisoformat(event.plans.moment), event.plans.notice_minutes
        if settings is None or state.settings is None:
            return
        earlier, later = limits_in(settings), limits_in(state.settings)
        if minutes is None and tells_notice and limit_notice.raised(earlier, later):
            raise AuditFailure(limit_notice.UNTOLD)
        if minutes is None or moment is None:
            return
        if says := limit_notice.fault(
            standing, earlier, later, moment=moment, minutes=minutes, by_count=non_tracked.is_so(settings)
        ):
            raise AuditFailure(says)

    def _round_opening(self, pinned: Pinned, entry: Entry, before: TableState, settings: Settings | None) -> None:
        """Check that a round has the rules, limits, cards and chips in force at its start. Raises AuditFailure."""
        if settings is None:
            raise AuditFailure("the log does not say how the table was set up before it")
        # A gap in round numbers could hide a round that was dealt and removed.
        if before.round_open or entry.round != before.next_number:
            raise AuditFailure(f"it opens round {entry.round}, where {before.next_number} is due")
        try:
            back_entry.refuse_round(before.back_entry, before.next_number)
        except slip_workflow.Wrong as wrong:
            raise AuditFailure(wrong.sentence) from None
        due = pins.due(settings, before, pinned)
        for name in Pinned.__struct_fields__:
            if canonical({"": _plain(due, name)}) != canonical({"": _plain(pinned, name)}):
                raise AuditFailure(f"the {name} that its round pins are not those that were in force")

    def _house(self, event: Event) -> None:
        """Check that the site log agrees with the bundle's days and keys. Raises Wrong."""
        if isinstance(event, DaySealed):
            day = event.document.day
            document = self.signed.days.get(day)
            if document is not None and canonical(document) != canonical(msgspec.to_builtins(event.document)):
                raise self._wrong(f"it sealed {day} with another root than the bundle has")
        if isinstance(event, AboutKey):
            self._key(event)

    def _key(self, event: AboutKey) -> None:
        # The part with keys is unsigned: the site log is the evidence for it.
        if self.keys_published >= len(self.signed.keys) or event.content() != self.signed.keys[self.keys_published]:
            raise self._wrong(f"it published a key that is not in {KEYS} at that place")
        self.keys_published += 1

    # --- reading

    def _opening_state(self) -> _State:
        """The log's state at the start: replayed from the entries that the day before named, each proved by its own
        day's root."""
        state, carried_seqs = _State(), set(self.opening["carried"]) if self.opening else set()
        self.part = self.files["carried"]
        days = {line["day"]: line for line in self.bundle.documents(self.files["proofs"])}
        lines = list(self.bundle.documents(self.files["carried"]))
        # The signed document lists these entries, so the sender cannot leave one out.
        if missing_seqs := carried_seqs - {line["seq"] for line in lines}:
            raise Wrong(self.part, f"{self.name}, entry {min(missing_seqs)}: it is missing, and the day rests on it")
        for line in lines:
            self.seq = int(line["seq"])
            entry = self._older_entry(line, days[line["day"]])
            posted = tuple(_transfer([*row]) for row in line["transfers"])
            if [transfer.move.spelled() for transfer in posted] != entry.moves:
                raise self._wrong("its transfers are not those that its body records")
            self.moves |= {transfer.id: transfer.move for transfer in posted}
            self.carried_transfers[entry.seq] = posted
            if entry.seq not in carried_seqs:
                continue  # it is there for what it moved, which is reversed
            self.entries[entry.seq] = entry
            state.carry(entry)
            if entry.subject == AboutKey.subject:
                event = event_of(entry)
                assert isinstance(event, AboutKey)  # noqa: S101 -- the catalog has no other of this subject
                self._key(event)
        if self.opening:
            state.standing = replace(state.standing, seq=self.opening["last"], hash=bytes.fromhex(self.opening["head"]))
        return state

    def _older_entry(self, line: Document, day: Document) -> Entry:
        """An entry of an earlier day, verified by inclusion in its log's root, and of that in the signed day's root.
        Raises Wrong."""
        spelled, previous = line["body"].encode(), bytes.fromhex(line["previous"] or "") or None
        digest = sha256((previous or b"") + spelled).digest()
        leaf, day_document = day["leaf"], self.signed.days[day["day"]]
        try:
            index, size = line["seq"] - leaf["first"], leaf["last"] - leaf["first"] + 1
            # Two proofs: the entry is in its log's tree, and that tree's document is in the tree that was signed.
            merkle.check_inclusion(digest, index, size, _path(line["path"]), bytes.fromhex(leaf["root"]))
            place, books, path = day["index"], day_document["books"], _path(day["path"])
            merkle.check_inclusion(canonical(leaf), place, books, path, bytes.fromhex(day_document["root"]))
        except merkle.Unproved as unproved:
            raise self._wrong(f"it is not in the root that was signed for {day['day']}: {unproved}") from None
        entry = self._read(line["seq"], spelled, previous)
        # A genuine entry of another log would pass both proofs.
        if leaf["book"] != self.name or entry.book != self.name or entry.line != spelled:
            raise self._wrong("it is an entry of another book, or another one of this book")
        return entry

    def _entries(self, before: Head) -> Iterator[Entry]:
        previous = before.hash
        for seq, line in enumerate(self.bundle.lines(self.files["entries"]), before.seq + 1):
            self.seq = seq
            if len(line) < 66 or line[64:65] != b" ":
                raise Wrong(self.part, f"{self.name}, entry {seq}: its line is not a hash and a body")
            entry = self._read(seq, line[65:], previous)
            # The printed hash lets outsiders search a bundle; it must be the computed one.
            if entry.hash.hex().encode() != line[:64]:
                raise self._wrong("its hash is not the hash of what it says and of the entry before it")
            yield entry
            previous = entry.hash

    def _read(self, number: int, line: bytes, previous: bytes | None) -> Entry:
        try:
            return _entry(number, line, after=previous)
        except (ValueError, msgspec.MsgspecError, RecursionError) as wrong:
            raise self._wrong(f"its line cannot be read: {wrong}") from None

    def _transfers(self) -> Iterator[Posted]:
        for row in self.bundle.documents(self.files["transfers"]):
            yield _transfer(row)

    def _report(self) -> None:
        counts = [f"{self.counts['entries']:,} entries re-hashed"]
        if self.name != HOUSE:
            counts.append(f"{self.counts['rounds']:,} rounds replayed")
        counts.append(f"{self.counts['transfers']:,} transfers recomputed")
        if self.counts["orders"]:
            counts.append(f"{self.counts['orders']:,} openings of a house shoe's order")
        self.signed.say(f"holds  {self.name}: {', '.join(counts)}")


# --- reading what is there --------------------------------------------------------------------------------------


def _head(leaf: Document | None) -> Head:
    """The end of a log's chain at the end of a day; before the first entry if there is no document."""
    if leaf is None:
        return Head(0, "", 0, None)
    return Head(0, str(leaf["book"]), int(leaf["last"]), bytes.fromhex(leaf["head"]))


class _Columns(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """The heading of an entry, parsed from its line."""

    book: str
    seq: int
    at: str
    subject: str
    kind: str
    round: int | None
    by: str
    key: UUID | None


def _entry(number: int, line: bytes, *, after: bytes | None) -> Entry:
    """An entry from a line of a bundle. Raises ValueError for an invalid line."""
    heading, body = spelling.split(line)
    if heading is None:
        repeated = spelling.read("", body).columns or {}
        heading = [repeated.get(name) for name in _Columns.__struct_fields__]
    columns = msgspec.convert(heading, _Columns)
    parts = spelling.read(columns.subject, body)
    return Entry(
        book_id=0,
        book=columns.book,
        seq=number,
        at=_moment(columns.at),
        subject=columns.subject,
        kind=columns.kind,
        round=columns.round,
        by=columns.by,
        key=columns.key,
        legs=len(parts.moves) if isinstance(parts.moves, list) else 0,
        body=body,
        hash=sha256((after or b"") + line).digest(),
        prev_hash=after,
    )


def _moment(text: str) -> datetime | None:
    """The time in a text; None for an invalid one, which the chain reports."""
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
    except ValueError:
        return None


def _plain(pinned: Pinned, name: str) -> Any:
    return msgspec.to_builtins(getattr(pinned, name))


def _begun_slip(event: Event, entry: Entry, sealed: str | None) -> str | None:
    """The slip that an entry starts. ``sealed``: the slip that the day's document names for it."""
    if isinstance(event, SlipSigned):
        return event.slip if len(event.after.signed) == 1 else None
    if isinstance(event, AboutCorrection):
        return event.correction.slip if isinstance(event, CorrectionProposed) else None
    return sealed if sealed and canonical({"": sealed})[4:-1] in entry.body else None


def _transfer(row: Sequence[Any]) -> Posted:
    number, seq, leg, *move = row
    return Posted(seq, leg, number, Move(*move))


def _path(path: Sequence[str]) -> list[bytes]:
    return [bytes.fromhex(digest) for digest in path]


def short(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error)[:200]}"
