"""The kinds of slip: one record for each, and no other code knows them by name.

A record has the title of its slips, the log in which they are written, the roles that sign each step, the chips that
each step moves, what is counted, and the roles that see it. All code that signs, draws, verifies or lists slips reads
the record: see ``docs/adding-a-slip-type.md``. Sources: 9 NYCRR 5323.9
and COMAR 36.05.03 for fills, credits, openers and closers; WAC 230-15-525 for the supervisor who requests a fill and
signs for it at the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, NamedTuple

from ledger.proof.chips import (
    BANK,
    BOXES,
    CAGE,
    CASH_OVER_SHORT,
    DEPOSITARY,
    DROP_BOX,
    HOUSE_PLACES,
    ISSUE,
    OVER_SHORT,
    PLAYERS,
    RACK,
    REVERSAL,
    TRANSIT,
    VAULT,
    VAULT_CASH,
)
from tables.log.exception_categories import CHIPS_AND_CASH, ORDINARY, VOIDS, ExceptionCategory

Chips = tuple[tuple[int, int], ...]
"""(value in cents, how many), the largest value first."""


class Flow(NamedTuple):
    """One movement, without its amount."""

    kind: str
    source: str
    target: str


TEXT: Final = "text"
CHIP_SERIES: Final = "chip_series"
DAY: Final = "day"
MOMENT: Final = "moment"
YES: Final = "yes"
SLIP: Final = "slip"
KEYS: Final = "keys"
DUAL_KEYS: Final = "dual keys"
KEYS_OUT: Final = "keys out"
EVERY_KEY: Final = "keys of the house"
ENVELOPES: Final = "envelopes"
"""The kinds of a `SlipField`: text, a series of chips, a day to come, a moment that has passed, a yes or no, an earlier
slip; or an item in custody: keys in the cabinet, those of them that two persons hold, keys that are out, all of these
that are not lost, and envelopes with notes that no count accepted."""
KEPT_APART: Final = frozenset({KEYS, DUAL_KEYS, KEYS_OUT, EVERY_KEY, ENVELOPES})


_MINUTE: Final = len("2026-11-22T21:40")


class SlipField(NamedTuple):
    """A field of a slip other than chips, which the signer of a step fills in."""

    name: str
    label: str
    kind: str = TEXT
    is_optional: bool = False
    max_length: int = 120


_PAST: Final = {"broken": "broke", "given": "gave", "seen": "saw", "taken": "took"}
"""The simple past of irregular participles that ``Stage.title`` begins with."""


class Stage(NamedTuple):
    """One step of a slip: who may take it, what it is called, and what it brings about."""

    name: str
    roles: frozenset[str]
    title: str
    exception: ExceptionCategory | None
    """Where the exceptions report lists this step; ORDINARY where it does not."""
    former_roles: frozenset[str] = frozenset()
    """Roles that signed it in years past: their signatures are verified, and no more are taken."""
    also_by: str = ""
    """The step whose signer may sign this step too, unless the policy of the site requires a second supervisor. No
    other person may sign twice on one slip."""
    at_table_only: bool = False
    """Whether only the dealer at the table signs it."""
    is_count: bool = False
    """Whether the signer enters a count."""
    expects: str = ""
    """The place whose balance is noted in this step, to be compared with the counts."""
    takes_from: str = ""
    """The place that has to hold what the slip is for before this step is signed."""
    sets_aside: bool = False
    """From this step until they move, the slip's chips or cash are not available in ``takes_from`` to anything else."""
    moves: Flow | None = None
    """What moves with this signature: what the slip is for, or, where it is for a count, what its place holds."""
    outsiders_only: bool = False
    """Whether the signer must not have worked at the table since it opened."""
    fields: tuple[SlipField, ...] = ()
    """What the signer fills in besides chips."""
    condition_field: str = ""
    """The field that has to be a yes for chips to move with this step."""

    def typed(self, facts: Mapping[str, str]) -> dict[str, str] | None:
        """The fields as a terminal signs them: a moment to the minute, without the time zone that the site adds. None
        where the step has no field."""
        moments = {field.name for field in self.fields if field.kind == MOMENT}
        typed = {name: text[:_MINUTE] if name in moments else text for name, text in facts.items()}
        return typed if self.fields else None

    @property
    def did(self) -> str:
        """What the signer of this step did, as a verb with its object: "requested it", "gave it out"."""
        verb, *rest = re.sub(r",? (by|before|with)\b.*", "", self.title).lower().split()
        thing = "it"
        if verb in ("box", "void"):
            thing, (verb, *rest) = f"the {verb}", rest
        verb = _PAST.get(verb, verb)
        return " ".join([verb, *rest, thing] if rest == ["for"] else [verb, thing, *rest])

    @property
    def to_be(self) -> str:
        """While it is to come: "to be counted again, unseen"."""
        return f"to be {self.title[:1].lower()}{self.title[1:].removesuffix(' by').removesuffix(',')}"


TYPED: Final = "typed"
IN_STOCK: Final = "in stock"


@dataclass(frozen=True, slots=True)
class CountRule:
    """What the slips of a series count, and where a difference to the transfers goes: it is never absorbed."""

    of: str
    """What is over or short, as a discrepancy says it."""
    place: str
    """Where that lies when the counts agree."""
    over: Flow | None = None
    short: Flow | None = None
    """Without the two, what was counted counts, and nothing else is booked."""
    won: Flow | None = None
    lost: Flow | None = None
    """Where a difference goes at a table without rounds, whose win this count tells; nothing where it tells none."""
    then: Flow | None = None
    """Where all that was counted goes once two counts agree."""
    until_agreed: bool = False
    """Counted by further people until two counts agree; otherwise a slip whose two counts differ ends, and a new one is
    begun."""
    cash: tuple[int, ...] = ()
    """The coins and notes that it may be; nothing where it is chips."""
    two_roles: str = ""
    """Why the second of those who count has another role than the first; nothing where any two may."""
    note: str = ""
    """What a count is held against instead of a place: by pieces, what was "typed" from a delivery note, or what there
    is "in stock" of a series of chips by the slips before it."""
    rest: Flow | None = None
    """Where whatever of the note was not counted goes."""

    @property
    def flows(self) -> tuple[Flow, ...]:
        """Everything that it may move."""
        return tuple(flow for flow in (self.over, self.short, self.won, self.lost, self.rest, self.then) if flow)


@dataclass(frozen=True, slots=True)
class SlipType:
    """One kind of slip: its steps, who signs each, and what each moves."""

    name: str
    """In the log, in addresses and in the database, for good."""
    title: str
    """On its paper."""
    word: str = ""
    """In sentences, where its name is no word: "Imprest return"."""
    notes: tuple[int, ...] = ()
    """The coins and notes that it moves; nothing where chips are moved."""
    instructions: str = ""
    """The instructions on its form."""
    begin_label: str = ""
    """The label of the button that begins one."""
    begin_page: str = ""
    """The page with this button: "floor", "cage", "keys" or "slips"; empty where the slip has no form."""
    stages: tuple[Stage, ...] = ()
    seen_by: frozenset[str] = frozenset()
    """The roles that see such slips; dealers at their own table alone."""
    in_house: bool = False
    """Written in the house's own book and not in a table's."""
    count: CountRule | None = None
    """None: such a slip is for chips that are moved."""
    table_effect: str = ""
    """The effect of two counts that agree on the table: it is "opened" or "closed"."""
    exclusive: bool = False
    """Whether no second one, nor another exclusive count of its place, is begun before the balance there was noted."""
    is_voidable: bool = False
    completed_help: str = ""
    """What to do instead of a void once it is complete, in a sentence; empty where it may be made void then, too."""
    sole_signer_help: str = ""
    """What to do where the signer of one step is the only person there for the next, in a sentence."""
    is_boxed: bool = False
    """It is about a box, and says how the box is marked."""
    has_chips: bool = True
    """Otherwise its paper is about no single chips."""
    gives_out: bool = False
    """Its chips come into play with it: kinds that are retired do not."""
    chip_series: str = ""
    """What the series of chips that it names has to be: "in use", or "expired"; nothing where any may be named."""
    retires: bool = False
    """With its last signature the series of chips that it names is retired."""
    about: str = ""
    """The series of the slip that it names: together they give back no more than that one took."""
    raises_alert: bool = False
    """Whether the first step of such a slip raises an alert."""
    subject: str = "slip"
    """The subject of its entries. Entries of other subjects than "slip" are written by their own package."""

    @property
    def first(self) -> Stage:
        """The step that begins a slip."""
        return self.stages[0]

    @property
    def label(self) -> str:
        """In sentences, before its number: "Fill 3"."""
        return self.word or self.name.capitalize()

    @property
    def opens(self) -> bool:
        return self.table_effect == "opened"

    @property
    def closes(self) -> bool:
        return self.table_effect == "closed"

    @property
    def cash(self) -> tuple[int, ...]:
        """The coins and notes that are counted; nothing where chips are counted or moved."""
        return self.count.cash if self.count else self.notes

    @property
    def begins_with_chips(self) -> bool:
        """Whether the first form asks for chips: what is to be moved, or the first count."""
        return self.has_chips and (self.count is None or self.first.is_count)

    @property
    def begins_with_note(self) -> bool:
        """Whether the first form asks what the delivery note says."""
        return self.count is not None and self.count.note == TYPED

    @property
    def names_chip_series(self) -> bool:
        return bool(self.field_of_kind(CHIP_SERIES))

    def field_of_kind(self, kind: str) -> str:
        """The name of its field of a kind; empty where it has none."""
        return next((field.name for stage in self.stages for field in stage.fields if field.kind == kind), "")

    @property
    def transit(self) -> tuple[str, str] | None:
        """The steps with which its chips leave one place and reach the other, where they are on their way between."""
        flows = {stage.name: stage.moves for stage in self.stages if stage.moves}
        leaves = [name for name, flow in flows.items() if flow.target == TRANSIT]
        arrives = [name for name, flow in flows.items() if flow.source == TRANSIT]
        return (leaves[0], arrives[0]) if leaves and arrives else None

    def counts(self, place: str) -> bool:
        """Whether what lies in a place is counted, all of it: a count against a note is of some chips alone."""
        return self.count is not None and not self.count.note and self.count.place == place

    @property
    def opens_rack(self) -> bool:
        """Whether chips move into or out of a rack by the slip, apart from counts."""
        flows = [stage.moves for stage in self.stages if stage.moves]
        return not self.counts(RACK) and any(RACK in (flow.source, flow.target) for flow in flows)

    def excludes(self, other: SlipType) -> bool:
        """Whether one of them waits until the other has looked up what lies in the place that both count."""
        return self.exclusive and other.exclusive and bool(self.expected_places() & other.expected_places())

    def expected_places(self) -> frozenset[str]:
        """The places whose balances its steps note."""
        return frozenset(stage.expects for stage in self.stages if stage.expects)

    def begins_at(self, *, is_open: bool, round_open: bool) -> bool:
        """Whether one can be begun at a table in this state: a rack is counted between rounds."""
        if not self.counts(RACK):
            return True
        return not is_open if self.opens else is_open and not round_open

    def about_cents(self, chips: Chips) -> int:
        """The amount of a slip, for lists. A count shows none before its two counts agree."""
        return 0 if self.count else total(chips)

    def stage(self, name: str) -> Stage | None:
        """A step by its name: its own, a further count of a box, or one of a void."""
        steps = {stage.name: stage for stage in (*self.stages, *VOID)}
        step = steps.get(name) or steps.get(kind_of(name))
        return step._replace(name=name) if step else None

    @property
    def steps(self) -> tuple[Stage, ...]:
        """Every step that such a slip may take, those of a void too."""
        return (*self.stages, *(VOID if self.is_voidable else ()))

    def kinds(self) -> Iterator[tuple[str, Stage, frozenset[str]]]:
        """Each kind of entry about such slips, with its step and the kinds of transfer that it may make."""
        for stage in self.steps:
            flows = [stage.moves] if stage.moves else []
            if self.count and stage is self.stages[-1]:
                flows += self.count.flows
            undone = {REVERSAL} if stage.name == VOIDED else set()
            yield f"{self.name}_{stage.name}", stage, frozenset({flow.kind for flow in flows} | undone)


def total(chips: Chips) -> int:
    """What chips are worth, in cents."""
    return sum(value * count for value, count in chips)


def kind_of(stage: str) -> str:
    """A step without the number that tells a third count from the second."""
    return stage.rstrip("0123456789").rstrip("_")


def _by(*roles: str) -> frozenset[str]:
    return frozenset(roles)


_CAGE: Final = _by("cashier", "cage_manager")
"""The cage's own people."""
_OPERATORS: Final = _by("operator")
"""The role that administers access moves no chips. Entries of releases before the separation of duties (``duties.py``)
may have its signature."""

VOID_ASKED: Final = "void_asked"
VOIDED: Final = "voided"
VOID: Final = (
    Stage(VOID_ASKED, _by("cashier", "cage_manager", "pit_boss"), "Void asked for by", VOIDS),
    Stage(VOIDED, _by("security", "auditor"), "Void signed by", VOIDS, former_roles=_OPERATORS),
)
"""A void has two signers: one of the cage or the floor, and one from neither."""

CASH: Final = (1, 5, 10, 25, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
"""What may lie in a drop box, in cents: coins and notes."""


def _chips(of: str, place: str) -> CountRule:
    return CountRule(of, place, over=Flow("over", OVER_SHORT, place), short=Flow("short", place, OVER_SHORT))


def _rack(of: str) -> CountRule:
    return replace(_chips(of, RACK), two_roles="A rack is counted by a dealer and by a pit boss.")


def _rack_in_play(of: str) -> CountRule:
    """A count of a rack after which players may have played: an opener tells of a rack that was locked away."""
    return replace(_rack(of), won=Flow("table_win", PLAYERS, RACK), lost=Flow("table_loss", RACK, PLAYERS))


def _cash(of: str, place: str) -> CountRule:
    return CountRule(
        of=of,
        place=place,
        over=Flow("cash_over", CASH_OVER_SHORT, place),
        short=Flow("cash_short", place, CASH_OVER_SHORT),
        cash=CASH,
    )


def _two_counts(
    first: frozenset[str],
    second: frozenset[str],
    again: str = "Counted again by",
    *,
    expects: str = "",
    fields: tuple[SlipField, ...] = (),
    former_roles: frozenset[str] = frozenset(),
) -> tuple[Stage, Stage]:
    """The steps of a blind count by two people, each for themselves; the second one notes the balance of a place."""
    counted = Stage("counted", first, "Counted by", ORDINARY, is_count=True, fields=fields)
    return counted, Stage(
        "recounted", second, again, ORDINARY, is_count=True, expects=expects, former_roles=former_roles
    )


_UNSEEN: Final = "Counted again, unseen, by"
_RACK_STAGES: Final = _two_counts(_by("dealer", "pit_boss"), _by("dealer", "pit_boss"), expects=RACK)
_AT_THE_TABLE: Final = _by("pit_boss", "dealer", "operator", "auditor", "surveillance")
_ON_THE_WAY: Final = _AT_THE_TABLE | {"cashier", "cage_manager", "security"}
_AT_THE_VAULT: Final = _by("pit_boss", "cashier", "cage_manager", "operator", "auditor", "surveillance")
_CAGE_HEADS: Final = _by("cage_manager", "pit_boss")
"""Who approves what the cage asks for."""
_WITH_SECURITY: Final = _CAGE | {"security"}
_WITH_CASH: Final = _WITH_SECURITY | {"pit_boss", "operator", "auditor", "surveillance"}
_HOLDERS: Final = _WITH_SECURITY | {"counter", "pit_boss"}
"""Who takes keys; they are handed out by security or the cage."""
_WITH_KEYS: Final = _HOLDERS | {"operator", "auditor", "surveillance"}
_CHIP_SERIES: Final = SlipField("series", "Series of chips", CHIP_SERIES)
_OF_SERIES: Final = SlipField("series", "Series of chips", CHIP_SERIES, is_optional=True)
_NOTE_NUMBER: Final = SlipField("note_number", "Number of the delivery note")
_REASON: Final = SlipField("reason", "Why")
_WHERE_AND_WHEN: Final = (SlipField("place", "Where"), SlipField("moment", "When", MOMENT))

_NOBODY_HANDS_OUT: Final = (
    "Nobody hands a key out to themselves: call another of the cage or security. Until they sign, the key hangs in the"
    " cabinet; make the slip void if nobody comes."
)
_MOVED: Final = "What it moved goes back by another slip."
_KEY_IS_OUT: Final = "The key is out: return it with a slip, or report it lost."

_BOX_STAGES: Final = (
    Stage("removed", _by("security"), "Box removed by", ORDINARY, outsiders_only=True),
    Stage(
        "witnessed",
        _by("security", "counter"),
        "Witnessed by",
        ORDINARY,
        expects=DROP_BOX,
        moves=Flow("box_out", DROP_BOX, BOXES),
        outsiders_only=True,
    ),
    *_two_counts(_by("counter"), _by("counter"), _UNSEEN),
)
_BOX_REASON: Final = (
    SlipField("reason", "Why the box is taken now", max_length=200),
    SlipField("box_after", "Mark on the new box", max_length=20),
)
_BOX: Final = CountRule(
    of="the drop box",
    place=BOXES,
    over=Flow("cash_over", CASH_OVER_SHORT, BOXES),
    short=Flow("cash_short", BOXES, CASH_OVER_SHORT),
    then=Flow("count", BOXES, BANK),
    until_agreed=True,
    cash=CASH,
)
_RECEIPT: Final = (SlipField("receipt", "Receipt number of the carrier", max_length=60),)


def _counterfeit_stages(taken_by: frozenset[str], paid: str, place: str) -> tuple[Stage, ...]:
    """What is false was never worth anything: only what the house gave for it is lost, from where it was given."""
    return (
        Stage(
            "taken",
            taken_by,
            "Taken by",
            ORDINARY,
            fields=(
                *_WHERE_AND_WHEN,
                SlipField("taken_from", "From whom"),
                SlipField("envelope", "Number of the envelope"),
                SlipField("paid", paid, YES, is_optional=True),
            ),
        ),
        Stage(
            "sealed",
            _WITH_SECURITY,
            "Sealed before",
            CHIPS_AND_CASH,
            moves=Flow("counterfeit", place, OVER_SHORT),
            condition_field="paid",
        ),
        Stage(
            "handed",
            _WITH_SECURITY,
            "Handed over by",
            ORDINARY,
            fields=(SlipField("handed_to", "To whom"), SlipField("report", "Number of the police report")),
        ),
    )


def catalog(*records: SlipType) -> Mapping[str, SlipType]:
    """Records by their names, in this order."""
    return MappingProxyType({record.name: record for record in records})


SLIP_TYPES: Final = catalog(
    SlipType(
        "opener",
        title="Opener",
        instructions="Count the rack. The table opens when a dealer and a pit boss have counted the same.",
        begin_label="Open table",
        begin_page="floor",
        stages=_RACK_STAGES,
        seen_by=_AT_THE_TABLE,
        count=_rack("the opener"),
        table_effect="opened",
        exclusive=True,
    ),
    SlipType(
        "closer",
        title="Closer",
        instructions="Count the rack. The table closes when a dealer and a pit boss have counted the same.",
        begin_label="Close table",
        begin_page="floor",
        stages=_RACK_STAGES,
        seen_by=_AT_THE_TABLE,
        count=_rack_in_play("the closer"),
        table_effect="closed",
        exclusive=True,
    ),
    SlipType(
        "rack",
        title="Rack count",
        instructions="Count the rack between two rounds: a dealer and a pit boss, each for themselves.",
        begin_label="Count rack",
        begin_page="floor",
        stages=_RACK_STAGES,
        seen_by=_AT_THE_TABLE,
        count=_rack_in_play("the rack"),
        exclusive=True,
    ),
    SlipType(
        "fill",
        title="Fill",
        instructions="Chips from the cage to the rack.",
        begin_label="Fill",
        begin_page="floor",
        stages=(
            Stage("requested", _by("pit_boss"), "Requested by", ORDINARY, takes_from=CAGE),
            Stage("issued", _CAGE, "Given out by the cage", ORDINARY, takes_from=CAGE, sets_aside=True),
            Stage("carried", _by("security"), "Carried by", ORDINARY, moves=Flow("fill_out", CAGE, TRANSIT)),
            Stage("received", _by("dealer"), "Counted in by the dealer", ORDINARY, at_table_only=True),
            Stage(
                "confirmed",
                _by("pit_boss"),
                "Seen by the floor",
                ORDINARY,
                also_by="requested",
                moves=Flow("fill", TRANSIT, RACK),
            ),
        ),
        seen_by=_ON_THE_WAY,
        is_voidable=True,
        gives_out=True,
    ),
    SlipType(
        "credit",
        title="Credit",
        instructions="Chips from the rack to the cage.",
        begin_label="Credit",
        begin_page="floor",
        stages=(
            Stage("requested", _by("pit_boss"), "Requested by", ORDINARY, takes_from=RACK),
            Stage(
                "issued",
                _by("dealer"),
                "Broken down by the dealer",
                ORDINARY,
                at_table_only=True,
                takes_from=RACK,
                sets_aside=True,
            ),
            Stage("confirmed", _by("pit_boss"), "Seen by the floor", ORDINARY, also_by="requested"),
            Stage("carried", _by("security"), "Carried by", ORDINARY, moves=Flow("credit_out", RACK, TRANSIT)),
            Stage("received", _CAGE, "Counted in by the cage", ORDINARY, moves=Flow("credit", TRANSIT, CAGE)),
        ),
        seen_by=_ON_THE_WAY,
        is_voidable=True,
    ),
    SlipType(
        "drop",
        title="Drop box",
        instructions="The box leaves the table; two people take it to the count, who did not work here in this shift.",
        begin_label="Remove a drop box",
        begin_page="slips",
        stages=_BOX_STAGES,
        seen_by=_by("security", "counter", "operator", "auditor", "surveillance"),
        count=_BOX,
        exclusive=True,
        is_boxed=True,
    ),
    SlipType(
        "correction",
        title="Correction",
        stages=(
            Stage("proposed", _by("pit_boss"), "Proposed by", ORDINARY),
            Stage("signed", _by("pit_boss"), "Signed by", ORDINARY, former_roles=_OPERATORS),
        ),
        subject="correction",
    ),
    SlipType(
        "withdrawal",
        title="From the vault",
        instructions="Chips from the vault to the cage.",
        begin_label="From the vault",
        begin_page="cage",
        stages=(
            Stage("requested", _CAGE, "Requested by", ORDINARY, takes_from=VAULT),
            Stage(
                "approved",
                _CAGE_HEADS,
                "Approved by",
                ORDINARY,
                former_roles=_OPERATORS,
                takes_from=VAULT,
                moves=Flow("withdraw", VAULT, CAGE),
            ),
        ),
        seen_by=_AT_THE_VAULT,
        in_house=True,
        gives_out=True,
    ),
    SlipType(
        "deposit",
        title="Into the vault",
        instructions="Chips from the cage into the vault.",
        begin_label="Into the vault",
        begin_page="cage",
        stages=(
            Stage("requested", _CAGE, "Brought by", ORDINARY, takes_from=CAGE, sets_aside=True),
            Stage(
                "approved",
                _CAGE_HEADS,
                "Taken into the vault by",
                ORDINARY,
                former_roles=_OPERATORS,
                takes_from=CAGE,
                moves=Flow("deposit", CAGE, VAULT),
            ),
        ),
        seen_by=_AT_THE_VAULT,
        is_voidable=True,
        completed_help=_MOVED,
        in_house=True,
    ),
    SlipType(
        "cage",
        title="Cage count",
        instructions="Count the chips in the cage: two people, each for themselves.",
        begin_label="Count the cage",
        begin_page="cage",
        stages=_two_counts(_CAGE, _CAGE, expects=CAGE, former_roles=_OPERATORS),
        seen_by=_CAGE | {"operator", "auditor", "surveillance"},
        in_house=True,
        count=_chips("the cage", CAGE),
    ),
    SlipType(
        "vault",
        title="Vault count",
        word="Vault count",
        instructions="Count the chips in the vault: two people, each for themselves.",
        begin_label="Count the vault's chips",
        begin_page="cage",
        stages=_two_counts(_CAGE, _CAGE | _CAGE_HEADS, _UNSEEN, expects=VAULT),
        seen_by=_AT_THE_VAULT,
        in_house=True,
        count=_chips("the vault", VAULT),
        exclusive=True,
    ),
    SlipType(
        "receipt",
        title="Chips received",
        instructions="Chips from the manufacturer into the vault: what the delivery note says, and what two people"
        " count, each"
        " for themselves. What both counted enters the vault, whatever the note says.",
        begin_label="Receive chips",
        begin_page="cage",
        stages=_two_counts(_WITH_SECURITY, _WITH_SECURITY, _UNSEEN, fields=(_CHIP_SERIES, _NOTE_NUMBER)),
        seen_by=_WITH_SECURITY | {"auditor", "surveillance", "operator"},
        in_house=True,
        count=CountRule(of="the delivery", place=ISSUE, then=Flow("issue", ISSUE, VAULT), note=TYPED),
        chip_series="in use",
        gives_out=True,
    ),
    SlipType(
        "destruction",
        title="Chips destroyed",
        instructions="Chips out of the vault, destroyed before a witness.",
        begin_label="Destroy chips",
        begin_page="cage",
        stages=(
            Stage(
                "requested",
                _by("cage_manager"),
                "Asked for by",
                ORDINARY,
                takes_from=VAULT,
                fields=(_OF_SERIES, _REASON),
            ),
            Stage(
                "destroyed",
                _by("cashier", "security"),
                "Destroyed by",
                CHIPS_AND_CASH,
                takes_from=VAULT,
                sets_aside=True,
            ),
            Stage(
                "witnessed",
                _by("auditor", "pit_boss"),
                "Witnessed by",
                ORDINARY,
                takes_from=VAULT,
                moves=Flow("destroy", VAULT, ISSUE),
            ),
        ),
        seen_by=_WITH_SECURITY | {"auditor", "surveillance", "pit_boss"},
        is_voidable=True,
        completed_help=_MOVED,
        in_house=True,
    ),
    SlipType(
        "retirement",
        title="Series retired",
        instructions="A series of chips is not given out any more, and is redeemed up to a last day that is announced.",
        begin_label="Retire a series",
        begin_page="cage",
        stages=(
            Stage(
                "proposed",
                _by("cage_manager"),
                "Proposed by",
                ORDINARY,
                fields=(_CHIP_SERIES, SlipField("last_day", "Redeemed up to and including", DAY), _REASON),
            ),
            Stage("confirmed", _by("auditor", "pit_boss"), "Confirmed by", ORDINARY),
        ),
        seen_by=_CAGE | {"auditor", "surveillance", "pit_boss", "operator"},
        in_house=True,
        has_chips=False,
        chip_series="in use",
        retires=True,
    ),
    SlipType(
        "lapse",
        title="Chips lapsed",
        instructions="After the last day of a retired series: count every chip of it that the house has, in the"
        " vault, in the"
        " cage and in racks. What is out then is not owed to anybody any more.",
        begin_label="Let a series lapse",
        begin_page="cage",
        stages=_two_counts(_CAGE, _CAGE | {"auditor"}, _UNSEEN, fields=(_CHIP_SERIES,)),
        seen_by=_CAGE | {"auditor", "surveillance"},
        in_house=True,
        count=CountRule(of="the series", place=CAGE, note=IN_STOCK, rest=Flow("lapse", PLAYERS, ISSUE)),
        chip_series="expired",
    ),
    SlipType(
        "found",
        title="Chips found",
        instructions="Chips that lay somewhere, into the cage. Nobody keeps what was found.",
        begin_label="Chips found",
        begin_page="cage",
        stages=(
            Stage(
                "brought",
                _by("pit_boss", "security", "cashier", "cage_manager"),
                "Brought by",
                ORDINARY,
                takes_from=PLAYERS,
                sets_aside=True,
                fields=(
                    *_WHERE_AND_WHEN,
                    SlipField("claimed_by", "Whose they are, if anybody says so", is_optional=True),
                ),
            ),
            Stage(
                "received",
                _CAGE,
                "Counted in by the cage",
                ORDINARY,
                takes_from=PLAYERS,
                moves=Flow("found", PLAYERS, CAGE),
            ),
        ),
        seen_by=_WITH_SECURITY | {"pit_boss", "auditor", "surveillance"},
        is_voidable=True,
        completed_help=_MOVED,
        in_house=True,
    ),
    SlipType(
        "claim",
        title="Found chips given back",
        instructions="Chips that were found go back to whom they belong.",
        begin_label="Give found chips back",
        begin_page="cage",
        stages=(
            Stage(
                "given",
                _CAGE,
                "Given back by",
                CHIPS_AND_CASH,
                takes_from=CAGE,
                sets_aside=True,
                fields=(
                    SlipField("slip", "Found with slip", SLIP),
                    SlipField("claimed_by", "To whom, and shown by what"),
                ),
            ),
            Stage(
                "witnessed",
                _by("cage_manager", "security", "pit_boss"),
                "Witnessed by",
                ORDINARY,
                takes_from=CAGE,
                moves=Flow("claimed", CAGE, PLAYERS),
            ),
        ),
        seen_by=_WITH_SECURITY | {"pit_boss", "auditor", "surveillance"},
        is_voidable=True,
        completed_help=_MOVED,
        in_house=True,
        about="found",
    ),
    SlipType(
        "counterfeit",
        title="Counterfeit chips",
        instructions="False chips that came to the cage: kept apart in an envelope, and never counted among the"
        " house's chips.",
        begin_label="Counterfeit chips",
        begin_page="cage",
        stages=_counterfeit_stages(_WITH_SECURITY | {"pit_boss"}, "The cage paid for them before", CAGE),
        seen_by=_WITH_SECURITY | {"pit_boss", "auditor", "surveillance"},
        in_house=True,
        raises_alert=True,
    ),
    SlipType(
        "forgery",
        title="Counterfeit chips",
        instructions="False chips that came to the table: kept apart in an envelope, and never counted among the"
        " house's"
        " chips.",
        begin_label="Counterfeit chips",
        begin_page="slips",
        stages=_counterfeit_stages(_by("pit_boss"), "They lay in the rack: the table paid for them before", RACK),
        seen_by=_WITH_SECURITY | {"pit_boss", "auditor", "surveillance"},
        raises_alert=True,
    ),
    SlipType(
        "emergency",
        title="Emergency drop",
        word="Emergency drop",
        instructions="A box that is full leaves the table at once, and another one takes its place; two people take"
        " it away.",
        begin_label="Emergency drop",
        begin_page="slips",
        stages=(_BOX_STAGES[0]._replace(fields=_BOX_REASON), *_BOX_STAGES[1:]),
        seen_by=_by("security", "counter", "operator", "auditor", "surveillance"),
        count=_BOX,
        exclusive=True,
        is_boxed=True,
    ),
    SlipType(
        "bankin",
        title="Bank withdrawal",
        word="Bank withdrawal",
        notes=CASH,
        instructions="Cash from the account at the bank into the vault, by the carrier.",
        begin_label="From the bank",
        begin_page="cage",
        stages=(
            Stage("requested", _CAGE, "Requested by", ORDINARY),
            Stage("approved", _CAGE_HEADS, "Approved by", ORDINARY),
            Stage(
                "received",
                _WITH_SECURITY,
                "Taken into the vault by",
                ORDINARY,
                moves=Flow("bank_in", DEPOSITARY, VAULT_CASH),
                fields=_RECEIPT,
            ),
        ),
        seen_by=_WITH_CASH,
        in_house=True,
    ),
    SlipType(
        "bankout",
        title="Bank deposit",
        word="Bank deposit",
        notes=CASH,
        instructions="Cash from the vault to the account at the bank, by the carrier.",
        begin_label="To the bank",
        begin_page="cage",
        stages=(
            Stage("requested", _CAGE, "Made up by", ORDINARY, takes_from=VAULT_CASH, sets_aside=True),
            Stage("approved", _CAGE_HEADS, "Approved by", ORDINARY, takes_from=VAULT_CASH),
            Stage(
                "handed_over",
                _WITH_SECURITY,
                "Handed to the carrier by",
                ORDINARY,
                takes_from=VAULT_CASH,
                moves=Flow("bank_out", VAULT_CASH, DEPOSITARY),
                fields=_RECEIPT,
            ),
        ),
        seen_by=_WITH_CASH,
        is_voidable=True,
        completed_help=_MOVED,
        in_house=True,
    ),
    SlipType(
        "imprest",
        title="Imprest",
        notes=CASH,
        instructions="The cashiers' float: cash from the vault to the cage.",
        begin_label="Float to the cage",
        begin_page="cage",
        stages=(
            Stage("requested", _CAGE, "Requested by", ORDINARY, takes_from=VAULT_CASH),
            Stage(
                "issued",
                _CAGE_HEADS,
                "Given out of the vault by",
                ORDINARY,
                takes_from=VAULT_CASH,
                moves=Flow("imprest_out", VAULT_CASH, BANK),
            ),
        ),
        seen_by=_WITH_CASH,
        in_house=True,
    ),
    SlipType(
        "imprestback",
        title="Imprest return",
        word="Imprest return",
        notes=CASH,
        instructions="Cash from the cage back into the vault.",
        begin_label="Float to the vault",
        begin_page="cage",
        stages=(
            Stage("brought", _CAGE, "Brought by", ORDINARY, takes_from=BANK, sets_aside=True),
            Stage(
                "received",
                _CAGE_HEADS,
                "Taken into the vault by",
                ORDINARY,
                takes_from=BANK,
                moves=Flow("imprest_in", BANK, VAULT_CASH),
            ),
        ),
        seen_by=_WITH_CASH,
        is_voidable=True,
        completed_help=_MOVED,
        in_house=True,
    ),
    SlipType(
        "cagecash",
        title="Cage cash count",
        word="Cage cash count",
        instructions="Count the notes and coins in the cage: two people, each for themselves.",
        begin_label="Count the cage's cash",
        begin_page="cage",
        stages=_two_counts(_CAGE, _CAGE | _CAGE_HEADS, expects=BANK),
        seen_by=_WITH_CASH,
        in_house=True,
        count=_cash("the cage's cash", BANK),
        exclusive=True,
    ),
    SlipType(
        "vaultcash",
        title="Vault cash count",
        word="Vault cash count",
        instructions="Count the notes and coins in the vault: two people, each for themselves.",
        begin_label="Count the vault's cash",
        begin_page="cage",
        stages=_two_counts(_CAGE, _CAGE | _CAGE_HEADS, expects=VAULT_CASH),
        seen_by=_WITH_CASH,
        in_house=True,
        count=_cash("the vault's cash", VAULT_CASH),
        exclusive=True,
    ),
    SlipType(
        "note",
        title="Note accepted",
        word="Note",
        notes=CASH,
        instructions="A note that a count had put apart is taken for money after all: by the bank's word, or a"
        " second look.",
        begin_label="Accept a note",
        begin_page="cage",
        stages=(
            Stage(
                "brought",
                _CAGE,
                "Brought by",
                ORDINARY,
                fields=(
                    SlipField("envelope", "Envelope", ENVELOPES),
                    SlipField("reason", "Who says that it is good", max_length=200),
                ),
            ),
            Stage("accepted", _CAGE_HEADS, "Accepted by", CHIPS_AND_CASH, moves=Flow("note_in", CASH_OVER_SHORT, BANK)),
        ),
        seen_by=_WITH_CASH,
        in_house=True,
    ),
    SlipType(
        "key",
        title="Key signed out",
        word="Key",
        instructions="A key leaves the cabinet: whoever takes it signs, then whoever hands it out.",
        sole_signer_help=_NOBODY_HANDS_OUT,
        completed_help=_KEY_IS_OUT,
        is_voidable=True,
        begin_label="Take a key",
        begin_page="keys",
        stages=(
            Stage("taken", _HOLDERS, "Taken by", ORDINARY, fields=(SlipField("key", "Key", KEYS),)),
            Stage("handed_out", _WITH_SECURITY, "Handed out by", ORDINARY),
        ),
        seen_by=_WITH_KEYS,
        in_house=True,
        has_chips=False,
    ),
    SlipType(
        "dualkey",
        title="Dual key signed out",
        word="Dual key",
        instructions="A key that two persons hold leaves the cabinet: both of them sign, then whoever hands it out.",
        sole_signer_help=_NOBODY_HANDS_OUT,
        completed_help=_KEY_IS_OUT,
        is_voidable=True,
        begin_label="Take a key that two hold",
        begin_page="keys",
        stages=(
            Stage("taken", _HOLDERS, "Taken by", ORDINARY, fields=(SlipField("key", "Key", DUAL_KEYS),)),
            Stage("held_with", _HOLDERS, "Held with", ORDINARY),
            Stage("handed_out", _WITH_SECURITY, "Handed out by", ORDINARY),
        ),
        seen_by=_WITH_KEYS,
        in_house=True,
        has_chips=False,
    ),
    SlipType(
        "keyback",
        title="Key returned",
        word="Key return",
        instructions="A key comes back into the cabinet: whoever brings it signs, then whoever takes it back.",
        sole_signer_help="Nobody takes a key back from themselves: call another of the cage or security. Until they"
        " sign, the key"
        " is out; make the slip void if it stays out.",
        completed_help="The key hangs in the cabinet: take it with a new slip.",
        is_voidable=True,
        begin_label="Return a key",
        begin_page="keys",
        stages=(
            Stage("returned", _HOLDERS, "Returned by", ORDINARY, fields=(SlipField("key", "Key", KEYS_OUT),)),
            Stage("taken_back", _WITH_SECURITY, "Taken back by", ORDINARY),
        ),
        seen_by=_WITH_KEYS,
        in_house=True,
        has_chips=False,
    ),
    SlipType(
        "keylost",
        title="Key lost",
        word="Lost key",
        instructions="A key that cannot be found: it is not taken any more, whoever had it. The lock is changed, and"
        " the new"
        " key comes on the register under a mark of its own.",
        sole_signer_help="Another of the cage, security or the pit confirms that the key is lost. Nobody takes it"
        " meanwhile.",
        begin_label="A key is lost",
        begin_page="keys",
        stages=(
            Stage(
                "reported",
                _HOLDERS,
                "Reported by",
                CHIPS_AND_CASH,
                fields=(
                    SlipField("key", "Key", EVERY_KEY),
                    SlipField("place", "Where it was last"),
                    SlipField("moment", "When it was missed", MOMENT),
                    SlipField("reason", "What happened", max_length=200),
                ),
            ),
            Stage("confirmed", _WITH_SECURITY | {"pit_boss"}, "Confirmed by", ORDINARY),
        ),
        seen_by=_WITH_KEYS,
        in_house=True,
        has_chips=False,
        raises_alert=True,
    ),
)
"""Every series of slips. The database holds the same list of names (``ledger.models.SERIES``)."""

CORRECTION: Final = SLIP_TYPES["correction"]
"""Numbered and titled like the others; its two signatures are taken by ``tables/disputes/corrections.py``."""

SLIPS: Final = catalog(*(record for record in SLIP_TYPES.values() if record.subject == "slip"))
"""The series whose slips are signed step by step."""


def offered(page: str, records: Mapping[str, SlipType] = SLIPS) -> Sequence[SlipType]:
    """The series that are begun on a page."""
    return [record for record in records.values() if record.begin_page == page]


def kinds(*, house: bool, records: Mapping[str, SlipType] = SLIPS) -> dict[str, frozenset[str]]:
    """Every kind of entry about slips of the house, or of a table, with the kinds of transfer that it may make."""
    ours = [record for record in records.values() if record.in_house is house]
    return {kind: transfers for record in ours for kind, _, transfers in record.kinds()}


HOUSE_COUNTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        kind: stage.expects
        for record in SLIPS.values()
        for kind, stage, _ in record.kinds()
        if stage.expects in HOUSE_PLACES
    }
)
"""The kinds of entry that hold a count against what all books left in a place that the whole house shares, and say how
far each was read; with the place."""

CASH_COUNTED: Final = tuple(
    record for record in SLIPS.values() if record.in_house and record.count is not None and record.cash
)
"""The series that count cash of the house: each counts one place."""

RACK_COUNTS: Final = frozenset(
    kind
    for record in SLIPS.values()
    for kind, stage, _ in record.kinds()
    if record.counts(RACK) and not record.table_effect and stage.expects
)
"""The kinds of entry in which a rack is counted the second time while the table stays open."""

PAPERS: Final = tuple(record.name for record in SLIPS.values() if record.subject == "slip")
"""The series that are signed as slips are."""
