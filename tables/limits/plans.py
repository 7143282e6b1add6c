"""The service that sets limit plans: judges a version, refuses what is wrong, and appends its entry and row.

A program sets one by ``set_plan(LimitPlanSet(...), expected_version=0, by=operator)``; the version is filled in, and
so is the moment where it is empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, time
from typing import Any, Final
from zoneinfo import available_timezones

import msgspec
from django.db import transaction
from django.utils import timezone
from msgspec import structs

from ledger import site_log
from ledger.proof.chain import Entry
from ledger.proof.chips import money
from tables.games.catalog import GAMES
from tables.games.protocol import MOST_CENTS
from tables.limits import resolver
from tables.log import dual_control, moments
from tables.log.entries.limit_plans import LimitPlanSet
from tables.log.limit_plans import (
    AMOUNTS,
    LONGEST,
    SCOPES,
    WAGER,
    Always,
    Facts,
    Hours,
    Layer,
    Occasion,
    Schedule,
    Stack,
    Values,
    by_name,
    called,
    in_settings,
    limits_of,
    place_of,
    stack_at,
)
from tables.log.message import text_of
from tables.log.terms import Settings
from tables.models import LimitPlan, PitSection, Staff, Table
from tables.projections.site_rows import LIMIT_PLANS
from tables.refusals import Faults, Refused, refuse_faults
from tables.setup import pits, policies, table_settings
from tables.setup.dual_control import ApprovalHandler, ApprovedProposal, ProposalDraft, handles, refuse_alone
from tables.setup.pits import NOWHERE

LONGEST_NOTE: Final = 200


# --- Setting -----------------------------------------------------------------------------------------------------


def set_plan(event: LimitPlanSet, *, expected_version: int, by: Staff, proposal: int | None = None) -> LimitPlan:
    """Set the next version of a plan. ``expected_version``: the newest one that the author has seen, 0 for none.

    Raises Refused: ``changed_meanwhile`` with what was set since, ``misfits`` with the tables that it does not fit.
    """
    by.require("tables.add_limitplan", "Only an operator sets limit plans.")
    return write(event, expected_version=expected_version, by=by, proposal=proposal)


def write(event: LimitPlanSet, *, expected_version: int, by: Staff, proposal: int | None = None) -> LimitPlan:
    """Set the next version of a plan; the caller has checked the permission. Raises Refused."""
    with transaction.atomic():
        head = site_log.lock()
        refuse_changed(event.name, expected_version)
        event = structs.replace(event, version=expected_version + 1, proposal=proposal, effective_maxima=True)
        event = _dated(event, head.moment)
        _refuse_faults(event, head.moment)
        terms = policies.as_entered(head.moment)
        refuse_alone(_matter(event, terms, head.moment), terms, proposal)
        return LIMIT_PLANS.append(head, event, by.signature)


def retirement(name: str) -> LimitPlanSet:
    """The version that ends a plan. Raises Refused."""
    newest = LimitPlan.objects.versions(name).first()
    if newest is None or newest.retired:
        raise Refused("no_plan", f"There is no plan {name}, or it is retired already.", 404)
    return structs.replace(LIMIT_PLANS.event_of(newest), values={}, retired=True, effective="", note="", proposal=None)


def _refuse_faults(event: LimitPlanSet, moment: datetime) -> None:
    """Raises Refused with every sentence, unless there is none; and with the tables that the limits do not fit."""
    refuse_faults("bad_plan", _own_faults(event, moment))
    unconfirmed = _unconfirmed(event)
    if not unconfirmed:
        return
    fields, tables = _by_limit(event, unconfirmed), {table.name for table, _ in tables_of(event)}
    if event.scope == "table" or tables == {*unconfirmed, *event.excluded}:
        raise Refused("bad_plan", " ".join(fields.values()), 422, fields=fields)
    named = [{"table": table, "reason": " ".join(wrong.values())} for table, wrong in unconfirmed.items()]
    sentence = f"The plan does not fit {len(named)} of {len(tables)} tables. "
    sentence += " ".join(f"{misfit['table']}: {misfit['reason']}" for misfit in named)
    sentence += " Confirm that it does not apply there, or change its limits."
    raise Refused("misfits", sentence, 422, fields=fields, misfits=named)


def refuse_changed(name: str, expected_version: int) -> None:
    """Raises Refused if another version was set meanwhile, with the differences."""
    newest = LimitPlan.objects.versions(name).first()
    version, facts = newest.version if newest else 0, dict[str, Any]()
    if version == expected_version:
        return
    if newest is None:
        sentence = f"There is no version {expected_version} of {name}."
    elif not expected_version:
        sentence = f"There is a plan {name} already: change that one, or give yours another name."
        facts = {"fields": {"name": sentence}}
    else:
        before = LimitPlan.objects.versions(name).filter(version=expected_version).first()
        changed = f": {'; '.join(_differences(before, newest))}" if before else ""
        sentence = f"{newest.by} set version {version} of {name} meanwhile{changed}."
        sentence += " What you typed is still here: look at theirs, then save yours upon it, or leave it."
    raise Refused("changed_meanwhile", sentence, 409, version=version, **facts)


def _differences(before: LimitPlan, after: LimitPlan) -> list[str]:
    """The differences of two versions, as texts."""
    earlier, later = _in_words(LIMIT_PLANS.event_of(before)), _in_words(LIMIT_PLANS.event_of(after))
    return [f"{name} {earlier[name]} → {later[name]}" for name in later if earlier[name] != later[name]]


def _in_words(event: LimitPlanSet) -> dict[str, str]:
    return {
        "for": text_of(place_of(event.scope, event.of, event.tables)),
        "not at": ", ".join(event.excluded) or "-",
        "when": text_of(event.schedule.description()),
        "limits": text_of(limits_of(dict(sorted(event.values.items())))) or "none",
        "why": event.note or "-",
        "holds with the next": event.takes,
        "seats that play keep the old minimum": "yes" if event.keeps_seated else "no",
        "retired": "yes" if event.retired else "no",
        "holds from": event.effective[:16].replace("T", " "),
    }


# --- By two people -----------------------------------------------------------------------------------------------


def draft_of(event: LimitPlanSet, *, expected_version: int) -> ProposalDraft | None:
    """The proposal of a version under dual control; None if one person may set it. Raises Refused."""
    moment = timezone.now()
    refuse_changed(event.name, expected_version)
    _refuse_faults(event, moment)
    matter = _matter(event, policies.as_entered(moment), moment)
    return proposed(event, expected_version=expected_version) if matter else None


def _matter(event: LimitPlanSet, terms: dual_control.Values, moment: datetime) -> str | None:
    """The subject of dual control under which a version falls; None if one person may set it."""
    before = LimitPlan.objects.versions(event.name).first()
    return dual_control.of_plan(content_of(before), content(event), terms, lambda: beneath(before, moment))


def beneath(
    row: LimitPlan | None,
    moment: datetime,
    settings: Mapping[str, Settings] | None = None,
    *,
    through_seq: int | None = None,
    formerly: bool = False,
) -> dict[str, int]:
    """For each maximum of a version, the highest one in the layers below it: other plans, whenever they apply, and the
    tables themselves. Empty for an event that is over. ``settings`` and ``through_seq``: tables and plans as of an
    entry of the site's log; by default as they are now. ``formerly``: by the rule of releases up to 0.9.0, which left
    out what applies outside the hours of other plans."""
    if row is None or (plan := resolver.plan_of(row)).is_over(moment):
        return {}
    if settings is None:
        tables = Table.objects.in_use()
        settings = {table.name: resolver.settings_of_row(table) for table in tables}
    # Events that are over count too, as they did when earlier releases judged the entries that are verified.
    rows = LimitPlan.objects.through(through_seq).relevant(moment).exclude(name=plan.name)
    other_plans = by_name(map(resolver.plan_of, rows))
    places, highest = pits.places(through_seq), dict.fromkeys(plan.values, 0)
    for table, set_to in settings.items():
        facts = resolver.facts_of(set_to, table, places.get(table, NOWHERE).pit)
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


def proposed(event: LimitPlanSet, *, expected_version: int) -> ProposalDraft:
    """The proposal of a version, under dual control or not."""
    before = content_of(LimitPlan.objects.versions(event.name).first()) or {"version": 0}
    after = content(event) | {"version": expected_version + 1}
    effective = datetime.fromisoformat(event.effective) if event.effective else None
    return ProposalDraft(dual_control.PLAN, event.name, before, after, effective)


def content_of(row: LimitPlan | None) -> dict[str, Any]:
    """The content of a version in the form of proposals; empty without a version."""
    return content(LIMIT_PLANS.event_of(row)) if row else {}


def content(event: LimitPlanSet) -> dict[str, Any]:
    """A version without its time and its approval."""
    # Stored proposals from before plans had lists of tables are compared with this: an empty list is left out.
    names = ("version", "scope", "of", "note", "takes", "keeps_seated", "retired", "schedule", "values")
    lists = [name for name in ("tables", "excluded") if getattr(event, name)]
    return {name: msgspec.to_builtins(getattr(event, name)) for name in (*names, *lists)}


def _present_values(proposals: Sequence[ApprovedProposal]) -> list[Mapping[str, Any]]:
    rows = LimitPlan.objects.filter(name__in=[proposal.about for proposal in proposals])
    plans = {row.name: row for row in rows.order_by("name", "-version").distinct("name")}
    return [content_of(plans.get(proposal.about)) or {"version": 0} for proposal in proposals]


def _of_tables(proposal: ApprovedProposal) -> list[str]:
    """The tables of a plan for a pit or for tables, those of the version before it included."""
    sides = (proposal.before, proposal.after)
    of_pits = {side.get("of") for side in sides if side.get("scope") == "pit"}
    tables = [table for row in pits.sections() if row.pit in of_pits for table in row.tables]
    return tables + [
        name for side in sides if side.get("scope") == "table" for name in side.get("tables") or [side["of"]]
    ]


def event_of(proposal: ApprovedProposal, effective: str = "") -> LimitPlanSet:
    """The version that a proposal would set."""
    return msgspec.convert(proposal.after | {"name": proposal.about, "effective": effective}, LimitPlanSet)


def _apply(proposal: ApprovedProposal, by: Staff) -> None:
    is_early = proposal.effective and proposal.effective > site_log.lock().moment
    event = event_of(proposal, policies.spelled(proposal.effective) if is_early else "")
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
    """The faults of a plan that is set at a moment, by field; of its limits also by the tables that they do not fit."""
    return _own_faults(event, moment) or _by_limit(event, _unconfirmed(event))


def misfits(event: LimitPlanSet) -> dict[str, Faults]:
    """The tables of a plan's place that its limits do not fit, excluded ones too, with the faults by field: limits are
    multiples of what the game of a table counts in. They are judged together with what a table is set to itself."""
    wrong: dict[str, Faults] = {}
    for table, facts in () if event.retired else tables_of(event):
        due = dict(facts.own) | {name: value for name, value in event.values.items() if facts.have(name)}
        settings = replace(resolver.settings_of_row(table), **in_settings(due))
        if sentences := table_settings.limit_faults(settings):
            wrong[facts.table] = sentences
    return wrong


def _unconfirmed(event: LimitPlanSet) -> dict[str, Faults]:
    return {table: wrong for table, wrong in misfits(event).items() if table not in event.excluded}


def _by_limit(event: LimitPlanSet, wrong: Mapping[str, Faults]) -> Faults:
    """The first misfit of each limit of a plan."""
    fields: Faults = {}
    for table, sentences in wrong.items():
        for name, sentence in sentences.items():
            fields.setdefault(name if name in event.values else "values", f"{table}: {sentence}")
    return fields


def tables_of(event: LimitPlanSet) -> Iterator[tuple[Table, Facts]]:
    """The tables of a plan's place in the order of their names, excluded ones too."""
    plan, places = _dated(event, timezone.now()).plan(0), pits.places()
    for table in sorted(Table.objects.in_use(), key=lambda table: pits.natural(table.name)):
        facts = resolver.facts_at(table, places)
        if facts.are_of(plan):
            yield table, facts


def _own_faults(event: LimitPlanSet, moment: datetime) -> Faults:
    """The faults of a plan apart from its limits at tables."""
    wrong = _form_faults(_dated(event, moment), moment)
    if event.retired:
        return wrong
    span = event.schedule.span() if isinstance(event.schedule, Occasion) and "schedule" not in wrong else ()
    if not all(map(moments.is_possible, span)):
        wrong["schedule"] = f"An event starts and ends at a moment {moments.YEARS}."
    if not wrong.keys() & {"of", "tables", "excluded"}:
        wrong |= _place_faults(event)
    return wrong


def _dated(event: LimitPlanSet, moment: datetime) -> LimitPlanSet:
    """A version with its effective time, which is now if it has none."""
    return structs.replace(event, effective=event.effective or policies.spelled(moment))


def _form_faults(event: LimitPlanSet, moment: datetime) -> Faults:
    wrong: Faults = {}
    if not event.name.strip() or event.name != event.name.strip() or not event.name.isprintable():
        wrong["name"] = "A plan has a name, without a space before or after it: Weekend nights."
    elif len(event.name) > LONGEST:
        wrong["name"] = f"A plan's name has at most {LONGEST} characters."
    if len(event.note) > LONGEST_NOTE or not event.note.isprintable():
        wrong["note"] = f"Say why in at most {LONGEST_NOTE} plain characters, on one line."
    if event.tables and (event.scope != "table" or event.of or len(set(event.tables)) < len(event.tables)):
        wrong["tables"] = "Only a plan for tables lists several: each once, and no further place."
    elif not event.tables and (event.scope == "house") != (not event.of):
        wrong["of"] = "Name the game, pit or table that it is for; for the whole house name none."
    if event.excluded and (event.scope == "table" or len(set(event.excluded)) < len(event.excluded)):
        wrong["excluded"] = (
            "A plan for the site, a game or a pit excludes tables, each once. Leave others out of its list."
        )
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


def _place_faults(event: LimitPlanSet) -> Faults:
    """The faults of the place that a plan is for, as the site is now."""
    match event.scope:
        case "game" if event.of not in GAMES:
            return {"of": f"There is no game {event.of!r}; there is {', '.join(GAMES)}."}
        case "game" if strange := _strange_wagers(event.values, event.of):
            return {"of": f"{GAMES[event.of].title} has no wager {strange[0]} with limits of its own."}
        case "pit" if not PitSection.objects.filter(pit=event.of).exists():
            return {"of": f"There is no pit {event.of}: set which tables stand in it first, or check its name."}
    tables = {table.name for table, _ in tables_of(event)}
    if event.scope == "table" and (missing := sorted({*(event.tables or (event.of,))} - tables)):
        return {"tables" if event.tables else "of": f"There is no table {missing[0]}, or it is retired."}
    if strangers := sorted(set(event.excluded) - tables):
        return {"excluded": f"{strangers[0]} is not one of its tables."}
    if event.excluded and len(event.excluded) == len(tables):
        return {"excluded": "It excludes all of its tables: change its limits, or do not set it."}
    return {}


def _strange_wagers(values: Values, game: str) -> list[str]:
    """Wagers that neither the game has nor any of its tables, which may state their own."""
    named = {name.removeprefix(WAGER) for name in values if name.startswith(WAGER)}
    strange = named - set(GAMES[game].limited_wagers({}))
    if strange:
        for options in Table.objects.in_use().filter(game=game).values_list("options", flat=True):
            strange -= set(GAMES[game].limited_wagers(options))
    return sorted(strange)


def entry_fault(event: LimitPlanSet, entry: Entry) -> str:
    """The fault of an entry; empty if it is valid. The site's log does not have the settings of tables, which decide
    whether limits fit: the check of each table's log covers that, and the entry names the tables that it excludes."""
    before = LimitPlan.objects.filter(name=event.name, seq__lt=entry.seq).count()
    if event.version != before + 1:
        return f"version {event.version} of {event.name} does not follow version {before}"
    if event.scope not in SCOPES or entry.at is None:
        return "it is for nothing that there is, or of no time"
    return " ".join(_form_faults(event, entry.at.astimezone(UTC)).values())
