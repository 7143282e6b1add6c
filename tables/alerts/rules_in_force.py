"""The rules in force: dated by their entries, never changed. What was not set is as it ships."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction
from msgspec import structs

from ledger import log, site_log
from ledger.log import Draft
from ledger.models import Alert
from ledger.proof.chain import Entry
from tables.alerts.alert_types import DEFAULTS, OTHER, Rule
from tables.alerts.models import AlertRule
from tables.alerts.rules import faults
from tables.floor.handlers import checks
from tables.log.entries.alert_rules import AlertRuleSet
from tables.log.event import AuditFailure
from tables.models import Staff, Table
from tables.refusals import Refused


def in_force() -> Mapping[str, Rule]:
    """Every rule as it is set now."""
    newest = AlertRule.objects.order_by("about", "-seq").distinct("about")
    return {**DEFAULTS, **{row.about: rule_of(row) for row in newest if row.about in DEFAULTS}}


def rule_for(alert: Alert, rules: Mapping[str, Rule]) -> Rule:
    """The rule that an alert goes by, whoever raised it."""
    return rules.get(alert.kind, rules[OTHER])


def history(about: str) -> list[AlertRule]:
    """How a rule was set, the newest first."""
    return list(AlertRule.objects.filter(about=about))


def rule_of(row: AlertRule) -> Rule:
    return Rule(
        about=row.about,
        is_on=row.is_on,
        threshold=row.threshold,
        level=row.level,
        tables=tuple(row.tables),
        games=tuple(row.games),
        roles=tuple(row.roles),
        escalate_minutes=row.escalate_minutes,
        escalate_to=tuple(row.escalate_to),
    )


def event_of(rule: Rule) -> AlertRuleSet:
    """What the house's book says of a rule."""
    return AlertRuleSet(
        about=rule.about,
        is_on=rule.is_on,
        threshold=rule.threshold,
        level=rule.level,
        tables=rule.tables,
        games=rule.games,
        roles=rule.roles,
        escalate_minutes=rule.escalate_minutes,
        escalate_to=rule.escalate_to,
    )


def set_rule(rule: Rule, *, by: Staff) -> AlertRule:
    """Set a rule from now on. Raises Refused with a sentence for each field that is wrong."""
    if not by.has_perm("tables.set_alertrules"):
        raise Refused("not_permitted", "Only a pit boss sets the rules of alerts.", 403)
    with transaction.atomic():
        head = site_log.lock()
        sentences = faults(rule, list(Table.objects.values_list("name", flat=True)))
        if not sentences and in_force()[rule.about] == rule:
            sentences = {"about": "The rule is set just so already."}
        if sentences:
            raise Refused("bad_alert_rule", " ".join(sentences.values()), 422, fields=sentences)
        event = event_of(rule)
        entry = log.append(head, Draft.of(event, by.signature))
        return AlertRule.objects.create(
            **{name: value for name, value in structs.asdict(event).items() if name in _COLUMNS},
            seq=entry.seq,
            by=by.signature,
            at=entry.at or head.moment,
        )


_COLUMNS = frozenset(
    {"about", "is_on", "threshold", "level", "tables", "games", "roles", "escalate_minutes", "escalate_to"}
)


@checks(AlertRuleSet)
def check_rule(event: AlertRuleSet, entry: Entry) -> None:
    """A rule is within its bounds, and its row says the same."""
    rule = Rule(**{name: getattr(event, name) for name in _COLUMNS})
    if wrong := faults(rule, rule.tables):  # whether the tables are there today says nothing of the day it was set
        raise AuditFailure(" ".join(wrong.values()))
    row = AlertRule.objects.filter(seq=entry.seq).first()
    if row is None or rule_of(row) != rule or row.by != entry.by:
        raise AuditFailure("the rule, as it is kept beside the log, is another")
