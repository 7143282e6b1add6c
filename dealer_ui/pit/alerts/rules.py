"""The alert rules as a pit boss sets them, and the channels that send alerts out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from dealer_ui.entry_forms import ListField, render_form
from dealer_ui.guards import permitted, viewer_of, watches
from dealer_ui.numbers import cents, number
from ledger.proof.chips import money
from tables.alerts import channels, delivery, log_followers, rules_in_force, streams
from tables.alerts.alert_types import CENTS, LEVEL, LEVELS, AlertType, Rule
from tables.alerts.models import AlertChannel, ChannelContent, Delivery, DeliveryAttempt, Resending
from tables.alerts.rules import HEARERS
from tables.form_fields import WholeNumberField
from tables.games.catalog import GAMES
from tables.models import Table
from tables.refusals import Refused
from tables.roles import Role

DELIVERIES_SHOWN: Final = 50
ROLES: Final = tuple((role, str(Role(role).label)) for role in HEARERS)


# --- Rules -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A rule as the list shows it."""

    rule: Rule

    @property
    def kind(self) -> AlertType:
        return self.rule.kind

    @property
    def threshold(self) -> str:
        """In words; with the side of it on which the alert is raised."""
        if self.rule.threshold is None:
            return "each"
        word = "below" if self.kind.is_below else "from"
        return f"{word} {self.kind.spelled(self.rule.threshold)}"

    @property
    def level(self) -> str:
        return LEVELS[self.rule.level]

    @property
    def where(self) -> str:
        """Which tables it looks at."""
        games = [GAMES[game].title for game in self.rule.games if game in GAMES]
        return ", ".join([*self.rule.tables, *games]) or ("all tables" if self.kind.of_tables else "the house")

    @property
    def hears(self) -> str:
        return ", ".join(str(Role(role).label) for role in self.rule.roles)

    @property
    def escalates(self) -> str:
        """After how long, and to whom."""
        if not self.rule.escalate_minutes:
            return "never"
        whom = ", ".join(str(Role(role).label) for role in self.rule.escalate_to)
        return f"after {self.rule.escalate_minutes} min to {whom}"


class RuleForm(forms.Form):
    """The settings of a rule. Unreadable ones count as out of bounds: they are refused together with those that are."""

    is_on = forms.BooleanField(required=False)
    threshold = forms.CharField(required=False)
    level = WholeNumberField()
    tables = ListField()
    games = ListField()
    roles = ListField()
    escalate_minutes = WholeNumberField()
    escalate_to = ListField()

    def rule(self, before: Rule) -> Rule:
        """The rule as it would be set. Raises nothing: ``set_rule`` judges it."""
        self.full_clean()
        values, measure = self.cleaned_data, before.kind.measure
        typed = values.get("threshold")
        return Rule(
            about=before.about,
            is_on=values["is_on"],
            threshold=None if not measure else cents(typed) if measure == CENTS else number(typed),
            level=values.get("level", -1),
            escalate_minutes=values.get("escalate_minutes", -1),
            **{name: tuple(sorted(set(values[name]))) for name in ("tables", "games", "roles", "escalate_to")},
        )


@watches
@require_GET
def rules_page(request: HttpRequest) -> HttpResponse:
    """Every rule as it is set now."""
    lines = [RuleRow(rule) for rule in rules_in_force.in_force().values()]
    return render(request, "dealer_ui/pit/alert_rules.html", {"lines": lines, "may_set": _may_set(request)})


@watches
@require_http_methods(["GET", "POST"])
def rule_page(request: HttpRequest, about: str) -> HttpResponse:
    """One rule: its settings, its earlier settings, and the form to change it."""
    rule = rules_in_force.in_force().get(about)
    if rule is None:
        raise Http404("There is no such rule.")
    form, refused = RuleForm(request.POST), None
    if request.method == "POST":
        if not _may_set(request):
            raise PermissionDenied
        rule = form.rule(rule)
        try:
            rules_in_force.set_rule(rule, by=viewer_of(request))
            messages.success(
                request, f"{rule.kind.title}: the rule is set, and holds from now on.", extra_tags="rule_set"
            )
            return redirect("pit:alert-rules")
        except Refused as refusal:
            refused = refusal
    return render_form(request, "dealer_ui/pit/alert_rule.html", _context(request, rule, form, refused), refused)


def _context(request: HttpRequest, rule: Rule, form: RuleForm, refused: Refused | None) -> dict[str, Any]:
    kind = rule.kind
    return {
        "rule": rule,
        "line": RuleRow(rule),
        "kind": kind,
        "threshold": form.data.get("threshold", _typed(rule)),
        "is_level": kind.measure == LEVEL,
        "bounds": [kind.spelled(bound) for bound in kind.bounds],
        "levels": list(enumerate(LEVELS)),
        "tables": list(Table.objects.values_list("name", flat=True)) if kind.of_tables else [],
        "games": [(name, game.title) for name, game in GAMES.items()] if kind.of_tables else [],
        "roles": ROLES,
        "faults": refused.facts.get("fields", {}) if refused else {},
        "typed": form.data,
        "may_set": _may_set(request),
        "history": [(row, RuleRow(rules_in_force.rule_of(row))) for row in rules_in_force.history(rule.about)],
    }


def _typed(rule: Rule) -> str:
    """A threshold as its field has it."""
    if rule.threshold is None:
        return ""
    return money(rule.threshold) if rule.kind.measure == CENTS else str(rule.threshold)


def _may_set(request: HttpRequest) -> bool:
    return viewer_of(request).has_perm("tables.set_alertrules")


# --- Channels --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sent:
    """A delivery as the page shows it."""

    delivery: Delivery

    @property
    def attempts(self) -> list[DeliveryAttempt]:
        return sorted(self.delivery.attempts.all(), key=lambda attempt: attempt.number)

    @property
    def state(self) -> str:
        """The state of the delivery: waiting, failed, dead or sent."""
        return self.attempts[-1].outcome if self.attempts else "waiting"

    @property
    def state_words(self) -> str:
        return str(self.attempts[-1].get_outcome_display()) if self.attempts else "Waiting"

    @property
    def what(self) -> str:
        """The subject of the delivery."""
        body: Mapping[str, Any] = self.delivery.body
        if "through" in body:
            return f"Events of the feed, from place {body['first']:,} through {body['through']:,}"
        return str(body["alert"]["message"] if "alert" in body else body["message"])

    @property
    def resendings(self) -> list[Resending]:
        return sorted(self.delivery.resendings.all(), key=lambda resending: resending.after)


@watches
@require_GET
def channels_page(request: HttpRequest) -> HttpResponse:
    """The channels, deliveries that failed for good, and recent deliveries."""
    recent = Delivery.objects.prefetch_related("attempts", "resendings").order_by("-pk")[:DELIVERIES_SHOWN]
    dead = delivery.dead()
    counts = Counter(dead.order_by().values_list("name", flat=True))
    context = {
        "channels": [(row, channels.destination(row), LEVELS[row.least_level]) for row in channels.in_force()],
        "dead": [Sent(row) for row in dead.prefetch_related("resendings")[:DELIVERIES_SHOWN]],
        "dead_by_channel": [(row, counts[row.name]) for row in channels.in_force() if counts[row.name]],
        "dead_count": counts.total(),
        "may_resend": viewer_of(request).has_perm("tables.resend_deadletters"),
        "recent": [Sent(row) for row in recent],
        "may_test": viewer_of(request).has_perm("tables.add_alertchannel"),
        "behind": log_followers.behind(),
        "subscriptions": streams.states(ChannelContent.EVENTS),
        "handed_over": streams.states(ChannelContent.DAYS),
        "moment": timezone.now(),
    }
    return render(request, "dealer_ui/pit/alert_channels.html", context)


@permitted("tables.add_alertchannel")
@require_POST
def send_test(request: HttpRequest, channel: int) -> HttpResponse:
    """Send a test by the same path as alerts."""
    row = get_object_or_404(AlertChannel, pk=channel)
    delivery.send_test(row, by=viewer_of(request))
    messages.success(
        request, f"A test of {row.name} is on its way: what comes of it stands below.", extra_tags="test_sent"
    )
    return redirect("pit:alert-channels")


@permitted("tables.resend_deadletters")
@require_POST
def send_again(request: HttpRequest, letter: int) -> HttpResponse:
    """Have one dead letter tried again."""
    return _again(request, list(Delivery.objects.filter(pk=letter)))


@permitted("tables.resend_deadletters")
@require_POST
def send_all_again(request: HttpRequest, channel: int) -> HttpResponse:
    """Have every dead letter of a channel tried again."""
    row = get_object_or_404(AlertChannel, pk=channel)
    return _again(request, list(delivery.dead().filter(name=row.name).order_by("pk")[: delivery.MOST_AT_ONCE]))


def _again(request: HttpRequest, letters: Sequence[Delivery]) -> HttpResponse:
    try:
        count = delivery.send_again(letters, by=viewer_of(request))
        what = "1 dead letter is" if count == 1 else f"{count} dead letters are"
        messages.success(
            request, f"{what} on the way again, in your name: what comes of it stands below.", extra_tags="resent"
        )
    except Refused as refusal:
        messages.error(request, refusal.sentence, extra_tags=refusal.code)
    return redirect("pit:alert-channels")
