"""What tables are set to, over the API: settings, limits with their reasons, plans, and proposals of two people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from hashlib import sha256
from typing import Annotated, Any, Final, Literal

import msgspec
from django.utils import timezone
from msgspec import UNSET, Meta, UnsetType
from rest_framework.response import Response

from ledger.proof.spelling import canonical
from tables.api import repeats
from tables.api.forms import form_of
from tables.api.operations import Address, Call, Write, operation
from tables.api.pagination import Page, PageQuery
from tables.api.views import FloorViewSet, reach, table_of
from tables.approvals import proposals
from tables.limits import plans, resolver
from tables.limits.resolver import TableLimits
from tables.log import dual_control
from tables.log.entries.limit_plans import LimitPlanSet
from tables.log.limit_plans import LIMIT_SETTINGS, NextChange, Schedule, Takes, Values
from tables.log.moments import Moment
from tables.models import LimitPlan, Proposal, Staff, Table
from tables.projections.site_rows import LIMIT_PLANS
from tables.refusals import Refused
from tables.setup import policies, table_settings

Cents = Annotated[int, Meta(ge=0, le=10**12)]
Reason = Annotated[str, Meta(max_length=500)]
TableNames = Annotated[tuple[Annotated[str, Meta(max_length=80)], ...], Meta(max_length=1_000)]
Limits = dict[str, int | tuple[int, int]]
"""By name; of `wager NAME`, the least and the most."""


class SettingsForm(msgspec.Struct, frozen=True):
    """Everything that is set about a table, and the version that a change of it names."""

    table: int
    name: str
    version: str
    game: str
    options: dict[str, Any]
    seats: int
    source: str
    unit_cents: int
    min_cents: int
    max_cents: int
    bet_step_cents: int | None
    """Bets are multiples of it; null: as the game asks."""
    cap_cents: int | None
    seat_max_cents: int | None
    wager_limits: dict[str, tuple[int, int]]
    denominations: list[int]
    rake_permille: int
    rake_cap_cents: int | None
    time_charge_cents: int
    marks_commission: bool


class Changes(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What is to be otherwise; what is left out stays."""

    min_cents: Cents | UnsetType = UNSET
    max_cents: Cents | UnsetType = UNSET
    bet_step_cents: Cents | UnsetType | None = UNSET
    cap_cents: Cents | UnsetType | None = UNSET
    seat_max_cents: Cents | UnsetType | None = UNSET
    wager_limits: dict[str, tuple[Cents, Cents]] | UnsetType = UNSET
    options: dict[str, Any] | UnsetType = UNSET
    """Options of the game, its penetration among them: those that are to be otherwise. Null: as the game has it."""
    source: Annotated[str, Meta(max_length=16)] | UnsetType = UNSET
    """Where the cards come from."""
    seats: Annotated[int, Meta(ge=0, le=100)] | UnsetType = UNSET
    rake_permille: Annotated[int, Meta(ge=0, le=1_000)] | UnsetType = UNSET
    rake_cap_cents: Cents | UnsetType | None = UNSET
    time_charge_cents: Cents | UnsetType = UNSET
    marks_commission: bool | UnsetType = UNSET


class SettingsChanged(Write, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Other settings of a table, upon the version that they were read as."""

    expected: Annotated[str, Meta(max_length=64)]
    changes: Changes
    takes: Literal["round", "shoe"] = "round"
    """From when they hold. With the next shoe only options and the source do, and a second person approves them."""
    comment: Annotated[str, Meta(max_length=500)] = ""
    """For the person who approves it, where it takes two people."""


class SettingsProposed(SettingsChanged, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A proposal of other settings of a table, with a comment for the person who approves it."""

    comment: Annotated[str, Meta(min_length=1, max_length=500)]
    effective: Moment | None = None
    """From when it holds; null: from when it is approved."""


class ChangeForm(msgspec.Struct, frozen=True):
    """One setting of a proposal, in words."""

    name: str
    before: str
    after: str


class ProposalForm(msgspec.Struct, frozen=True):
    """A proposal and its outcome."""

    number: int
    matter: str
    about: str
    title: str
    before: dict[str, Any]
    after: dict[str, Any]
    changes: list[ChangeForm]
    comment: str
    effective: datetime | None
    expires: datetime
    proposed_by: str
    proposed_at: datetime
    status: str
    outcome: str | None
    """`approved`, `decided` (by its author, where it takes one person), `declined`, `withdrawn` or `expired`;
    null while it waits."""
    stale: str
    """What was changed meanwhile, so that it cannot be approved; empty if nothing was."""


class ProposalsQuery(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Query parameters of the list of proposals."""

    state: Literal["waiting", "all"] = "waiting"
    about: Annotated[str, Meta(max_length=80)] = ""
    """The name of a table, or of whatever else it is about."""


class Approval(Write, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The second person approves it."""


class Ending(Write, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why a proposal is declined or withdrawn."""

    reason: Reason


class LayerForm(msgspec.Struct, frozen=True):
    """Where a limit comes from."""

    limit: str
    value: int | tuple[int, int]
    why: str


class LimitsForm(msgspec.Struct, frozen=True):
    """The limits of a table now, why, and what changes next."""

    table: int
    name: str
    in_force: Limits
    """What the next round is opened under."""
    planned: Limits
    """What the plans say now."""
    waits: list[str]
    """The limits that do not hold yet as the plans say: for the end of a notice, or for a shoe."""
    layers: list[LayerForm]
    next_at: datetime | None
    next_limits: Limits
    """What is otherwise then."""


class PlanForm(msgspec.Struct, frozen=True):
    """A version of a limit plan."""

    name: str
    version: int
    seq: int
    scope: str
    of: str
    schedule: Schedule
    values: Values
    note: str
    takes: str
    keeps_seated: bool
    retired: bool
    effective: datetime
    by: str
    at: datetime
    tables: tuple[str, ...] = ()
    """The tables that it is for, if it is for several; `of` is then empty."""
    excluded: tuple[str, ...] = ()
    """The tables of its place at which it does not apply."""


class PlansQuery(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Query parameters of the list of limit plans."""

    name: Annotated[str, Meta(max_length=40)] = ""


class PlanSet(Write, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The next version of a limit plan, upon the one that was seen."""

    expected_version: Annotated[int, Meta(ge=0, le=2**31 - 1)]
    """0 for a new plan."""
    name: Annotated[str, Meta(max_length=40)]
    scope: Literal["house", "game", "pit", "table"]
    of: Annotated[str, Meta(max_length=80)] = ""
    schedule: Schedule
    values: Values
    note: Annotated[str, Meta(max_length=200)] = ""
    takes: Takes = "round"
    """`round` or `shoe`: the plan takes effect with the next one."""
    keeps_seated: bool = False
    """True if seats that play keep the old minimum."""
    retired: bool = False
    effective: Moment | None = None
    """From when it holds; null: at once."""
    comment: Annotated[str, Meta(max_length=500)] = ""
    """For the person who approves it, where it takes two people."""
    tables: TableNames = ()
    """Several tables, for the scope `table`; leave `of` empty then."""
    excluded: TableNames = ()
    """The tables of its place at which it shall not apply: those that a refusal with the code `misfits` lists."""

    @property
    def event(self) -> LimitPlanSet:
        """What the house's book is to say."""
        return LimitPlanSet(
            name=self.name,
            version=self.expected_version,
            scope=self.scope,
            of=self.of,
            schedule=self.schedule,
            values=dict(self.values),
            note=self.note,
            takes=self.takes,
            keeps_seated=self.keeps_seated,
            retired=self.retired,
            effective=policies.spelled(self.effective) if self.effective else "",
            tables=self.tables,
            excluded=self.excluded,
        )


class PlanProposed(PlanSet, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A proposal of the next version of a limit plan, with a comment for the person who approves it."""

    comment: Annotated[str, Meta(min_length=1, max_length=500)]


# --- Settings ----------------------------------------------------------------------------------------------------


class TableSettings(FloorViewSet):
    """The settings of a table."""

    @operation("read_settings", "What a table is set to.", tag="Limits", answers=SettingsForm, scope="read:limits")
    def retrieve(self, call: Call[Any, Any], pk: int) -> SettingsForm:
        """For callers that may see the table. `version` names just these settings."""
        table, _ = reach(call.caller, pk)
        return settings_form(table)

    @operation(
        "change_settings",
        "Change what a table is set to.",
        tag="Limits",
        body=SettingsChanged,
        answers=SettingsForm,
        accepts=ProposalForm,
        may=("tables.change_table",),
    )
    def change(self, call: Call[Any, SettingsChanged], pk: int) -> dict[str, Any] | Response:
        """Limits hold with the next round; what a round rests on waits for its end. What takes two people in this
        house is proposed instead, and what waits for the next shoe is decided: 202 with the proposal."""
        table = table_of(call.by, pk)

        def act() -> SettingsForm | ProposalForm:
            _refuse_changed(table, call.body.expected)
            changes = _changes(call.body, table)
            draft = table_settings.draft_of(table, changes, takes=call.body.takes)
            if draft is not None:
                return proposal_form(proposals.arrange(draft, call.body.comment, by=call.by))
            return settings_form(table_settings.change_table(table, changes, by=call.by))

        return decided(call, act)

    @operation(
        "propose_settings",
        "Propose other settings of a table.",
        tag="Limits",
        body=SettingsProposed,
        answers=ProposalForm,
        creates=lambda proposal: proposal_address(proposal.number),
        may=("tables.propose_limits",),
    )
    def propose(self, call: Call[Any, SettingsProposed], pk: int) -> ProposalForm:
        """They wait for a second person, who reads the comment. People who do not set up tables propose only limits."""
        table = table_of(call.by, pk)

        def act() -> ProposalForm:
            _refuse_changed(table, call.body.expected)
            changes = _changes(call.body, table)
            _refuse_more_than_limits(call.by, changes)
            for_shoe = call.body.takes == "shoe"
            draft_of = table_settings.draft_for_the_shoe if for_shoe else table_settings.draft_for_later
            draft = draft_of(table, changes)
            draft = replace(draft, effective=call.body.effective)
            return proposal_form(proposals.propose(draft, call.body.comment, by=call.by))

        return repeats.once(call, act, ProposalForm)


def settings_form(table: Table) -> SettingsForm:
    """The settings of a table, without those of the surveillance."""
    settings = table_settings.settings_of(table)
    return form_of(SettingsForm, settings, table=table.pk, name=table.name, version=_version(table))


def _version(table: Table) -> str:
    settings = msgspec.to_builtins(asdict(table_settings.settings_of(table)))
    return sha256(canonical(settings)).hexdigest()[:32]


def _refuse_changed(table: Table, expected: str) -> None:
    if (version := _version(table)) != expected:
        sentence = f"{table.name} was set otherwise since you read it: look at it again, then decide anew."
        raise Refused("changed_meanwhile", sentence, 409, version=version)


def _changes(body: SettingsChanged, table: Table) -> dict[str, Any]:
    named = {name: getattr(body.changes, name) for name in Changes.__struct_fields__}
    changes = {name: value for name, value in named.items() if value is not UNSET}
    if not changes:
        raise Refused("nothing_changes", "Name at least one setting that is to be otherwise.", 422)
    if "options" in changes:
        options = table_settings.settings_of(table).options | changes["options"]
        changes["options"] = {name: value for name, value in options.items() if value is not None}
        table_settings.refuse_options(table, changes["options"])
    return changes


def _refuse_more_than_limits(by: Staff, changes: Mapping[str, Any]) -> None:
    more = sorted(changes.keys() - set(LIMIT_SETTINGS))
    if more and not by.has_perm("tables.change_table"):
        raise Refused("not_permitted", f"An operator proposes that: {', '.join(more)}.", 403)


def decided(call: Call[Any, Any], act: Callable[[], msgspec.Struct]) -> dict[str, Any] | Response:
    """The answer to a change: the form that ``act`` returns, or 202 with a proposal if it needs a second person."""
    form = repeats.once(call, lambda: msgspec.to_builtins(act()), dict[str, Any])
    if "proposed_by" not in form:
        return form
    location = proposal_address(form["number"]).in_version(call.version)
    return Response(form, status=202, headers={"Location": location})


def proposal_address(number: int) -> Address:
    """Where a proposal is read."""
    return Address("proposal", {"number": number})


# --- Proposals ---------------------------------------------------------------------------------------------------


class Proposals(FloorViewSet):
    """Proposals that wait for a second person, and those that were decided."""

    @operation(
        "list_proposals",
        "Proposals.",
        tag="Limits",
        query=ProposalsQuery,
        answers=Page[ProposalForm],
        may=("tables.view_proposal", "tables.propose_limits"),
    )
    def list(self, call: Call[ProposalsQuery, Any]) -> Response:
        """The newest first. People who set up nothing see those of limits."""
        rows = Proposal.objects.select_related("end").order_by("-number")
        if not call.by.has_perm("tables.view_proposal"):
            rows = rows.filter(matter__in=_OF_THE_FLOOR)
        if call.query.state == "waiting":
            rows = rows.filter(end=None)
        if call.query.about:
            rows = rows.filter(about=call.query.about)
        return self.get_paginated_response(proposal_forms(self.paginator.paginate_queryset(rows)))

    @operation(
        "read_proposal",
        "One proposal.",
        tag="Limits",
        answers=ProposalForm,
        may=("tables.view_proposal", "tables.propose_limits"),
    )
    def retrieve(self, call: Call[Any, Any], number: int) -> ProposalForm:
        """With before and after."""
        return proposal_form(_proposal(call, number))

    @operation(
        "approve_proposal",
        "Approve a proposal.",
        tag="Limits",
        body=Approval,
        answers=ProposalForm,
        may=("tables.view_proposal",),
    )
    def approve(self, call: Call[Any, Approval], number: int) -> ProposalForm:
        """The second person stands for it, and it is done, or waits for its moment. Refused, it waits as before."""
        proposal = _proposal(call, number)
        return _end(call, proposal, lambda: proposals.approve(proposal, by=call.by))

    @operation(
        "decline_proposal",
        "Decline a proposal.",
        tag="Limits",
        body=Ending,
        answers=ProposalForm,
        may=("tables.view_proposal",),
    )
    def decline(self, call: Call[Any, Ending], number: int) -> ProposalForm:
        """The second person does not stand for it, and says why."""
        proposal = _proposal(call, number)
        return _end(call, proposal, lambda: proposals.decline(proposal, call.body.reason, by=call.by))

    @operation(
        "withdraw_proposal",
        "Withdraw a proposal.",
        tag="Limits",
        body=Ending,
        answers=ProposalForm,
        may=("tables.view_proposal", "tables.propose_limits"),
    )
    def withdraw(self, call: Call[Any, Ending], number: int) -> ProposalForm:
        """Who proposed it takes it back, and says why."""
        proposal = _proposal(call, number)
        return _end(call, proposal, lambda: proposals.withdraw(proposal, call.body.reason, by=call.by))


_OF_THE_FLOOR: Final = ("limits", dual_control.PLAN)
"""The matters that people of the floor propose."""


def _end(call: Call[Any, Any], proposal: Proposal, deed: Any) -> ProposalForm:
    def act() -> ProposalForm:
        deed()
        return proposal_form(Proposal.objects.select_related("end").get(pk=proposal.pk))

    return repeats.once(call, act, ProposalForm)


def _proposal(call: Call[Any, Any], number: int) -> Proposal:
    proposal = Proposal.objects.select_related("end").filter(number=number).first()
    may_see = proposal is not None and (call.by.has_perm("tables.view_proposal") or proposal.matter in _OF_THE_FLOOR)
    if proposal is None or not may_see:
        raise Refused("unknown_proposal", f"There is no proposal {number} that you may see.", 404)
    return proposal


def proposal_form(proposal: Proposal) -> ProposalForm:
    """A proposal with its end, if it has one."""
    return proposal_forms([proposal])[0]


def proposal_forms(rows: Sequence[Proposal]) -> list[ProposalForm]:
    """Proposals with their ends. The state that they are compared with is read once."""
    statuses = proposals.statuses(rows)
    stale = proposals.stale_all(row for row in rows if not hasattr(row, "end"))
    return [_proposal_form(row, statuses[row.number], stale.get(row.number, "")) for row in rows]


def _proposal_form(proposal: Proposal, status: str, stale: str) -> ProposalForm:
    end = getattr(proposal, "end", None)
    return form_of(
        ProposalForm,
        proposal,
        title=proposals.title_of_proposal(proposal),
        changes=[ChangeForm(*change) for change in proposals.changes(proposal)],
        proposed_by=proposal.by,
        proposed_at=proposal.at,
        status=status,
        outcome=end.outcome if end else None,
        stale=stale,
    )


# --- Limits and plans --------------------------------------------------------------------------------------------


class TableLimitsNow(FloorViewSet):
    """The limits of a table, and why."""

    @operation("read_limits", "The limits of a table, and why.", tag="Limits", answers=LimitsForm, scope="read:limits")
    def retrieve(self, call: Call[Any, Any], pk: int) -> LimitsForm:
        """What the next round is opened under, what the plans say, and the next change."""
        table, _ = reach(call.caller, pk)
        return limits_form(table, resolver.at_tables([table], timezone.now())[table.name])


class LimitPlans(FloorViewSet):
    """Limit plans, version by version."""

    @operation(
        "list_limit_plans",
        "Limit plans, version by version.",
        tag="Limits",
        query=PlansQuery,
        answers=Page[PlanForm],
        may=("tables.watch_floor",),
        scope="read:limits",
    )
    def list(self, call: Call[PlansQuery, Any]) -> Response:
        """Those that were set last come first; of one plan, if it is named."""
        rows = LimitPlan.objects.order_by("-seq")
        if call.query.name:
            rows = rows.filter(name=call.query.name)
        return self.get_paginated_response([plan_form(row) for row in self.paginator.paginate_queryset(rows)])

    @operation(
        "set_limit_plan",
        "Set the next version of a limit plan.",
        tag="Limits",
        body=PlanSet,
        answers=PlanForm,
        creates=lambda plan: Address("limit-plans", query={"name": plan["name"]}),
        accepts=ProposalForm,
        may=("tables.add_limitplan",),
    )
    def set_plan(self, call: Call[Any, PlanSet]) -> dict[str, Any] | Response:
        """A plan is never changed: this is its next version. Was another set meanwhile, it is refused
        (`changed_meanwhile`) and says by whom. What takes two people in this house, a retirement among it, is proposed
        instead, and answered 202 with the proposal."""
        event, version = call.body.event, call.body.expected_version

        def act() -> PlanForm | ProposalForm:
            draft = plans.draft_of(event, expected_version=version)
            if draft is not None:
                return proposal_form(proposals.propose(draft, call.body.comment, by=call.by))
            return plan_form(plans.set_plan(event, expected_version=version, by=call.by))

        return decided(call, act)

    @operation(
        "propose_limit_plan",
        "Propose the next version of a limit plan.",
        tag="Limits",
        body=PlanProposed,
        answers=ProposalForm,
        creates=lambda proposal: proposal_address(proposal.number),
        may=("tables.propose_limits", "tables.add_limitplan"),
    )
    def propose(self, call: Call[Any, PlanProposed]) -> ProposalForm:
        """It waits for a second person, who reads the comment."""

        def act() -> ProposalForm:
            event, version = call.body.event, call.body.expected_version
            draft = plans.draft_of(event, expected_version=version)  # which judges it, too
            draft = draft or plans.proposed(event, expected_version=version)
            return proposal_form(proposals.propose(draft, call.body.comment, by=call.by))

        return repeats.once(call, act, ProposalForm)


def limits_form(table: Table, limits: TableLimits) -> LimitsForm:
    """The limits of a table by its plans."""
    outcome = limits.outcome
    return LimitsForm(
        table=table.pk,
        name=table.name,
        in_force=dict(limits.set_to),
        planned=dict(outcome.values),
        waits=list(limits.differs),
        layers=[LayerForm(name, outcome.values[name], layer.why) for name, layer in sorted(outcome.layers.items())],
        next_at=outcome.next.moment if outcome.next else None,
        next_limits=_otherwise(outcome.next),
    )


def _otherwise(change: NextChange | None) -> Limits:
    """The limits that are others after a change; those that are gone then are left out."""
    if change is None:
        return {}
    return {name: change.layers[name].value for name in change.changed if name in change.layers}


def plan_form(row: LimitPlan) -> PlanForm:
    """A version of a limit plan."""
    event = LIMIT_PLANS.event_of(row)
    return form_of(PlanForm, event, seq=row.seq, effective=row.effective, by=row.by, at=row.at)
