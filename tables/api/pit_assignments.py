"""Pit assignments over the API: permanent ones (posts), and pits that are taken over for a limited time."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from rest_framework.response import Response

from tables.api import repeats
from tables.api.operations import Call, Write, operation
from tables.api.settings import ProposalForm, decided, proposal_form
from tables.api.views import FloorViewSet
from tables.approvals import proposals
from tables.log.moments import Moment
from tables.models import PitCover, Post
from tables.setup import pit_assignments, pits
from tables.setup.pit_assignments import LONGEST_REASON, SETS, AssignmentChange, Runner

PitName = Annotated[str, Meta(min_length=1, max_length=pits.LONGEST)]


class CoverForm(msgspec.Struct, frozen=True):
    """A pit that was taken over."""

    pit: str
    until: datetime
    reason: str


class RunnerForm(msgspec.Struct, frozen=True):
    """A person who runs the floor, and the pits that they run."""

    username: str
    name: str
    whole_floor: bool
    """True if they run every pit now, by a post or because they have none."""
    pits: list[str]
    """Those of the post, and those that they cover."""
    covers: list[CoverForm]
    entry: int
    """The entry of the house's book by which the post that holds was set; 0 without one."""


class PostsForm(msgspec.Struct, frozen=True):
    """Who runs which pit now."""

    runners: list[RunnerForm]


class PostWanted(Write, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who is to run which pits."""

    username: Annotated[str, Meta(min_length=1, max_length=40)]
    pits: Annotated[list[PitName], Meta(max_length=100)] = []
    whole_floor: bool = False
    """Neither a pit nor the whole floor: the post ends."""
    effective: Moment | None = None
    """From when on; null for at once."""
    comment: Annotated[str, Meta(max_length=300)] = ""
    """For the second person, where it takes one."""


class PostForm(msgspec.Struct, frozen=True):
    """A post as it was set."""

    username: str
    pits: list[str]
    whole_floor: bool
    effective: datetime | None
    """Null where nothing was changed: they run just that."""
    entry: int
    """0 where nothing was changed."""


class CoverTaken(Write, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which pit to take over, until when and why."""

    pit: PitName
    until: Moment
    """Twelve hours from now at most."""
    reason: Annotated[str, Meta(min_length=1, max_length=LONGEST_REASON)]


class CoverEnded(Write, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which pit to give back."""

    pit: PitName


class Posts(FloorViewSet):
    """The permanent assignment of pits."""

    @operation("list_posts", "Who runs which pit.", tag="Pits", answers=PostsForm, may=("tables.watch_floor",))
    def list(self, call: Call[Any, Any]) -> PostsForm:
        """Everybody who runs the floor, by name, as it is now."""
        return PostsForm([_runner_form(runner) for runner in pit_assignments.everyone()])

    @operation(
        "set_post",
        "Say which pits somebody runs.",
        tag="Pits",
        body=PostWanted,
        answers=PostForm,
        accepts=ProposalForm,
        may=(SETS,),
    )
    def set_post(self, call: Call[Any, PostWanted]) -> dict[str, Any] | Response:
        """It takes the place of the person's post. What takes two people in this house is proposed instead, and
        answered 202 with the proposal: assigning more to a person does where access does."""
        body = call.body
        change = AssignmentChange(body.username, tuple(body.pits), body.whole_floor)

        def act() -> PostForm | ProposalForm:
            draft = pit_assignments.draft(change, body.effective)
            if draft is not None:
                return proposal_form(proposals.propose(draft, body.comment, by=call.by))
            return _post_form(change, pit_assignments.set_post(change, effective=body.effective, by=call.by))

        return decided(call, act)


class Covers(FloorViewSet):
    """Pits that are taken over for a limited time."""

    @operation(
        "take_over_pit", "Take a pit over.", tag="Pits", body=CoverTaken, answers=CoverForm, may=("tables.run_floor",)
    )
    def take_over(self, call: Call[Any, CoverTaken]) -> CoverForm:
        """At once, until the moment that is named. It stands in the day's exceptions with the reason."""
        body = call.body
        return repeats.once(
            call,
            lambda: _cover_form(pit_assignments.take_over(body.pit, body.until, body.reason, by=call.by)),
            CoverForm,
        )

    @operation(
        "give_back_pit", "Give a pit back.", tag="Pits", body=CoverEnded, answers=CoverForm, may=("tables.run_floor",)
    )
    def give_back(self, call: Call[Any, CoverEnded]) -> CoverForm:
        """Before the time is over."""
        return repeats.once(call, lambda: _cover_form(pit_assignments.give_back(call.body.pit, by=call.by)), CoverForm)


def _runner_form(runner: Runner) -> RunnerForm:
    return RunnerForm(
        username=runner.person.username,
        name=runner.person.name,
        whole_floor=runner.duty.whole_floor,
        pits=sorted(runner.duty.pits, key=pits.natural),
        covers=[CoverForm(pit, until, reason) for pit, (until, reason) in runner.covers.items()],
        entry=runner.post.seq if runner.post else 0,
    )


def _post_form(change: AssignmentChange, row: Post | None) -> PostForm:
    moment, entry = (row.effective, row.seq) if row else (None, 0)
    return PostForm(change.username, list(change.pits), change.whole_floor, moment, entry)


def _cover_form(row: PitCover) -> CoverForm:
    return CoverForm(row.pit, row.until, row.reason)
