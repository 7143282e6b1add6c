"""Limit plans: setting them, and what they come to at tables. Rows are never changed, each has its entry.

A program sets one by ``set_plan(LimitPlanSet(...), expected_version=0, by=operator)``; the version is filled in, and
so is the moment where it is empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time
from typing import Any, Final
from zoneinfo import available_timezones

import msgspec
from django.db import transaction
from django.db.models import F, Window
from django.db.models.functions import RowNumber
from django.utils import timezone
from msgspec import structs

from ledger import site_log
from ledger.proof.chain import Entry
from ledger.proof.chips import money
from tables.games.catalog import GAMES
from tables.games.protocol import MOST_CENTS
from tables.log import dual_control, moments
from tables.log.entries.limit_plans import LimitPlanSet
from tables.log.limit_plans import (
    AMOUNTS,
    SCOPES,
    WAGER,
    Always,
    EffectiveLimits,
    Facts,
    Hours,
    Layer,
    Occasion,
    Plan,
    Schedule,
    Stack,
    Values,
    amount_of,
    by_name,
    called,
    in_settings,
    limits_in,
    limits_of,
    own_limits,
    resolve,
    stack_at,
)
from tables.log.message import text_of
from tables.log.terms import Settings
from tables.models import LimitPlan, PitSection, Staff, Table
from tables.projections.site_rows import LIMIT_PLANS
from tables.refusals import Refused
from tables.setup import pits, policies, table_settings
from tables.setup.dual_control import ApprovalHandler, ApprovedProposal, handles, refuse_alone
from tables.setup.dual_control import ProposalDraft as ToPropose
from tables.setup.pits import NOWHERE
from tables.setup.table_settings import Faults

LONGEST: Final = 40
LONGEST_NOTE: Final = 200


# --- Reading -----------------------------------------------------------------------------------------------------


def plans(moment: datetime | None = None, through_seq: int | None = None) -> list[Plan]:
    """Every version of every plan; with a moment, only those that may matter from then on: of each plan the one that
    stands then, and those to come. As it was through an entry of the house's book."""
    rows = LimitPlan.objects.order_by("seq")
    rows = rows if through_seq is None else rows.filter(seq__lte=through_seq)
    if moment is not None:
        past = (
            rows.filter(effective__lte=moment)
            .order_by()
            .annotate(
                age=Window(RowNumber(), partition_by=[F("name")], order_by=[F("effective").desc(), F("seq").desc()])
            )
        )
        rows = rows.filter(effective__gt=moment) | rows.filter(pk__in=past.filter(age=1).values("pk"))
    return [LIMIT_PLANS.event_of(row).plan(row.seq) for row in rows]


def standing_plans(moment: datetime) -> list[Plan]:
    """The version of each plan that stands at a moment, by name; those that are retired are left out."""
    newest: dict[str, Plan] = {}
    for plan in sorted(plans(moment), key=lambda plan: (plan.effective, plan.seq)):
        if plan.effective <= moment:
            newest[plan.name] = plan
    return [newest[name] for name in sorted(newest) if not newest[name].retired]


def history(name: str) -> list[LimitPlan]:
    """Every version of a plan, the newest first."""
    return list(LimitPlan.objects.filter(name=name).order_by("-version"))


def latest(name: str) -> LimitPlan | None:
    """The version of a plan that was set last, whenever it holds from."""
    return LimitPlan.objects.filter(name=name).order_by("-version").first()


@dataclass(frozen=True, slots=True)
class TableLimits:
    """What the plans come to at a table, beside what it is set to now."""

    facts: Facts
    outcome: EffectiveLimits
    set_to: Values
    """What the next round is opened under."""

    @property
    def differs(self) -> tuple[str, ...]:
        """The limits that do not hold yet as the plans say: they wait for the end of a notice, or for a shoe."""
        due = self.outcome.values
        return tuple(sorted(name for name in {**due, **self.set_to} if due.get(name) != self.set_to.get(name)))

    @property
    def next_words(self) -> str:
        """The next change in words, by the house's clock: when, what and why; empty where plans change nothing."""
        change = self.outcome.next
        if change is None:
            return ""
        coming = [
            f"{called(name)} {text_of(amount_of(change.layers[name].value))}, {change.layers[name].why}"
            if name in change.layers
            else f"no {called(name)}"
            for name in change.changed
        ]
        return f"{timezone.localtime(change.moment):%a %Y-%m-%d %H:%M}: {'; '.join(coming)}"


def outcomes(tables: Iterable[Table], moment: datetime) -> dict[str, TableLimits]:
    """What the plans come to at tables, by their names, and what changes next: two queries for all of them."""
    every, places = plans(moment), pits.places()
    limits: dict[str, TableLimits] = {}
    for table in tables:
        facts = facts_of(settings_of_row(table), table.name, places.get(table.name, NOWHERE).pit)
        limits[table.name] = TableLimits(facts, resolve(every, facts, moment), limits_in(table))
    return limits


def settings_of_row(table: Table) -> Settings:
    """A table's settings as far as limits go, without a query."""
    return Settings(
        game=table.game,
        options=table.options,
        seats=table.seats,
        source=table.source,
        unit_cents=table.unit_cents,
        min_cents=table.min_cents,
        max_cents=table.max_cents,
        bet_step_cents=table.bet_step_cents,
        cap_cents=table.cap_cents,
        denominations=(),
        wager_limits=table.wager_limits,
        seat_max_cents=table.seat_max_cents,
        own_limits=table.own_limits,
        kept_minimums=table.kept_minimums,
    )


def facts_of(settings: Settings, table: str, pit: str) -> Facts:
    """What the layers of a table are chosen by."""
    game = GAMES[settings.game]
    wagers = frozenset(game.limited_wagers(settings.options))
    return Facts(table=table, game=settings.game, pit=pit, wagers=wagers, own=own_limits(settings))


# --- Setting -----------------------------------------------------------------------------------------------------


def set_plan(event: LimitPlanSet, *, expected_version: int, by: Staff, proposal: int | None = None) -> LimitPlan:
    """Set the next version of a plan. ``expected_version``: the newest that whoever sets it has seen, 0 for none.
    Raises Refused; ``changed_meanwhile`` says what was set since."""
    if not by.has_perm("tables.add_limitplan"):
        raise Refused("not_permitted", "Only an operator sets limit plans.", 403)
    return write(event, expected_version=expected_version, by=by, proposal=proposal)


def write(event: LimitPlanSet, *, expected_version: int, by: Staff, proposal: int | None = None) -> LimitPlan:
    """The same by whoever was let. Raises Refused."""
    with transaction.atomic():
        head = site_log.lock()
        refuse_changed(event.name, expected_version)
        effective = event.effective or policies.spelled(head.moment)
        event = structs.replace(
            event, version=expected_version + 1, effective=effective, proposal=proposal, effective_maxima=True
        )
        refuse(faults(event, head.moment))
        terms = policies.as_entered(head.moment)
        matter = dual_control.of_plan(*_contents(event), terms, lambda: beneath(latest(event.name), head.moment))
        refuse_alone(matter, terms, proposal)
        return LIMIT_PLANS.append(head, event, by.signature)


def retire(name: str, *, expected_version: int, by: Staff) -> LimitPlan:
    """End a plan: what lies below it holds from now on. Raises Refused."""
    return set_plan(retirement(name), expected_version=expected_version, by=by)


def retirement(name: str) -> LimitPlanSet:
    """The version that ends a plan. Raises Refused."""
    newest = latest(name)
    if newest is None or newest.retired:
        raise Refused("no_plan", f"There is no plan {name}, or it is retired already.", 404)
    return structs.replace(LIMIT_PLANS.event_of(newest), values={}, retired=True, effective="", note="", proposal=None)


def judged(event: LimitPlanSet, effective: str) -> LimitPlanSet:
    """A plan as it is judged before it is set: from when it would hold."""
    return structs.replace(event, effective=effective)


def refuse(sentences: Faults) -> None:
    """Raises Refused with every sentence, unless there is none."""
    if sentences:
        raise Refused("bad_plan", " ".join(sentences.values()), 422, fields=sentences)


def refuse_changed(name: str, expected_version: int) -> None:
    """Raises Refused where somebody else set a version meanwhile, with what they made of it."""
    newest = latest(name)
    version = newest.version if newest else 0
    if newest is None or version == expected_version:
        if version != expected_version:
            raise Refused(
                "changed_meanwhile", f"There is no version {expected_version} of {name}.", 409, version=version
            )
        return
    if not expected_version:
        sentence = f"There is a plan {name} already: change that one, or give yours another name."
        raise Refused("changed_meanwhile", sentence, 409, version=version, fields={"name": sentence})
    before = LimitPlan.objects.filter(name=name, version=expected_version).first()
    changed = "; ".join(differences(before, newest)) if before else ""
    sentence = f"{newest.by} set version {version} of {name} meanwhile{f': {changed}' if changed else ''}."
    sentence += " What you typed is still here: look at theirs, then save yours upon it, or leave it."
    raise Refused("changed_meanwhile", sentence, 409, version=version)


def differences(before: LimitPlan, after: LimitPlan) -> list[str]:
    """What one version has otherwise than another, in words."""
    earlier, later = _in_words(LIMIT_PLANS.event_of(before)), _in_words(LIMIT_PLANS.event_of(after))
    return [f"{name} {earlier[name]} → {later[name]}" for name in later if earlier[name] != later[name]]


def _in_words(event: LimitPlanSet) -> dict[str, str]:
    return {
        "for": "the whole house" if event.scope == "house" else f"{event.scope} {event.of}",
        "when": text_of(event.schedule.description()),
        "limits": text_of(limits_of(dict(sorted(event.values.items())))) or "none",
        "why": event.note or "-",
        "holds with the next": event.takes,
        "seats that play keep the old minimum": "yes" if event.keeps_seated else "no",
        "retired": "yes" if event.retired else "no",
        "holds from": event.effective[:16].replace("T", " "),
    }


# --- By two people -----------------------------------------------------------------------------------------------


def draft_of(event: LimitPlanSet, *, expected_version: int) -> ToPropose | None:
    """A version of a plan as it is proposed, where it takes two people; None where one sets it. Raises Refused."""
    moment = timezone.now()
    refuse_changed(event.name, expected_version)
    effective = event.effective or policies.spelled(moment)
    refuse(faults(structs.replace(event, effective=effective), moment))
    drafted = proposed(event, expected_version=expected_version)
    terms = policies.as_entered(moment)
    matter = dual_control.of_plan(drafted.before, drafted.after, terms, lambda: beneath(latest(event.name), moment))
    return drafted if matter else None


def _contents(event: LimitPlanSet) -> tuple[dict[str, Any], dict[str, Any]]:
    return content_of(latest(event.name)), content(event)


def beneath(
    row: LimitPlan | None,
    moment: datetime,
    settings: Mapping[str, Settings] | None = None,
    *,
    through_seq: int | None = None,
    formerly: bool = False,
) -> dict[str, int]:
    """For each maximum of a version, the highest that anything else says of it where the version is for: other plans,
    whenever they hold, and the tables themselves. Nothing for an event that is over. As it was through an entry of the
    house's book, and with tables by their names as they were set then; else as it is now. ``formerly``: by the rule
    of releases up to 0.9.0, which left out what holds outside the hours of other plans."""
    if row is None or (plan := LIMIT_PLANS.event_of(row).plan(row.seq)).is_over(moment):
        return {}
    if settings is None:
        settings = {table.name: settings_of_row(table) for table in Table.objects.in_use()}
    other_plans = by_name(version for version in plans(moment, through_seq) if version.name != plan.name)
    places, highest = pits.places(through_seq), dict.fromkeys(plan.values, 0)
    for table, set_to in settings.items():
        facts = facts_of(set_to, table, places.get(table, NOWHERE).pit)
        if not facts.concern(plan):
            continue
        stack = stack_at(other_plans, facts, moment)
        for name in filter(facts.have, plan.values):
            layers = stack.get(name, ())
            most = [layer.value[1] if isinstance(layer.value, tuple) else layer.value for layer in layers]
            if not ((formerly and layers) or any(map(_is_permanent, layers))):
                most += _beyond(name, stack)
            highest[name] = max(highest[name], *most)
    return highest


def _is_permanent(layer: Layer) -> bool:
    """Whether a layer sets its limit at every moment: the table itself, and a plan without hours or an event."""
    return layer.plan is None or isinstance(layer.plan.schedule, Always)


def _beyond(name: str, stack: Stack) -> list[int]:
    """The maxima that apply where no layer sets a limit: of a wager, the table's."""
    if name.startswith(WAGER):
        return [layer.value for layer in stack["max_cents"] if isinstance(layer.value, int)]
    return [dual_control.UNBOUNDED]


def proposed(event: LimitPlanSet, *, expected_version: int) -> ToPropose:
    """The same, whether it takes two people or not."""
    before = content_of(latest(event.name)) or {"version": 0}
    after = content(event) | {"version": expected_version + 1}
    effective = datetime.fromisoformat(event.effective) if event.effective else None
    return ToPropose(dual_control.PLAN, event.name, before, after, effective)


def content_of(row: LimitPlan | None) -> dict[str, Any]:
    """What a version says, as proposals have it; nothing where there is none."""
    return content(LIMIT_PLANS.event_of(row)) if row else {}


def content(event: LimitPlanSet) -> dict[str, Any]:
    """All of it but when it holds from and who stands for it, every part spelled out."""
    facts = structs.asdict(event)
    names = ("version", "scope", "of", "note", "takes", "keeps_seated", "retired")
    plain = {name: facts[name] for name in names}
    return plain | {"schedule": msgspec.to_builtins(event.schedule), "values": msgspec.to_builtins(event.values)}


def _present_values(proposals: Sequence[ApprovedProposal]) -> list[Mapping[str, Any]]:
    rows = LimitPlan.objects.filter(name__in=[proposal.about for proposal in proposals])
    plans = {row.name: row for row in rows.order_by("name", "-version").distinct("name")}
    return [content_of(plans.get(proposal.about)) or {"version": 0} for proposal in proposals]


def _of_tables(proposal: ApprovedProposal) -> list[str]:
    """The tables of a plan for one pit or one table: before, too, where it is taken from them."""
    pits_of = {(side.get("scope"), side.get("of")) for side in (proposal.before, proposal.after)}
    of_pits = {of for scope, of in pits_of if scope == "pit"}
    tables = [table for row in pits.sections() if row.pit in of_pits for table in row.tables]
    return tables + [of for scope, of in pits_of if scope == "table"]


def _apply(proposal: ApprovedProposal, by: Staff) -> None:
    moment = proposal.effective if proposal.effective and proposal.effective > site_log.lock().moment else None
    facts = proposal.after | {"name": proposal.about, "effective": policies.spelled(moment) if moment else ""}
    event = msgspec.convert(facts, LimitPlanSet)
    set_plan(event, expected_version=event.version - 1, by=by, proposal=proposal.number)


handles(
    dual_control.PLAN,
    matter=ApprovalHandler(
        _present_values,
        _apply,
        "tables.add_limitplan",
        may_propose=("tables.propose_limits",),
        dates_itself=True,
        of_tables=_of_tables,
    ),
)


# --- Judging -----------------------------------------------------------------------------------------------------


def faults(event: LimitPlanSet, moment: datetime) -> Faults:
    """What is wrong with a plan that is set at a moment: one sentence for each field that says what would be right."""
    wrong = _form_faults(event, moment)
    if "of" not in wrong and (sentence := _of_fault(event)):
        wrong["of"] = sentence
    if "schedule" not in wrong and not (event.retired or _is_possible(event.schedule)):
        wrong["schedule"] = f"An event starts and ends at a moment {moments.YEARS}."
    return wrong or _felt_faults(event)


def _is_possible(schedule: Schedule) -> bool:
    return not isinstance(schedule, Occasion) or all(map(moments.is_possible, schedule.span()))


def _form_faults(event: LimitPlanSet, moment: datetime) -> Faults:
    wrong: Faults = {}
    if not event.name.strip() or event.name != event.name.strip() or not event.name.isprintable():
        wrong["name"] = "A plan has a name, without a space before or after it: Weekend nights."
    elif len(event.name) > LONGEST:
        wrong["name"] = f"A plan's name has at most {LONGEST} characters."
    if len(event.note) > LONGEST_NOTE or not event.note.isprintable():
        wrong["note"] = f"Say why in at most {LONGEST_NOTE} plain characters, on one line."
    if (event.scope == "house") != (not event.of):
        wrong["of"] = "Name the game, pit or table that it is for; for the whole house name none."
    effective = datetime.fromisoformat(event.effective)
    if effective < moment:
        wrong["effective"] = "A plan holds from now on, or from a moment to come: what was is not changed."
    elif effective > moment + policies.FURTHEST:
        wrong["effective"] = f"A plan is dated no more than {policies.FURTHEST.days} days ahead."
    if sentence := _schedule_fault(event.schedule, max(effective, moment)):
        wrong["schedule"] = sentence
    if event.retired and event.values:
        wrong["values"] = "A plan that is retired sets nothing: leave its limits empty."
    elif not event.retired:
        wrong |= _value_faults(event.values)
    return wrong


def _schedule_fault(schedule: Schedule, moment: datetime) -> str:
    match schedule:
        case Hours(weekdays=weekdays, zone=zone):
            if not weekdays or list(weekdays) != sorted(set(weekdays)) or not 0 <= weekdays[0] <= weekdays[-1] <= 6:
                return "Choose at least one weekday, each once."
            if zone not in _ZONES:
                return "A time zone is named as in the IANA database: Europe/Berlin, America/New_York, UTC."
            if not all(map(_is_time, (schedule.starts, schedule.ends))):
                return (
                    "Hours start and end at a time like 20:00; past midnight where they end no later than they start."
                )
        case Occasion():
            try:
                start, end = schedule.span()
                is_right = start.tzinfo is not None and end.tzinfo is not None and start < end
            except ValueError:
                is_right = False
            if not is_right:
                return "An event starts before it ends, and both are moments with their time zone."
            if end <= moment:
                return "This event is over before the plan holds: let it end later."
            if end > moment + policies.FURTHEST:
                return f"An event ends no more than {policies.FURTHEST.days} days ahead."
    return ""


_ZONES: Final = frozenset(available_timezones() - {"localtime", "Factory", "posixrules"})


def _is_time(text: str) -> bool:
    try:
        return f"{time.fromisoformat(text):%H:%M}" == text
    except ValueError:
        return False


def _value_faults(values: Values) -> Faults:
    if not values:
        return {"values": "Set one limit at least; those that are left empty are left to the layers below."}
    wrong: Faults = {}
    for name, value in values.items():
        if name in AMOUNTS and isinstance(value, int):
            if not 0 < value <= MOST_CENTS:
                wrong[name] = f"The {AMOUNTS[name]} is more than 0 and at most {money(MOST_CENTS)}."
        elif name.startswith(WAGER) and isinstance(value, tuple):
            if not 0 < value[0] <= value[1] <= MOST_CENTS:
                wrong[name] = f"The limits of {called(name)} are two amounts, the lower one first: 5.00 to 100.00."
        else:
            wrong[name] = f"There is no limit {name!r}; there is {', '.join(AMOUNTS)}, and wager NAME with two amounts."
    least, most = values.get("min_cents"), values.get("max_cents")
    if not wrong and isinstance(least, int) and isinstance(most, int) and least > most:
        wrong["max_cents"] = f"The maximum is under the minimum of {money(least)}."
    return wrong


def _of_fault(event: LimitPlanSet) -> str:
    if event.retired:
        return ""
    match event.scope:
        case "game" if event.of not in GAMES:
            return f"There is no game {event.of!r}; there is {', '.join(GAMES)}."
        case "pit" if not PitSection.objects.filter(pit=event.of).exists():
            return f"There is no pit {event.of}: set which tables stand in it first, or check its name."
        case "table" if not Table.objects.in_use().filter(name=event.of).exists():
            return f"There is no table {event.of}, or it is retired."
    if event.scope == "game" and (strange := _strange_wagers(event.values, event.of)):
        return f"{GAMES[event.of].title} has no wager {strange[0]} with limits of its own."
    return ""


def _strange_wagers(values: Values, game: str) -> list[str]:
    """Wagers that neither the game has nor any of its tables, which may state their own."""
    named = {name.removeprefix(WAGER) for name in values if name.startswith(WAGER)}
    strange = named - set(GAMES[game].limited_wagers({}))
    if strange:
        for options in Table.objects.in_use().filter(game=game).values_list("options", flat=True):
            strange -= set(GAMES[game].limited_wagers(options))
    return sorted(strange)


def _felt_faults(event: LimitPlanSet) -> Faults:
    """What the tables that it is for could not be set to, each by its name: limits are multiples of what a table's game
    counts in. It is judged upon what each table is set to itself."""
    wrong: Faults = {}
    plan, places = event.plan(0), pits.places()
    for table in Table.objects.in_use().order_by("name"):
        settings = settings_of_row(table)
        facts = facts_of(settings, table.name, places.get(table.name, NOWHERE).pit)
        if not facts.concern(plan):
            continue
        due = dict(facts.own) | {name: value for name, value in event.values.items() if facts.have(name)}
        sentences = table_settings.limit_faults(replace(settings, **in_settings(due)))
        for name, sentence in sentences.items():
            wrong.setdefault(name if name in event.values else "values", f"{table.name}: {sentence}")
    return wrong


def entry_fault(event: LimitPlanSet, entry: Entry) -> str:
    """Why the house would not have written such an entry; empty where it would. How tables were set then, their own
    books say: whether a limit fits them is asked where it is brought into force."""
    before = LimitPlan.objects.filter(name=event.name, seq__lt=entry.seq).count()
    if event.version != before + 1:
        return f"version {event.version} of {event.name} does not follow version {before}"
    if event.scope not in SCOPES or entry.at is None:
        return "it is for nothing that there is, or of no time"
    return " ".join(_form_faults(event, entry.at.astimezone(UTC)).values())
