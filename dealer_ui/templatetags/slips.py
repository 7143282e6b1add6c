"""How slips write sums and names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django import template
from django.urls import reverse
from django.utils import timezone
from django.utils.timesince import timesince

from ledger.proof.slip_name import series_in
from tables.cage import next_signer
from tables.cage.site_back_entry import PaperEntry
from tables.floor import signature_checks
from tables.log import attestation, back_entry
from tables.log.slip_types import PAPERS, SLIPS, VOID, SlipType, total
from tables.log.slip_workflow import Slip
from tables.log.trusted_keys import Trust
from tables.models import Terminal
from tables.staff import passkeys, terminal_keys, terminals

register = template.Library()


@register.simple_tag(takes_context=True)
def here(context: Mapping[str, Any]) -> Terminal | None:
    """The terminal on which this page is shown."""
    return terminals.here(context["request"])


@register.inclusion_tag("dealer_ui/_attests.html", takes_context=True)
def attests(context: Mapping[str, Any], terms: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The statement that this terminal signs with the signatory's badge and PIN, and their passkey if one is required.

    Fields that the signatory types are None. Empty without a terminal or without terms.
    """
    terminal = terminals.here(context["request"])
    if terminal is None or not terms:
        return {}
    keys = signature_checks.trust()
    key = keys.of(terminal.name)
    statement = {"badge": None, "input": None, **terms, "terminal": terminal.name}
    return {
        "statement": json.dumps(statement),
        "terminal": terminal.name,
        "passkeys": reverse("slips:passkey") if _takes_passkeys(keys, terms) else "",
        "key": key.fingerprint if key and key.is_trusted else "",
        "demanded": keys.demanded is not None,
        "lost": terminal_keys.advice(terminal, key),
        "words": terms["format"] == attestation.CORRECTION,
    }


def _takes_passkeys(keys: Trust, terms: Mapping[str, Any]) -> bool:
    """Whether a possible signer of this slip step would sign by passkey. False for corrections."""
    name = series_in(str(terms.get("slip", "")))
    series = SLIPS[name] if name in PAPERS else None
    stage = series.stage(str(terms.get("stage"))) if series else None
    if series is None or stage is None:
        return False
    return any(keys.passkey_due(role, series.name, "", passkeys.LATER) for role in stage.roles)


@register.filter
def grouped(fingerprint: str) -> str:
    """A fingerprint as it is compared by eye: "1f2e 3d4c ..."."""
    return " ".join(fingerprint[place : place + 4] for place in range(0, len(fingerprint), 4))


@register.simple_tag
def no_terminal() -> str:
    """What to do where a page is shown on none."""
    return terminals.NO_TERMINAL


@register.filter
def of(names: Mapping[str, str], name: str) -> str:
    """The name of something, by a list of names; itself where the list has none."""
    return names.get(name, name)


@register.filter
def of_paper(moment: str) -> datetime:
    """The moment that an entry spells when it says when something happened by its paper."""
    return back_entry.moment_of(moment)


@register.filter
def in_paper(seq: int, lines: Mapping[int, PaperEntry]) -> PaperEntry | None:
    """What was entered from paper with an entry, if it was."""
    return lines.get(seq)


@register.filter
def times(value_cents: int, count: int) -> int:
    """The value of a number of equal chips, in cents."""
    return value_cents * count


@register.filter
def worth(chips: Any) -> int:
    """What chips are worth together, in cents."""
    return total(chips)


@register.filter
def signers(series: SlipType) -> str:
    """Who may begin a slip."""
    return next_signer.describe(series, series.first)


@register.filter
def next_signers(slip: Slip, dealer: str = "") -> str:
    """Who may sign the step that is due; ``dealer``: the name of the dealer at the table, where it is known."""
    return next_signer.describe(slip.series, slip.due, slip.signed, dealer) if slip.due else ""


@register.filter
def void_signers(slip: Slip) -> str:
    """Who may ask for a slip to be void."""
    return next_signer.describe(slip.series, VOID[0], slip.signed)


@register.filter
def age(since: datetime) -> str:
    """For how long something has been so: "2 hours, 5 minutes"."""
    if timezone.now() - since < timedelta(minutes=1):
        return "less than a minute"
    return timesince(since)


@register.filter
def intcomma(count: int) -> str:
    """A count with its thousands apart: 6,412."""
    return f"{count:,}"
