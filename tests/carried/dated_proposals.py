"""What two people approve for a moment to come: it comes into force, is called off, and lapses; and limit plans and
programs that take two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from django.utils import timezone

from tables.approvals import proposals
from tables.models import Proposal, Staff, Table
from tables.setup import policies, role_choices, table_settings
from tests.carried import limit_plans, programs


def approved_for_later(table: Table, operator: Staff, second: Staff, later: Callable[..., None]) -> None:
    """The house is open for a while: limits that hold later, and choices about roles that are taken back again."""
    policies.change({"two_people": True}, by=operator)
    policies.forget()
    before = table_settings.settings_of(table)
    _limit(table, before.max_cents * 2, operator, second)
    later(minutes=6)
    assert proposals.bring_into_force() == 1

    dropped = _limit(table, before.max_cents * 3, operator, second)
    off = proposals.propose(proposals.draft_of_calling_off(dropped), "The guest left", by=second)
    proposals.approve(off, by=operator)

    _limit(table, before.max_cents * 3, operator, second)
    table_settings.change_table(table, {"max_cents": before.max_cents}, by=operator)
    later(minutes=6)
    assert proposals.bring_into_force() == 1

    limit_plans.by_two(table, operator, second)
    programs.by_two(operator, second)
    _with_the_next_shoe(table, operator, second)
    for values in ({"signers_struck": ("imprest.issued-pit_boss",)}, {"signers_struck": ()}, {"two_people": False}):
        _chosen(values, operator, second)


def _with_the_next_shoe(table: Table, operator: Staff, second: Staff) -> None:
    """Eight decks, once the shoe that lies there is over; others are called off, by two people and by one."""
    for decks in (7, 8):
        table.refresh_from_db()
        draft = table_settings.draft_for_the_shoe(table, {"options": {**table.options, "decks": decks}})
        proposal = proposals.propose(draft, "For the season", by=operator)
        proposals.approve(proposal, by=second)
        if decks == 7:
            off = proposals.propose(proposals.draft_of_calling_off(proposal), "The decks are late", by=second)
            proposals.approve(off, by=operator)
    draft = table_settings.draft_for_the_shoe(table, {"seat_max_cents": table.max_cents})
    proposals.call_off(
        proposals.arrange(draft, "As in the other pit", by=operator), "The other pit has none", by=second
    )


def _limit(table: Table, cents: int, operator: Staff, second: Staff) -> Proposal:
    table.refresh_from_db()
    draft = replace(
        table_settings.draft_for_later(table, {"max_cents": cents}),
        effective=timezone.now() + timedelta(minutes=5),
    )
    proposal = proposals.propose(draft, "A full house tonight", by=operator)
    proposals.comment(proposal, "The same as last year", by=second)
    proposals.approve(proposal, by=second)
    return proposal


def _chosen(values: dict[str, object], operator: Staff, second: Staff) -> None:
    draft = role_choices.draft(values, None) if "two_people" not in values else policies.draft(values)
    assert draft is not None
    proposals.approve(proposals.propose(draft, "As our licence asks", by=second), by=operator)
    policies.forget()
