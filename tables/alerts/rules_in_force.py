"""The alert rules in force. Each version is dated by its log entry and never changes; rules that were not set have the
default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields

from django.db import transaction

from ledger import site_log
from ledger.models import Alert
from ledger.proof.chain import Entry
from tables.alerts.alert_rows import ALERT_RULES
from tables.alerts.alert_types import DEFAULTS, OTHER, Rule
from tables.alerts.models import AlertRule
from tables.alerts.rules import faults
from tables.floor.handlers import checks
from tables.log.entries.alert_rules import AlertRuleSet
from tables.log.event import AuditFailure
from tables.models import Staff, Table
from tables.refusals import Refused


def in_force() -> Mapping[str, Rule]:
    """Every rule as it is now."""
    newest = AlertRule.objects.order_by("about", "-seq").distinct("about")
    return {**DEFAULTS, **{row.about: rule_of(row) for row in newest if row.about in DEFAULTS}}


def rule_for(alert: Alert, rules: Mapping[str, Rule]) -> Rule:
    """The rule that governs an alert: that of its kind, or the one for everything else."""
    return rules.get(alert.kind, rules[OTHER])


def history(about: str) -> list[AlertRule]:
    """Versions of a rule, newest first."""
    return list(AlertRule.objects.filter(about=about))


def rule_of(row: AlertRule) -> Rule:
    return _rule(ALERT_RULES.event_of(row))


def _rule(event: AlertRuleSet) -> Rule:
    return Rule(**{column.name: getattr(event, column.name) for column in fields(Rule)})


def event_of(rule: Rule) -> AlertRuleSet:
    """The log entry that records a rule."""
    return AlertRuleSet(**asdict(rule))


def set_rule(rule: Rule, *, by: Staff) -> AlertRule:
    """Set a rule from now on. Raises Refused with a message for each faulty field."""
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
        return ALERT_RULES.append(head, event, by.signature)


@checks(AlertRuleSet)
def check_rule(event: AlertRuleSet, entry: Entry) -> None:
    """A rule is within its bounds, and its row equals its entry."""
    rule = _rule(event)
    if wrong := faults(rule, rule.tables):  # whether the tables are there today says nothing of the day it was set
        raise AuditFailure(" ".join(wrong.values()))
    if not ALERT_RULES.has_row(event, entry):
        raise AuditFailure("the rule, as it is kept beside the log, is another")
