"""Projections: the row of an entry is written and compared by one declaration, and none is left without one."""

from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from django.apps import apps
from django.db import transaction

from ledger import site_log
from tables.alerts.alert_rows import ALERT_CHANNELS
from tables.audit.row_comparison import PROJECTIONS, SECOND_IMPLEMENTATIONS
from tables.log.entries.alert_rules import ChannelSet
from tables.log.entries.custody import DropScheduled
from tables.log.entries.limit_plans import LimitPlanSet
from tables.log.limit_plans import Hours
from tables.projections.site_rows import DROP_SCHEDULES, LIMIT_PLANS, SITE_ROWS

PROVED_OTHERWISE: Final = {
    "AlertRepeat": "compared with its alert by ledger/findings.py",
    "DayClose": "the replay computes the figures of a closed day again (tables/reports/day_close.py)",
    "HouseShoe": "the order is compared with the commitments of its table (tables/audit/commitments.py)",
    "ProposalEnd": "the replay checks who ended a proposal (tables/audit/dual_control.py)",
    "Verification": "counted and noted each hour (tables/audit/schedule_notes.py)",
}
NOT_IN_THE_LOG: Final = {
    "AttemptCount": "wrong PINs and passwords",
    "BookPosition": "how far alerts have followed a log",
    "Delivery": "messages to send",
    "DeliveryAttempt": "attempts to send a message",
    "FeedBook": "how far the feed has read a log",
    "FeedPosition": "how far a receiver has read the feed",
    "FeedSheet": "pages of the feed, computed from the log",
    "KeptAnswer": "answers of the API for repeated requests",
    "KeptSheet": "values of games, computed from their options",
    "Practice": "training; a certificate has its digest",
    "PracticeAnswer": "training; a certificate has its digest",
    "ShiftWin": "sums of the log",
    "ShoeAudit": "computed from the log",
    "SimulatedChunk": "computed from a seed",
}


def test_no_model_is_left_out_of_the_comparison() -> None:
    """Harm: rows of a new model mirror entries of the log, and are changed behind it without a fault."""
    compared = {projection.model for projection in (*PROJECTIONS, *SITE_ROWS)}
    compared |= {rows.model for rows in SECOND_IMPLEMENTATIONS}
    others = {model.__name__ for model in set(apps.get_app_config("tables").get_models()) - compared}
    assert others == PROVED_OTHERWISE.keys() | NOT_IN_THE_LOG.keys()


@pytest.mark.django_db
def test_a_row_is_what_its_entry_says_in_the_types_of_its_columns() -> None:
    """Harm: a day, an hour or a schedule is stored in another form than it is compared, and each honest row is a
    difference."""
    schedule = DropScheduled(
        name="Night", from_day="2026-11-28", tables=("Rocket 1",), weekdays=(0, 6), due_at="05:30", who="Security"
    )
    nights = Hours(weekdays=(4, 5), starts="20:00", ends="04:00", zone="Europe/Berlin")
    effective = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    plan = LimitPlanSet(
        name="Weekend", version=1, scope="house", of="", schedule=nights, effective=effective,
        values={"min_cents": 500, "wager tie": (100, 1_000)},
    )  # fmt: skip
    with transaction.atomic():
        row = DROP_SCHEDULES.append(site_log.lock(), schedule, "olga Olga")
        planned = LIMIT_PLANS.append(site_log.lock(), plan, "olga Olga")
    for projection in (DROP_SCHEDULES, LIMIT_PLANS):
        assert projection.in_log() == projection.in_database() != {}
    row.refresh_from_db()
    planned.refresh_from_db()
    assert (DROP_SCHEDULES.event_of(row), LIMIT_PLANS.event_of(planned)) == (schedule, plan)


@pytest.mark.django_db
def test_an_entry_has_the_digests_of_the_secrets_of_its_row() -> None:
    """Harm: the address or the secret of a channel is published in the log; or another one is put into its row, and the
    comparison does not see it."""
    channel = ChannelSet(
        name="Desk",
        version=1,
        means="webhook",
        is_on=True,
        least_level=1,
        about=(),
        address_sha256="",
        secret_sha256="",
    )
    secrets = {"address": "https://desk.example.com", "secret": "sealed", "former_secret": ""}
    with transaction.atomic():
        row = ALERT_CHANNELS.append(site_log.lock(), channel, "olga Olga", **secrets)
    assert (row.address, row.secret) == ("https://desk.example.com", "sealed")
    assert ALERT_CHANNELS.in_log() == ALERT_CHANNELS.in_database()
    assert "desk.example.com" not in str(ALERT_CHANNELS.in_log())
    row.secret = "another"
    assert (
        ALERT_CHANNELS.row_columns(row)["secret"] != ALERT_CHANNELS.event_of(row.__class__.objects.get()).secret_sha256
    )
