"""Taking people on, changing what they may do, and what the house's book says of it."""

import threading
from functools import partial
from hashlib import sha256
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from ledger.models import HOUSE, LogEntry
from tables.audit import proofs
from tables.floor import table_opening
from tables.models import Staff
from tables.refusals import Refused
from tables.roles import Role
from tables.staff import secret_changes, staffing
from tests import floor

pytestmark = pytest.mark.django_db
SECRET, SECRET_PIN = "a secret of some length", "2580"
SOMEBODY: dict[str, Any] = {
    "username": "dan",
    "name": "Dan Duarte",
    "role": Role.DEALER.value,
    "badge": "102",
}


def staff_entries(kind: str) -> list[dict[str, Any]]:
    """The house's entries about staff, of one kind."""
    rows = (
        LogEntry.objects.filter(book__name=HOUSE, subject="staff", kind=kind).exclude(by=floor.SETS_UP).order_by("seq")
    )
    return [{"by": entry.by, "content": entry.content} for entry in rows]


def fields(refused: Any) -> dict[str, str]:
    return dict(refused.value.facts["fields"])


def test_the_log_says_who_took_somebody_on(operator: Staff) -> None:
    """An account that nobody answers for is how insiders work. It comes without a secret: nobody knows another's."""
    dan = staffing.add_staff(**SOMEBODY, by=operator)
    assert not dan.has("password")
    assert not dan.has("pin")
    (entry,) = staff_entries("added")
    assert entry["by"] == "omar Omar"
    assert entry["content"] == {
        "username": "dan", "name": "Dan Duarte", "role": "dealer", "badge": "102", "new": [],
        "secrets": {"password": sha256(dan.password.encode()).hexdigest(), "pin": ""},
    }  # fmt: skip


def test_secrets_are_hashed_by_argon2_and_never_in_the_log(operator: Staff) -> None:
    """The log is kept for years and read by many."""
    boss = floor.staff(Role.PIT_BOSS, "boris", "202")
    dan = floor.taken_on(Role.DEALER, "dan", "102", by=operator, second=boss, pin=SECRET_PIN)
    dan = secret_changes.change_password(dan, new=f"{SECRET}, the third")
    for column in ("password", "pin"):
        assert getattr(dan, column).startswith("peppered$")
        assert dan.hash_of(column).startswith("argon2")
    everything = b"".join(bytes(body) for body in LogEntry.objects.values_list("body", flat=True))
    for secret in (SECRET, SECRET_PIN, floor.PASSWORD, dan.password, dan.pin):
        assert secret.encode() not in everything
    assert [entry["content"]["secret"] for entry in staff_entries("secret_made")] == ["pin", "password", "password"]


def test_the_first_operator_of_a_house_is_in_its_log_too() -> None:
    """Else everything in the log would go back to somebody whom nobody took on."""
    call_command("createsuperuser", interactive=False, username="olga", name="Olga Orlow")
    (entry,) = staff_entries("added")
    assert (entry["by"], entry["content"]["username"]) == ("the command line", "olga")


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"username": ""}, "username"),
    ({"username": "Dan"}, "username"),
    ({"username": "omar"}, "username"),
    ({"username": "dan\nx"}, "username"),
    ({"name": " "}, "name"),
    ({"name": "Dan\nDuarte"}, "name"),
    ({"name": "D" * 61}, "name"),
    ({"role": "owner"}, "role"),
    ({"badge": "10a"}, "badge"),
    ({"badge": "١٠٢"}, "badge"),
    ({"badge": "7"}, "badge"),
]
"""Invalid data of a person: missing, ambiguous, of two lines, too long or in use."""


def test_staff_with_missing_ambiguous_or_invalid_data_are_refused(operator: Staff) -> None:
    """Harm: two people cannot be told apart on the floor or in the log."""
    for facts, field in WRONG:
        with pytest.raises(Refused) as refusal:
            staffing.add_staff(**SOMEBODY | facts, by=operator)
        assert field in fields(refusal), facts
    assert not staff_entries("added")


WRONG_SECRETS: list[tuple[str, str, str]] = [
    ("a short password", "password", "short"),
    ("a password that everybody has", "password", "1q2w3e4r5t6y"),
    ("a password of digits", "password", "730194628501"),
    ("a short PIN", "pin", "12"),
    ("a PIN of letters", "pin", "12ab"),
    ("a PIN of one digit", "pin", "4444"),
    ("a PIN that counts up", "pin", "3456"),
    ("a PIN that counts down", "pin", "9876"),
    ("the PIN is the badge number", "pin", "2580"),
]


def test_obvious_secrets_are_refused(operator: Staff) -> None:
    """Harm: a guesser with ten tries finds the PIN or password that most people choose."""
    boss = floor.staff(Role.PIT_BOSS, "boris", "202")
    dan = staffing.add_staff(**SOMEBODY | {"badge": "2580"}, by=operator)
    for reason, secret, new in WRONG_SECRETS:
        with pytest.raises(Refused) as refusal:
            secret_changes.first_secrets(dan, asks=operator, confirms=boss, terminal=None, **{secret: new})
        assert secret in fields(refusal), reason
    assert not staff_entries("secret_made")


def test_only_operators_change_staff(operator: Staff) -> None:
    """Harm: a person who is not an operator gives roles, adds staff or lifts a lock-out; or the last operator leaves,
    and staff can no longer be added or dismissed."""
    for role in set(Role) - {Role.OPERATOR}:
        user = Staff(username="other", name="Other", role=role)
        for act in (
            partial(staffing.add_staff, **SOMEBODY),
            partial(staffing.change_staff, operator, {"role": Role.DEALER.value}),
            partial(staffing.lift_lock_out, operator),
        ):
            with pytest.raises(Refused) as refusal:
                act(by=user)
            assert refusal.value.status == 403, role
    for change in ({"is_active": False}, {"role": "auditor"}):
        with pytest.raises(Refused) as refusal:
            staffing.change_staff(operator, change, by=operator)
        assert list(fields(refusal).values()) == ["Somebody else has to be an active operator first."]
    olga = floor.staff(Role.OPERATOR, "olga")
    staffing.change_staff(operator, {"role": "auditor"}, by=olga)


def test_a_change_says_what_was_before_and_nothing_else(operator: Staff) -> None:
    """Who had which role on which day has to be told years later."""
    dan = staffing.add_staff(**SOMEBODY, by=operator)
    staffing.change_staff(dan, {"role": Role.PIT_BOSS.value, "name": "Dan Duarte"}, by=operator)
    (entry,) = staff_entries("changed")
    assert entry["content"] == {
        "username": "dan", "before": {"role": "dealer"}, "after": {"role": "pit_boss"}, "new": [],
        "secrets": {"password": sha256(dan.password.encode()).hexdigest(), "pin": ""},
    }  # fmt: skip


def test_a_pin_does_not_follow_into_another_role(operator: Staff) -> None:
    """What a dealer's four digits signed must not be signed with what a pit boss may."""
    boss = floor.staff(Role.PIT_BOSS, "boris", "202")
    dan = floor.taken_on(Role.DEALER, "dan", "102", by=operator, second=boss, pin=SECRET_PIN)
    dan = staffing.change_staff(dan, {"role": Role.PIT_BOSS.value}, by=operator)
    assert not dan.check_pin(SECRET_PIN)


# --- Standing at a table --------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", [{"is_active": False}, {"role": "pit_boss"}], ids=["leaves", "is promoted"])
def test_a_dealer_who_may_not_deal_any_more_is_tapped_out(operator: Staff, change: dict[str, Any]) -> None:
    """Else the screen would name a dealer whom the table refuses."""
    dealer, _ = floor.dealt()
    staffing.change_staff(dealer.by, change, by=operator)
    assert dealer.now.dealer is None
    newest = LogEntry.objects.filter(book=dealer.table.book).latest("seq")
    assert (newest.subject, newest.kind, newest.by) == ("dealer", "signed_out", "omar Omar")
    assert proofs.verify(dealer.table.book).fault is None


@pytest.mark.parametrize(("change", "field"), [({"is_active": False}, "is_active"), ({"role": "auditor"}, "role")])
def test_in_mid_round_a_relief_goes_first(operator: Staff, change: dict[str, Any], field: str) -> None:
    """A round without a dealer cannot be finished, and the players' bets lie on it."""
    dealer, _ = floor.dealt()
    dealer.bets(seat1=1_000)
    with pytest.raises(Refused) as refused:
        staffing.change_staff(dealer.by, change, by=operator)
    assert fields(refused) == {
        field: "Round 1 is open at Rocket 1: Dora can be taken off it after a relief, or when it is over."
    }
    assert Staff.objects.get(username="dora").is_active
    dan = floor.staff(Role.DEALER, "dan", "102")
    floor.relieve(dealer.table, dan)
    staffing.change_staff(dealer.by, change, by=operator)
    assert dealer.now.dealer is not None
    assert dealer.now.dealer.username == "dan"


def test_a_new_name_does_not_disturb_a_round(operator: Staff) -> None:
    """A dealer who marries in the break goes on dealing."""
    dealer, _ = floor.dealt()
    dealer.bets(seat1=1_000)
    staffing.change_staff(dealer.by, {"name": "Dora Duarte"}, by=operator)
    assert table_opening.table_of(dealer.by) == dealer.table


# --- The last operator ----------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_two_operators_cannot_take_the_role_from_each_other_at_once(transactional_db: None) -> None:
    """Each would still see the other when they look."""
    omar, olga = floor.staff(Role.OPERATOR, "omar"), floor.staff(Role.OPERATOR, "olga")

    def demote(whom: Staff, by: Staff) -> None:
        try:
            staffing.change_staff(whom, {"role": Role.AUDITOR.value}, by=by)
        except Refused:
            pass
        finally:
            connection.close()

    threads = [threading.Thread(target=demote, args=pair) for pair in ((omar, olga), (olga, omar))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Staff.objects.filter(role=Role.OPERATOR).count() == 1
