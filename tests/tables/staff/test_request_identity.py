"""Who comes with a request is read in one statement, and anew for every request."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from ledger.models import LogEntry
from tables.models import Staff, Terminal
from tables.roles import Role
from tables.staff import request_identity
from tables.state import table_state
from tests import floor
from tests.floor import Hand

pytestmark = pytest.mark.django_db

SCRIPT = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def hand() -> Hand:
    return floor.dealt()[0]


@pytest.fixture
def dora(hand: Hand) -> Client:
    """Dora's screen, which has entered a bet before: whose session it is, is known by then."""
    client = floor.client(hand.by)
    assert enter(client, hand, "1") == 200
    return client


def enter(client: Client, hand: Hand, seat: str) -> int:
    """The status of a bet's answer."""
    key = "00000000-0000-4000-8000-00000000000" + seat
    form = {"key": key, "seq": table_state.of(hand.table).seq, "seat": seat, "amount": "20"}
    return client.post(f"/tables/{hand.table.pk}/input", form, **SCRIPT).status_code  # type: ignore[arg-type]


def end_session(hand: Hand) -> None:
    Session.objects.all().delete()


def let_session_expire(hand: Hand) -> None:
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))


def revoke_terminal(hand: Hand) -> None:
    Terminal.objects.update(is_active=False)


def give_terminal_another_device(hand: Hand) -> None:
    Terminal.objects.update(token_digest="0" * 64)


def bar(hand: Hand) -> None:
    Staff.objects.filter(pk=hand.by.pk).update(is_active=False)


def give_another_role(hand: Hand) -> None:
    Staff.objects.filter(pk=hand.by.pk).update(role=Role.PIT_BOSS)


def change_pin(hand: Hand) -> None:
    hand.by.set_pin("7391")
    hand.by.save(update_fields=["pin"])


@pytest.mark.parametrize(
    "change",
    [
        end_session,
        let_session_expire,
        revoke_terminal,
        give_terminal_another_device,
        bar,
        give_another_role,
        change_pin,
    ],
)
def test_what_ends_a_right_is_noticed_at_the_very_next_input(
    hand: Hand, dora: Client, change: Callable[[Hand], None]
) -> None:
    """Harm: somebody who may not deal any more enters one more card, by what was read with the one before."""
    entries = LogEntry.objects.filter(book=hand.table.book).count()
    change(hand)
    assert enter(dora, hand, "2") in (401, 403)
    assert LogEntry.objects.filter(book=hand.table.book).count() == entries


def test_whoever_the_session_names_comes_whoever_it_named_before(hand: Hand, dora: Client) -> None:
    """Harm: an input under the name of the dealer who used the terminal before."""
    key = dora.session.session_key
    assert key
    rosa = floor.staff(Role.DEALER, "rosa")
    request_identity._people[key] = rosa.pk
    assert enter(dora, hand, "2") == 200
    assert LogEntry.objects.filter(book=hand.table.book).latest("seq").by == hand.by.signature
    assert request_identity._people[key] == hand.by.pk


def test_a_session_of_nobody_is_nobodys(hand: Hand, dora: Client) -> None:
    """Harm: a forged or broken session lets somebody in who was read along with it."""
    Session.objects.update(session_data="broken")
    assert enter(dora, hand, "2") == 401
