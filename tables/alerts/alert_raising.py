"""From a fact to an alert. One alert is raised for each cause; later facts with that cause are added to it as repeats
while it is open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, OuterRef, Prefetch, QuerySet, Subquery
from django.db.models.functions import Coalesce

from ledger import alerts
from ledger.models import Alert, AlertRepeat, Book, Escalation
from tables.alerts import rules_in_force
from tables.alerts.alert_types import Rule
from tables.alerts.facts import Noticed, evidence_of
from tables.alerts.rules import AT_LEVEL, Fact, RaisedAlert, call, escalated, escalation_due


def notice(noticed: Noticed, rules: Mapping[str, Rule], book: Book | None) -> Alert | None:
    """Raise the alert that a rule derives from an entry's fact, or add the fact to the open alert with that cause.

    Returns None if the rule raises nothing.
    """
    alert, is_new = alert_of(noticed.fact, rules, book, evidence_of(noticed))
    if alert is not None and not is_new and not noticed.fact.once:
        _repeat(alert, noticed)
    return alert


def alert_of(
    fact: Fact, rules: Mapping[str, Rule], book: Book | None, evidence: Mapping[str, Any]
) -> tuple[Alert | None, bool]:
    """The alert that a rule derives from a fact, or None; and whether it is new."""
    rule = rules[fact.about]
    raised = call(rule, fact)
    if raised is None:
        return None, False
    facts = {
        "cause": fact.cause,
        "level": raised.level,
        "roles": list(raised.roles),
        **({"number": fact.number, "threshold": rule.threshold} if rule.threshold is not None else {}),
        **evidence,
        **fact.evidence,
    }
    return alerts.raise_for(book, fact.about, fact.says, facts, once=fact.once)


def _repeat(alert: Alert, noticed: Noticed) -> None:
    """Add a repeat, at most one for each round: a bet and its result count once."""
    entry, number = noticed.entry, noticed.fact.round
    earlier = AlertRepeat.objects.filter(alert=alert)
    rounds = {alert.evidence.get("round"), *earlier.values_list("round", flat=True)}
    if number is not None and number in rounds:
        return
    alerts.repeat(alert, noticed.fact.says, entry.at or alert.at, book=entry.book_id, seq=entry.seq, round_=number)


# --- How far an alert goes now ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Heard:
    """The present level of an alert, and the roles that receive it."""

    level: int
    roles: frozenset[str]
    steps: tuple[datetime, ...]
    """Times of its escalations, in order."""

    def is_heard_by(self, role: str) -> bool:
        return role in self.roles


def heard(alert: Alert, rules: Mapping[str, Rule], escalations: Sequence[Escalation]) -> Heard:
    """Level and receiving roles of an alert after these escalations.

    An alert that no rule raised follows the rule for everything else.
    """
    rule = rules_in_force.rule_for(alert, rules)
    level = int(alert.evidence.get("level", rule.level))
    roles = frozenset(alert.evidence.get("roles", rule.roles))
    for escalation in escalations:
        level, roles = escalation.level, roles | frozenset(escalation.roles)
    return Heard(min(max(level, 0), max(AT_LEVEL)), roles, tuple(escalation.at for escalation in escalations))


def with_steps(chosen: QuerySet[Alert]) -> QuerySet[Alert]:
    """Alerts with the rows that `heard_all` and `repeats_of` need, in a constant number of queries.

    Of the repeats, only the newest is read.
    """
    counted = AlertRepeat.objects.filter(alert=OuterRef("pk")).order_by().values("alert").values(count=Count("pk"))
    newest = Prefetch("repeats", AlertRepeat.objects.order_by("-pk")[:1], to_attr="newest_repeats")
    return (
        chosen.annotate(repeat_count=Coalesce(Subquery(counted), 0))
        .select_related("book__table", "acknowledgement")
        .prefetch_related("escalations", newest)
    )


def repeats_of(alert: Alert) -> tuple[int, AlertRepeat | None]:
    """The number of repeats of an alert that was read by ``with_steps``, and the newest of them."""
    newest: list[AlertRepeat] = getattr(alert, "newest_repeats")  # noqa: B009 -- prefetched
    return int(getattr(alert, "repeat_count")), next(iter(newest), None)  # noqa: B009 -- annotated


def heard_all(chosen: Sequence[Alert]) -> dict[int, Heard]:
    """Level and receiving roles of several alerts that `with_steps` read, by alert id."""
    rules = rules_in_force.in_force()
    return {
        alert.pk: heard(alert, rules, sorted(alert.escalations.all(), key=lambda escalation: escalation.step))
        for alert in chosen
    }


def escalate_due(rules: Mapping[str, Rule], moment: datetime) -> int:
    """Escalate every open alert that is overdue for acknowledgement; returns how many there were."""
    told_again = 0
    for alert in with_steps(alerts.open_alerts()):
        rule = rules_in_force.rule_for(alert, rules)
        state = heard(alert, rules, sorted(alert.escalations.all(), key=lambda escalation: escalation.step))
        if escalation_due(rule, alert.at, state.steps, moment):
            further: RaisedAlert = escalated(rule, state.level, state.roles)
            step = len(state.steps) + 1
            told_again += alerts.escalate(alert, step, further.level, further.roles) is not None
    return told_again
