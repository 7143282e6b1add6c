"""Facts in, an alert out or none: the rules by table, without a house."""

import hmac
from base64 import b64decode, b64encode
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tables.alerts.alert_types import DEFAULTS, Rule
from tables.alerts.rules import Fact, RaisedAlert, call, escalated, escalation_due
from tables.alerts.webhook_signatures import DELIVERY, SIGNATURE, TIMESTAMP, WINDOW_SECONDS, headers, is_ours

BET = replace(DEFAULTS["large_bet"], threshold=5_000)
RACK = replace(DEFAULTS["rack_low"], is_on=True, threshold=5_000)
LEVEL = replace(DEFAULTS["discrepancy"], threshold=2)
HERE = replace(BET, tables=("Rocket 1",))
GAME = replace(BET, games=("baccarat",))
EITHER = replace(BET, tables=("Rocket 1",), games=("baccarat",))


def fact(about: str, number: int | None, table: str = "Rocket 1", game: str = "rocket", least: int = 0) -> Fact:
    return Fact(about, "a cause", "says", number, table, game, least_level=least)


@pytest.mark.parametrize(
    ("rule", "fact", "level"),
    [
        (BET, fact("large_bet", 4_999), None),
        (BET, fact("large_bet", 5_000), 1),
        (replace(BET, is_on=False), fact("large_bet", 9_000), None),
        (replace(BET, level=3), fact("large_bet", 9_000), 3),
        (RACK, fact("rack_low", 5_000), None),
        (RACK, fact("rack_low", 4_999), 1),
        (RACK, fact("rack_low", 0), 1),
        (HERE, fact("large_bet", 9_000), 1),
        (HERE, fact("large_bet", 9_000, table="Rocket 2"), None),
        (GAME, fact("large_bet", 9_000), None),
        (GAME, fact("large_bet", 9_000, game="baccarat"), 1),
        (EITHER, fact("large_bet", 9_000, table="Rocket 2", game="baccarat"), 1),
        (EITHER, fact("large_bet", 9_000, table="Rocket 2"), None),
        (LEVEL, fact("discrepancy", 1, least=1), None),
        (LEVEL, fact("discrepancy", 2, least=2), 2),
        (LEVEL, fact("discrepancy", 3, least=3), 3),
        (LEVEL, fact("discrepancy", 3, table="", game="", least=3), 3),
        (replace(LEVEL, tables=("Rocket 1",)), fact("discrepancy", 3, table="", game="", least=3), 3),
        (replace(DEFAULTS["pin_reset"], is_on=True), fact("pin_reset", None, table="", game=""), 1),
        (DEFAULTS["pin_reset"], fact("pin_reset", None, table="", game=""), None),
        (DEFAULTS["relief_due"], fact("relief_due", 59), None),
        (DEFAULTS["relief_due"], fact("relief_due", 60), 0),
    ],
)
def test_a_rule_raises_an_alert_for_exactly_its_facts(rule: Rule, fact: Fact, level: int | None) -> None:
    """Harm: a limit is off by one, or a rule for the high-limit room applies to every table."""
    raised = call(rule, fact)
    assert (raised.level if raised else None) == level


def test_what_is_graver_than_its_rule_is_told_to_all_of_its_level() -> None:
    """Harm: a matter for the regulator that one pit boss hears of."""
    assert call(LEVEL, fact("discrepancy", 3, least=3)) == RaisedAlert(
        3, ("auditor", "operator", "pit_boss", "surveillance")
    )


RAISED = datetime(2026, 1, 2, 20, tzinfo=UTC)
FIVE = replace(BET, escalate_minutes=5)


@pytest.mark.parametrize(
    ("steps", "minutes", "due"),
    [([], 4, False), ([], 5, True), ([5], 9, False), ([5], 10, True), ([5, 10], 15, True), ([5, 10, 15], 24, False),
     ([5, 10, 15], 25, True), ([5, 10, 15, 25], 44, False), ([5, 10, 15, 25], 45, True)],
)  # fmt: skip
def test_when_an_alert_is_escalated(steps: list[int], minutes: int, due: bool) -> None:
    """Harm: nobody else is told; or the log has an entry a minute all night for one alert."""
    escalated_at = [RAISED + timedelta(minutes=step) for step in steps]
    assert escalation_due(FIVE, RAISED, escalated_at, RAISED + timedelta(minutes=minutes)) is due
    assert not escalation_due(replace(FIVE, escalate_minutes=0), RAISED, escalated_at, RAISED + timedelta(days=9))


def test_escalating_adds_people_and_stops_below_the_regulator() -> None:
    """Harm: whoever was told first is told no more; or an idle table becomes a case for the regulator by waiting."""
    first_call = escalated(replace(BET, escalate_to=("operator",)), 0, ("pit_boss",))
    assert first_call == RaisedAlert(1, ("operator", "pit_boss"))
    second = escalated(replace(BET, escalate_to=("operator",)), first_call.level, first_call.roles)
    assert second == RaisedAlert(2, ("operator", "pit_boss", "surveillance"))
    assert escalated(BET, 2, second.roles).level == 2
    assert escalated(BET, 3, second.roles).level == 3


def test_a_receiver_takes_what_is_ours_and_new_and_nothing_else() -> None:
    """Harm: anybody who finds the address makes alerts; or somebody sends a recorded one again next week."""
    body, secret = b'{"event":"alert.raised"}', "s" * 32
    signed = headers([secret], 1_767_000_000, "a-delivery", body)
    assert is_ours(secret, signed, body, 1_767_000_000 + WINDOW_SECONDS)
    assert not is_ours(secret, signed, body, 1_767_000_001 + WINDOW_SECONDS)
    assert not is_ours(secret, signed, body + b" ", 1_767_000_000)
    assert not is_ours("t" * 32, signed, body, 1_767_000_000)
    for name, value in ((DELIVERY, "another"), (TIMESTAMP, "1767000001"), (TIMESTAMP, "x"), (SIGNATURE, "v1=é")):
        assert not is_ours(secret, signed | {name: value}, body, 1_767_000_000)
    assert not is_ours(secret, {}, body, 1_767_000_000)


def test_a_library_for_standard_webhooks_verifies_what_is_sent() -> None:
    """Harm: an integrator's library refuses every message, and the check of signatures is switched off."""
    body, secrets = b'{"event":"alert.raised"}', ["s" * 32, "t" * 32]
    signed = headers(secrets, 1_767_000_000, "a-delivery", body)
    content = f"{signed['webhook-id']}.{signed['webhook-timestamp']}.".encode() + body
    for secret in secrets:
        secret_text = f"whsec_{b64encode(secret.encode()).decode()}"  # the form that libraries take
        key = b64decode(secret_text.removeprefix("whsec_"))
        expected = b64encode(hmac.new(key, content, "sha256").digest()).decode()
        assert f"v1,{expected}" in signed["webhook-signature"].split(" ")
    assert signed["webhook-id"] == signed[DELIVERY]
    assert signed["webhook-timestamp"] == signed[TIMESTAMP]
