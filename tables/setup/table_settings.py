"""Setting up tables: what an operator may set, what the games make of it, and when it may change.

Limits may change at any time: a round keeps those that it was opened under. What a round rests on (its game,
options, seats, shoe, unit and chips) waits until the round is over. Every change is an entry in the table's log.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, fields, replace
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import msgspec
from django.db import transaction
from django.utils import timezone

from ledger import cage, log, site_log
from ledger.log import Draft
from ledger.models import HOUSE, Book
from ledger.proof.chain import Head
from ledger.proof.chips import Denomination as Chip
from ledger.proof.chips import can_cut, money
from ledger.site_log import Difference, difference
from tables.games.catalog import GAMES
from tables.games.game import Game
from tables.games.protocol import BET_STEP, MOST_CENTS
from tables.log import dual_control, limit_notice, non_tracked
from tables.log.entries.carried_rows import TableAdded
from tables.log.entries.proposals import builtins
from tables.log.entries.settings import PAYS, ByPlans, TableSet
from tables.log.game_kinds import kind_of
from tables.log.limit_plans import LIMIT_SETTINGS, WAGER, called, changed_names, limits_in
from tables.log.policies import Values
from tables.log.state import SHUFFLERS, TableState
from tables.log.terms import Settings, made_rules, rules_of, settings_after
from tables.models import Denomination, ShoeSource, Staff, Table
from tables.models.tables import MOST_RAKE_PERMILLE
from tables.refusals import Faults, refuse_faults, sentence
from tables.setup import pay_tables, policies
from tables.setup.dual_control import ApprovalHandler, ApprovedProposal, ProposalDraft, handles, refuse_alone
from tables.setup.game_kinds import MOST_UNITS_A_BET, setting_of
from tables.state import table_state

WAITS: Final = {
    "game": "the game",
    "options": "the game's options",
    "seats": "the number of seats",
    "source": "the shoe",
    "unit_cents": "the smallest chip",
    "denominations": "the chips",
    "marks_commission": "when commission is taken",
}
"""The settings that cannot change while a round is open, with their names in messages."""


MOST_CAMERAS: Final = 80
ONLY_OPERATORS: Final = "Only an operator sets up tables."


def settings_of(table: Table) -> Settings:
    """A table's settings as they are now, every option spelled out."""
    stored = {field.name: getattr(table, field.name) for field in fields(Settings)}
    return Settings(
        **stored
        | {
            "options": options_of(rules_of(table)),
            "denominations": tuple(chip.value_cents for chip in table.denominations.all()),
            "wager_limits": {wager: (least, most) for wager, (least, most) in table.wager_limits.items()},
        }
    )


# --- Writing ---------------------------------------------------------------------------------------------------


def create_table(name: str, settings: Settings, *, by: Staff, proposal: int | None = None) -> Table:
    """Create a table with its log and accounts, closed and without a shoe. Raises Refused."""
    by.require("tables.add_table", ONLY_OPERATORS)
    settings = _paying_exactly(settings)
    refuse(name_faults(name) | faults(settings) | retired_faults(settings.denominations))
    settings = _full_settings(settings)
    if proposal is None:
        settings = _judged(None, settings)
    with transaction.atomic():
        _refuse_alone({}, difference({}, asdict(settings)), proposal)
        # The site's log names the table before its own log exists: a proof can tell a log that was slipped in.
        site_log.append(TableAdded(name=name), by.signature)
        book = _open_book(name, settings)
        table = Table(name=name, book=book)
        _store(table, settings)
        _write(table, log.lock(book.pk), difference({}, asdict(settings)), by, proposal)
    return table


def change_table(table: Table, changes: Mapping[str, Any], *, by: Staff, proposal: int | None = None) -> Table:
    """Change some settings of a table. Raises Refused with a sentence for each setting that is wrong or has to wait."""
    by.require("tables.change_table", ONLY_OPERATORS)
    with transaction.atomic():
        site_log.lock()  # before the table's book: whether it takes two people must not change meanwhile
        head = log.lock(table.book_id)
        table.refresh_from_db()
        before = settings_of(table)
        refuse(change_faults(table, changes, table_state.at(head)))
        after = _full_settings(_after(before, changes))
        if proposal is None:  # what two people approve was judged when it was proposed
            after = _judged(before, after)
        changed = difference(asdict(before), asdict(after))
        if changed.after:
            _refuse_alone(asdict(before), changed, proposal)
            _open_book(table.book.name, after)
            _store(table, after)
            _write(table, head, changed, by, proposal)
    return table


def set_by_plans(table: Table, head: Head, limits: Mapping[str, Any], *, plans: ByPlans, key: UUID, by: str) -> None:
    """Set the limits of a table by its limit plans. The caller has locked the table's log and then read its row."""
    before = settings_of(table)
    after = replace(before, **limits)
    _store(table, after)
    changed = difference(asdict(before), asdict(after))
    # The caller has the lock, so the limits and the entry about them change together or not at all.
    log.append(head, Draft.of(TableSet(**changed._asdict(), plans=plans), by, key=key))


def _open_book(name: str, settings: Settings) -> Book:
    game = GAMES[settings.game]
    return cage.open_table_book(name, settings.seats, pot=setting_of(game).has_pot, wagers=game.spots)


def refuse(sentences: Faults) -> None:
    """Raises Refused with the faults of settings, unless there is none."""
    refuse_faults("bad_settings", sentences)


def _paying_exactly(settings: Settings) -> Settings:
    """The settings with exact payment, unless the operator chose a rounding: for a new table, and one that is set to
    another game. The default of the rules stays *down*, which entries and records without the option mean."""
    game = GAMES.get(settings.game)
    if game is None or "rounding" not in game.rules_type.__struct_fields__:
        return settings
    return replace(settings, options={"rounding": "exact", **settings.options})


def _after(before: Settings, changes: Mapping[str, Any]) -> Settings:
    """The settings with some of them changed. A table that is set to another game gets the defaults of a new table."""
    after = replace(before, **changes)
    return after if after.game == before.game else _paying_exactly(after)


def _full_settings(settings: Settings) -> Settings:
    """With every option spelled out, so that a later default changes no table, and the largest chip first."""
    options = options_of(made_rules(GAMES[settings.game], settings.options, settings.unit_cents))
    return replace(settings, options=options, denominations=tuple(sorted(set(settings.denominations), reverse=True)))


Edges = Callable[[str, Any], Mapping[str, str]]
"""By wager of a game under its rules, what the player wins on average; without those that favour the casino."""
_edges: Edges = lambda game, rules: {}  # noqa: E731


def go_by_edges(edges: Edges) -> None:
    """Set the valuation of wagers. Called once at the start, because this package may not import the mathematics."""
    global _edges
    _edges = edges


def _judged(before: Settings | None, after: Settings) -> Settings:
    """The settings with the wagers that favour the player, if the game or its options changed."""
    if before is not None and (before.game, before.options) == (after.game, after.options):
        return after
    rules = made_rules(GAMES[after.game], after.options, after.unit_cents)
    return replace(after, player_edges=dict(_edges(after.game, rules)))


def options_of(rules: Any) -> dict[str, Any]:
    """Every option of rules, spelled out."""
    return {name: value for name, value in msgspec.to_builtins(rules).items() if name != "unit"}


def _store(table: Table, settings: Settings) -> None:
    for name, value in asdict(settings).items():
        if name != "denominations":
            setattr(table, name, value)
    table.save()
    table.denominations.set(Denomination.objects.filter(value_cents__in=settings.denominations))


def _write(table: Table, head: Head, changed: Difference, by: Staff, proposal: int | None) -> None:
    minutes = policies.number("limits_notice_minutes")
    event = TableSet(**changed._asdict(), proposal=proposal, notice_minutes=minutes, effective_maxima=True)
    log.append(head, Draft.of(event, by.signature))


# --- By two people ---------------------------------------------------------------------------------------------


def draft_of_new(name: str, settings: Settings) -> ProposalDraft | None:
    """A new table as it is proposed, where its settings take two people; None where one adds it. Raises Refused."""
    settings = _paying_exactly(settings)
    refuse(name_faults(name) | faults(settings))
    return _draft(name, {}, difference({}, asdict(_judged(None, _full_settings(settings)))))


def draft_of_change(table: Table, changes: Mapping[str, Any]) -> ProposalDraft | None:
    """The proposal of a change of settings under dual control; None where one person may make it. Raises Refused."""
    refuse(change_faults(table, changes, table_state.of(table)))
    before = settings_of(table)
    changed = difference(asdict(before), asdict(_judged(before, _full_settings(_after(before, changes)))))
    return _draft(table.name, asdict(before), changed)


def draft_of(
    table: Table, changes: Mapping[str, Any], *, takes: str = "round", effective: datetime | None = None
) -> ProposalDraft | None:
    """The proposal of a change that takes effect now, later, or with the next shoe; None where one person may make it
    now. Raises Refused."""
    if takes == "shoe":
        return replace(draft_for_the_shoe(table, changes), effective=effective)
    if effective:
        return replace(draft_for_later(table, changes), effective=effective)
    return draft_of_change(table, changes)


def draft_for_the_shoe(table: Table, changes: Mapping[str, Any]) -> ProposalDraft:
    """A change that is to hold with the next shoe; by as many people as it would take at once. Raises Refused."""
    refuse(shoe_faults(table, changes) | change_faults(table, changes, TableState()))
    drafted = _draft_to_come(table, changes)
    after = {**drafted.after, "takes": "shoe"} if drafted.after else {}
    return replace(drafted, after=after)


def draft_for_later(table: Table, changes: Mapping[str, Any]) -> ProposalDraft:
    """The proposal of a change that takes effect later or on approval. Raises Refused.

    An open round does not prevent it.
    """
    refuse(change_faults(table, changes, TableState()))
    return _draft_to_come(table, changes)


def _draft_to_come(table: Table, changes: Mapping[str, Any]) -> ProposalDraft:
    before = settings_of(table)
    changed = difference(asdict(before), asdict(_judged(before, _full_settings(_after(before, changes)))))
    matter = "limits" if changed.after.keys() <= set(LIMIT_SETTINGS) else "pays"
    drafted = _draft(table.name, asdict(before), changed)
    return drafted or _to_propose(matter, table.name, asdict(before), changed)


WITH_THE_SHOE: Final = frozenset({*LIMIT_SETTINGS, "options", "source"})
"""The settings that may be set to hold with the next shoe."""


def shoe_faults(table: Table, changes: Mapping[str, Any]) -> Faults:
    """The faults of a change that shall wait for the next shoe: settings that cannot."""
    before = settings_of(table)
    after = _after(before, changes)
    sentence = "Only limits, the game's options and the shoe itself can hold with the next shoe; change this by itself."
    return {name: sentence for name in changes if name not in WITH_THE_SHOE and _differs(name, before, after)}


def refuse_options(table: Table, options: Mapping[str, Any]) -> None:
    """Raises Refused for options that are none of the table's game, before anything is made of them."""
    settings = replace(settings_of(table), options=dict(options))
    refuse(_rules_faults(GAMES[table.game], settings))


def _draft(name: str, set_to: Mapping[str, Any], changed: Difference) -> ProposalDraft | None:
    matter = dual_control.of_table(*changed, policies.as_entered(timezone.now()), lambda: set_to)
    return _to_propose(matter, name, set_to, changed) if matter else None


def _to_propose(matter: str, name: str, set_to: Mapping[str, Any], changed: Difference) -> ProposalDraft:
    return ProposalDraft(matter, name, builtins(changed.before), builtins(changed.after), set_to=set_to)


def _refuse_alone(set_to: Mapping[str, Any], changed: Difference, proposal: int | None) -> None:
    # Under the lock of the site: dual control must not be turned on or off between this check and the commit.
    terms = policies.as_entered(site_log.lock().moment)
    refuse_alone(dual_control.of_table(*changed, terms, lambda: set_to), terms, proposal)


def _present_values(proposals: Sequence[ApprovedProposal]) -> list[Mapping[str, Any]]:
    settings = {name: builtins(asdict(settings_of(table))) for name, table in _tables_of(proposals).items()}
    return [{name: settings.get(row.about, {}).get(name) for name in row.before} for row in proposals]


def _tables_of(proposals: Sequence[ApprovedProposal]) -> dict[str, Table]:
    rows = Table.objects.filter(name__in=[proposal.about for proposal in proposals])
    return {table.name: table for table in rows.select_related("book").prefetch_related("denominations")}


def _apply(proposal: ApprovedProposal, by: Staff) -> None:
    if not proposal.before:
        create_table(proposal.about, settings_after(None, proposal.after), by=by, proposal=proposal.number)
        return
    table = Table.objects.get(name=proposal.about)
    if proposal.waits_for_shoe:  # under the lock of its book, which the change keeps: no round can be opened meanwhile
        refuse(_shoe_faults_now(table, table_state.at(log.lock(table.book_id))))
    change_table(table, _changes(table, proposal), by=by, proposal=proposal.number)


def _changes(table: Table, proposal: ApprovedProposal) -> dict[str, Any]:
    """The settings of a table that a proposal changes, with their values."""
    values = values_of(proposal)
    after = asdict(settings_after(settings_of(table), values))
    return {name: after[name] for name in values}


def _takes_two(proposal: ApprovedProposal | ProposalDraft, terms: Values) -> bool:
    return dual_control.of_table(proposal.before, proposal.after, terms, lambda: _set_to(proposal)) is not None


def _set_to(proposal: ApprovedProposal | ProposalDraft) -> Mapping[str, Any]:
    """Every setting of the table that a proposal changes, as it is now."""
    if isinstance(proposal, ProposalDraft):
        return proposal.set_to
    return asdict(settings_of(_tables_of([proposal])[proposal.about]))


def values_of(proposal: ApprovedProposal) -> dict[str, Any]:
    """The settings in a proposal, without the mark that it waits for a shoe."""
    return {name: value for name, value in proposal.after.items() if name != "takes"}


def _shoe_faults_now(table: Table, state: TableState) -> Faults:
    if state.shoe_is_over:
        return {}
    return {"takes": f"Shoe {state.shoes} is not over at {table.name}: it changes with the next one."}


def _hindrances(proposals: Sequence[ApprovedProposal]) -> list[str]:
    """Why each proposal has to wait: an open round, or chips in play. Empty where it need not."""
    tables = _tables_of([proposal for proposal in proposals if proposal.before])
    states = table_state.at_all([table_state.head_of(table) for table in tables.values()])
    return [
        _hindrance(proposal, tables[proposal.about], states[tables[proposal.about].book_id])
        if proposal.before and proposal.about in tables
        else ""
        for proposal in proposals
    ]


def _hindrance(proposal: ApprovedProposal, table: Table, state: TableState) -> str:
    sentences = _shoe_faults_now(table, state) if proposal.waits_for_shoe else {}
    return " ".join((change_faults(table, _changes(table, proposal), state) | sentences).values())


MATTERS: Final = (dual_control.EDGE, "limits", "take", "pays")
"""The subjects of proposals that change a table."""
handles(
    *MATTERS,
    matter=ApprovalHandler(
        _present_values,
        _apply,
        "tables.change_table",
        may_propose=("tables.propose_limits",),
        takes_two=_takes_two,
        of_tables=lambda proposal: [proposal.about],
        hindrances=_hindrances,
    ),
)


# --- Judging ---------------------------------------------------------------------------------------------------


def name_faults(name: str) -> Faults:
    most = Table._meta.get_field("name").max_length or 0
    if not name.strip() or name != name.strip() or not name.isprintable() or len(name) > most:
        return {"name": f"A table's name has 1 to {most} characters, and no space before or after it."}
    if name == HOUSE or Book.objects.filter(name__iexact=name).exists():
        return {"name": f"There is a {name} already, or was one: its log keeps the name."}
    return {}


def change_faults(table: Table, changes: Mapping[str, Any], state: TableState) -> Faults:
    """The faults of a change of settings, by field. Some changes have to wait for the end of the open round."""
    before = settings_of(table)
    after = _after(before, changes)
    changed = [name for name in WAITS if _differs(name, before, after)]
    new_chips = set(after.denominations) - set(before.denominations)
    sentences = faults(after, had=before.denominations) | retired_faults(new_chips)
    if state.is_open and non_tracked.is_so(before) is not non_tracked.is_so(after):
        sentence = "Close the table first: its rack has to be counted before its win is known in another way."
        return sentences | {"game": sentence}
    sentences |= _held_faults(before, after, state)
    if state.round_open:
        return sentences | {name: round_is_open(table, state, f"{WAITS[name]} can change") for name in changed}
    return sentences | {name: sentence for name in changed if (sentence := _chips_lie(name, state, after))}


def _held_faults(before: Settings, after: Settings, state: TableState) -> Faults:
    """Limits that a plan sets, and minima that take notice: both are changed by a plan."""
    earlier, later = limits_in(before), limits_in(after)
    changed = changed_names(earlier, later)
    fields = {name: "wager_limits" if name.startswith(WAGER) else name for name in changed}
    sentences = {
        fields[name]: f"A limit plan sets the {called(name)} here now: change that plan, or set one for this table."
        for name in changed
        if name in before.own_limits
    }
    minutes = policies.number("limits_notice_minutes")
    owes_notice = minutes and limit_notice.has_players(state, by_count=non_tracked.is_so(before))
    raises = limit_notice.raised(earlier, later) if owes_notice else {}
    moment = timezone.now()
    if limit_notice.covers(state.announced, raises, moment):
        return sentences
    earliest = timezone.localtime(moment + timedelta(minutes=minutes + 1))
    for name in raises.keys() - before.own_limits.keys():
        sentences[fields.get(name, "min_cents")] = (
            f"Players are seated: raising the {called(name)} takes {minutes} minutes' notice. Let it hold from"
            f" {earliest:%Y-%m-%d %H:%M} or later, or set a limit plan for this table: it is announced until then."
        )
    return sentences


def _chips_lie(name: str, state: TableState, after: Settings) -> str:
    """Why something has to wait for the chips that lie at the seats or in the pot of a table; empty if it need not."""
    if name in ("game", "seats", "unit_cents", "denominations") and state.stacks:
        return f"Chips are in play at this table: {WAITS[name]} can change when all seats have cashed out."
    if name in ("game", "seats", "unit_cents", "marks_commission") and state.marks:
        return f"Commission is marked at this table: {WAITS[name]} can change when it is collected."
    stays = name == "game" and setting_of(GAMES[after.game]).has_pot
    if name in ("game", "unit_cents") and state.pot_cents and not stays:
        return (
            f"{money(state.pot_cents)} is left in the pot for the next game: {WAITS[name]} can change when it is won."
        )
    return ""


def round_is_open(table: Table, state: TableState, advice: str) -> str:
    """The sentence about a change that has to wait for the end of the round."""
    number = state.round.number if state.round else 0
    return f"Round {number} is open at {table.name}: {advice} when it is over."


def _differs(name: str, before: Settings, after: Settings) -> bool:
    if name == "denominations":
        return set(before.denominations) != set(after.denominations)
    return bool(getattr(before, name) != getattr(after, name))


def faults(settings: Settings, *, had: Collection[int] = ()) -> Faults:
    """The faults of a table's settings, by field.

    ``had`` are its present denominations in cents, which need not exist.
    """
    game = GAMES.get(settings.game)
    if game is None:
        return {"game": f"There is no game {settings.game!r}; there is {', '.join(GAMES)}."}
    sentences = _felt_faults(game, settings)
    unit = settings.unit_cents
    if not 0 < unit <= MOST_CENTS // MOST_UNITS_A_BET:
        return sentences | {
            "unit_cents": f"The smallest chip is more than 0 and at most {money(MOST_CENTS // MOST_UNITS_A_BET)}."
        }
    sentences |= _rules_faults(game, settings) | limit_faults(settings) | _chip_faults(settings, had)
    sentences |= _take_faults(game, settings)
    return sentences or _commission_faults(game, settings) | _penetration_faults(game, settings)


def _felt_faults(game: Game[Any, Any], settings: Settings) -> Faults:
    sentences: Faults = {}
    if len(settings.cameras) > MOST_CAMERAS or not settings.cameras.isprintable():
        sentences["cameras"] = f"Name the cameras in at most {MOST_CAMERAS} plain characters: C-12, PTZ 3."
    seats = setting_of(game).seats(game)
    if settings.seats not in seats:
        sentences["seats"] = f"{game.title} is played with {game.seat_counts[0]} to {seats[-1]} seats."
    if settings.source not in ShoeSource.values:
        sentences["source"] = f"A shoe is one of {', '.join(ShoeSource.values)}."
    elif settings.source in SHUFFLERS and setting_of(game).has_pot:
        sentences["source"] = f"A machine shuffles for games against the house; {game.title} is dealt from one deck."
    return sentences


def _rules_faults(game: Game[Any, Any], settings: Settings) -> Faults:
    if "unit" in settings.options:
        return {"options": "The unit is the table's smallest chip: leave it out of the options."}
    pays = settings.options.get(PAYS)
    if pays is not None and (fault := pay_tables.option_fault(game.name, pays)):
        return {PAYS: fault}
    try:
        fault = game.faults(made_rules(game, settings.options, settings.unit_cents))
    except msgspec.ValidationError as error:
        text, _, path = str(error).replace("`", "").partition(" - at $.")
        if path == "unit":
            return {"unit_cents": f"{game.title} does not take so large a smallest chip."}
        return {"options": sentence(f"{path}: {text[:1].lower()}{text[1:]}" if path else text)}
    return {"options": fault} if fault else {}


def limit_faults(settings: Settings) -> Faults:
    """The faults of limits of bets, or of buy-ins at a table with a pot, by field."""
    game, sentences = GAMES[settings.game], dict[str, str]()
    kind = setting_of(game)
    units, units_are = kind.units(game)
    step = units * settings.unit_cents
    if fault := _step_fault(game, settings, step, units_are):
        return {"bet_step_cents": fault}
    if settings.bet_step_cents:
        step, units_are = settings.bet_step_cents, BET_STEP
    for name, word, cents in (
        ("min_cents", "minimum", settings.min_cents),
        ("max_cents", "maximum", settings.max_cents),
    ):
        if not 0 < cents <= MOST_CENTS:
            sentences[name] = f"The {word} is more than 0 and at most {money(MOST_CENTS)}."
        elif cents % step:
            nearest = " or ".join(money(near) for near in (cents // step * step, -(-cents // step) * step) if near)
            sentences[name] = f"The {word} is a multiple of {money(step)}, {units_are}: {nearest}."
    if not sentences and settings.min_cents > settings.max_cents:
        sentences["max_cents"] = f"The maximum is under the minimum of {money(settings.min_cents)}."
    if not sentences and (sentence := _wager_limit_fault(game, settings, step)):
        sentences["wager_limits"] = sentence
    seat = settings.seat_max_cents
    if not sentences and seat is not None and (sentence := _seat_fault(game, settings, step)):
        sentences["seat_max_cents"] = sentence
    cap = settings.cap_cents
    if cap is not None and (sentence := kind.cap_fault(game, cap, settings.min_cents)):
        sentences["cap_cents"] = sentence
    return sentences


def _step_fault(game: Game[Any, Any], settings: Settings, least: int, least_is: str) -> str:
    """The fault of the bet step; empty if it is valid."""
    step = settings.bet_step_cents
    if step is None:
        return ""
    if not setting_of(game).has_bet_step:
        return f"{game.title} takes no bets against the house round by round: leave the bet step empty."
    if not 0 < step <= settings.max_cents or step % least:
        return f"The bet step is a multiple of {money(least)}, {least_is}, and at most the maximum; or empty."
    return ""


def _seat_fault(game: Game[Any, Any], settings: Settings, step: int) -> str:
    """The fault of the seat maximum; empty if it is valid."""
    seat = settings.seat_max_cents or 0
    if setting_of(game).has_pot:
        return f"{game.title} is played for a pot: nobody bets against the house, so no seat has a maximum."
    if not settings.min_cents <= seat <= MOST_CENTS or seat % step:
        least = money(settings.min_cents)
        return (
            f"The maximum of a seat is a multiple of {money(step)}, and no less than the minimum of {least}; or empty."
        )
    return ""


def _wager_limit_fault(game: Game[Any, Any], settings: Settings, step: int) -> str:
    """The fault of the limits of single wagers; empty if they are valid."""
    for wager, (least, most) in settings.wager_limits.items():
        if wager not in game.limited_wagers(settings.options):
            return f"{game.title} has no wager {wager} with limits of its own."
        if not 0 < least <= most <= MOST_CENTS or least % step or most % step:
            return f"The limits of {wager.replace('_', ' ')} are multiples of {money(step)}, the lower one first."
    return ""


def _take_faults(game: Game[Any, Any], settings: Settings) -> Faults:
    """The faults of rake and time charge, by field. Both are 0 at a table without a pot."""
    rake, cap, charge, coin = (
        settings.rake_permille,
        settings.rake_cap_cents,
        settings.time_charge_cents,
        settings.unit_cents,
    )
    sentences: Faults = {}
    if not 0 <= rake <= MOST_RAKE_PERMILLE:
        sentences["rake_permille"] = f"The rake is at most {MOST_RAKE_PERMILLE / 10:g} % of a pot."
    if cap is not None and not (0 < cap <= MOST_CENTS and cap % coin == 0):
        sentences["rake_cap_cents"] = (
            f"The most rake of a pot is a multiple of {money(coin)}, the table's coin; or empty."
        )
    if not (0 <= charge <= MOST_CENTS and charge % coin == 0):
        sentences["time_charge_cents"] = f"The time charge is a multiple of {money(coin)}, the table's coin; or 0."
    if not sentences and (rake or charge) and not kind_of(game).for_coins:
        return {"rake_permille": f"{game.title} has no pot that the house could take from: no rake, no time charge."}
    if not sentences and rake and charge:
        return {"time_charge_cents": "A table takes a rake or a time charge, not both."}
    return sentences


def _commission_faults(game: Game[Any, Any], settings: Settings) -> Faults:
    """Called once the options are known to be right."""
    rules = made_rules(game, settings.options, settings.unit_cents)
    if not settings.marks_commission or kind_of(game).takes_commission(rules):
        return {}
    return {"marks_commission": f"{game.title} takes no commission under these options that could be marked."}


def retired_faults(values: Collection[int]) -> Faults:
    """The faults of denominations, in cents, that are new at a table, by field."""
    if not values:
        return {}
    retired = Denomination.objects.filter(value_cents__in=values).exclude(retired_at=None)
    if names := [str(chip) for chip in retired]:
        return {"denominations": f"{', '.join(names).capitalize()}: retired, and not put at a table any more."}
    return {}


def _penetration_faults(game: Game[Any, Any], settings: Settings) -> Faults:
    """Called once the options are known to be right. Shoes that a machine shuffles have no cut card."""
    rules = made_rules(game, settings.options, settings.unit_cents)
    kind, least = kind_of(game), policies.number("least_penetration_percent")
    behind, cards = kind.at_cut(rules), kind.pack(rules).size * game.decks(rules)
    if settings.source in SHUFFLERS or not behind or 100 * (cards - behind) >= least * cards:
        return {}
    sentence = (
        f"{behind} of {cards} cards would lie behind the cut card: the house has at least {least} % of a shoe dealt."
    )
    return {"options": sentence}


def _unknown(values: Collection[int]) -> set[int]:
    chips = Denomination.objects.filter(value_cents__in=values) if values else Denomination.objects.none()
    return set(values) - set(chips.values_list("value_cents", flat=True))


def _chip_faults(settings: Settings, had: Collection[int]) -> Faults:
    values = settings.denominations
    if not values:
        return {"denominations": "A table needs chips."}
    if missing := sorted(_unknown(set(values) - set(had))):
        return {"denominations": f"There is no chip worth {', '.join(map(money, missing))}."}
    chips = [Chip(value, money(value)) for value in values]
    try:
        payable = can_cut(settings.unit_cents, chips) and can_cut(settings.max_cents, chips)
    except ValueError:
        return {"denominations": "These chips have too little in common to pay every amount."}
    if not payable:
        unit = money(settings.unit_cents)
        return {"denominations": f"These chips cannot pay {unit}, the smallest chip: add a smaller one."}
    return {}
