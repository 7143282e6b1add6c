"""A rack that is locked, and who may void a round or abandon a table, as the house's terms have it; their proof."""

from collections.abc import Callable
from typing import Any

import pytest

from ledger.models import Alert
from tables.floor import recorder
from tables.floor.inputs import BeginSlip, EnterMishap, LockRack, SignSlip, UnlockRack, VoidSlip
from tables.models import Staff
from tables.roles import Role
from tables.setup import policies
from tables.state import table_state
from tests import floor
from tests.floor import CHIPS, Hand, counted, crew, dealt, signs
from tests.tables.floor.acts import abandon, enter, fault, latest_kinds, refusal, verify, void

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

Terms = Callable[..., None]
FILL = ((CHIPS[0][0], 10),)


@pytest.fixture
def guard(db: None) -> Staff:
    return floor.staff(Role.SECURITY, "greta")


def lock(hand: Hand) -> recorder.Receipt:
    return enter(hand, LockRack("a chip lies under the table"))


def unlock(hand: Hand, second: str = "") -> recorder.Receipt:
    return enter(hand, UnlockRack("it was found", second))


# --- locked -----------------------------------------------------------------------------------------------------


def test_nothing_moves_at_a_locked_table(guard: Staff) -> None:
    """Harm: a procedure says that the rack is locked, and chips go into it and out of it all the same."""
    dealer, boss = dealt()
    dealer.bets(seat1=1_000)
    lock(dealer)
    assert dealer.board.due == "locked"
    assert not dealer.board.buttons
    says = f"The rack of {dealer.table.name} is locked: it is unlocked first, by a pit boss on the floor's page."
    locked: list[Callable[[], Any]] = [
        lambda: dealer.cards(4),
        lambda: dealer("sell_chips", amount_cents=10_000),
        lambda: dealer("take_back"),
        lambda: boss("take_back"),
        lambda: enter(dealer, EnterMishap("exposed_card", act="set_aside", card="4")),
        lambda: signs(dealer.table, boss.by, BeginSlip("fill", FILL)),
        lambda: signs(dealer.table, boss.by, BeginSlip("credit", FILL)),
    ]
    for entered in locked:
        answer = refusal(entered)
        assert (answer.code, answer.sentence) == ("rack_locked", says)
    assert refusal(lock, boss).code == "rack_locked"
    unlock(boss, guard.username)
    dealer.cards(1, 4)
    assert refusal(unlock, boss, guard.username).code == "rack_unlocked"
    verify(dealer.table)
    table_state.cache.clear()
    assert dealer.now.lock is None


def test_a_round_at_a_locked_table_is_void_and_the_table_closes() -> None:
    """Harm: a lock leaves a table that nobody can close."""
    dealer, boss = dealt()
    dealer.bets(seat1=1_000)
    lock(boss)
    table_state.cache.clear()
    assert dealer.now.lock is not None
    void(boss)
    counted(boss, "closer")
    assert (dealer.now.is_open, dealer.now.lock) == (False, None)
    boss("open_table")
    recorder.sign_in(dealer.table, dealer.by)
    verify(dealer.table)


def test_a_fill_on_its_way_to_a_locked_rack_is_void(guard: Staff) -> None:
    """Harm: chips wait before a locked rack, and the table cannot be closed."""
    dealer, boss = dealt()
    signs(dealer.table, boss.by, BeginSlip("fill", FILL))
    while (slip := dealer.now.slips[-1]).due and not slip.moves_on:
        signs(dealer.table, crew(slip.due.name), SignSlip(slip.name, slip.due.name))
    lock(dealer)
    while (slip := dealer.now.slips[-1]).due and not slip.due.moves:
        signs(dealer.table, dealer.by if slip.due.at_table_only else boss.by, SignSlip(slip.name, slip.due.name))
    stage = slip.due.name if slip.due else ""
    other = floor.staff(Role.PIT_BOSS, "petra")
    assert refusal(signs, dealer.table, other, SignSlip(slip.name, stage)).code == "rack_locked"
    carmen, aude = floor.staff(Role.CASHIER, "carmen"), floor.staff(Role.AUDITOR, "aude")
    signs(dealer.table, carmen, VoidSlip(slip.name, "the rack is locked"))
    signs(dealer.table, aude, SignSlip(slip.name, "voided"))
    counted(boss, "closer")
    verify(dealer.table)


def test_an_unlocked_rack_takes_two_unless_the_house_says_otherwise(terms: Terms, guard: Staff) -> None:
    """Harm: whoever locked a rack to get at it alone unlocks it alone."""
    dealer, boss = dealt()
    lock(boss)
    assert refusal(unlock, boss).code == "second_signature"
    assert refusal(unlock, boss, boss.by.username).code == "second_signature"
    assert refusal(unlock, boss, dealer.by.username).sentence == (
        "The second signature is that of a cage manager or a pit boss or a security officer."
    )
    assert refusal(unlock, dealer, guard.username).code == "not_permitted"
    unlock(boss, guard.username)
    entry = Alert.objects.order_by("-pk")[0]
    assert entry.message.endswith(f"unlocked the rack, {guard.name} signed too (it was found)")
    verify(dealer.table)
    terms(unlock_second_roles=())
    lock(boss)
    unlock(boss)
    assert latest_kinds(dealer.table, 2) == ["rack locked", "rack unlocked"]


def test_a_proof_finds_what_moved_at_a_locked_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: whoever has the application's database role fills a locked rack, and nobody can tell."""
    dealer, boss = dealt()
    lock(boss)
    with monkeypatch.context() as patched:
        patched.setattr("tables.floor.permissions.not_locked", lambda scene: None)
        dealer("sell_chips", amount_cents=10_000)
    assert "is locked" in fault(dealer.table).what


def test_a_proof_finds_one_who_unlocked_alone(terms: Terms, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a rack was unlocked by one person, against the house's terms."""
    dealer, boss = dealt()
    lock(boss)
    terms(unlock_second_roles=())
    unlock(boss)
    verify(dealer.table)
    monkeypatch.setattr(policies, "_read", None)
    assert "signed by one person" in fault(dealer.table).what


# --- who voids, for what, with whom -----------------------------------------------------------------------------


def test_policies_choose_the_roles_that_void_a_round_and_abandon_a_table(terms: Terms, guard: Staff) -> None:
    """Harm: a casino whose licence has its cage manager void rounds cannot configure that; or security evacuates the
    floor, and no pit boss is present to abandon the tables."""
    dealer, boss = dealt()
    manager = Hand(dealer.table, floor.staff(Role.CAGE_MANAGER, "mara"))
    dealer.bets(seat1=1_000)
    assert refusal(void, manager).sentence == "A round is made void by a pit boss here, as the house's terms have it."
    voids, abandons = {"void_roles": ("cage_manager",)}, {"abandon_roles": ("pit_boss", "security")}
    terms(**voids, **abandons)
    assert refusal(void, boss).code == "not_permitted"
    void(manager)
    dealer.bets(seat1=1_000)
    abandon(Hand(dealer.table, guard), "fire")
    assert not dealer.now.round_open
    verify(dealer.table)
    for policy in (voids, abandons):
        terms(**policy)
        assert "terms had it done by others" in fault(dealer.table).what


def test_the_house_says_for_what_a_round_is_void(terms: Terms) -> None:
    """Harm: a reason that the house's rules do not know makes a round void."""
    terms(void_reasons=("misdeal", "equipment"), abandon_reasons=("fire",))
    dealer, boss = dealt()
    dealer.bets(seat1=1_000)
    assert refusal(void, boss, "dead_hand").sentence == (
        "A round is void for one of these reasons here: misdeal, equipment failure."
    )
    assert refusal(abandon, boss, "power").code == "unknown_reason"
    abandon(boss, "fire")
    assert latest_kinds(dealer.table, 4)[1] == "round voided", "an abandoned table ends its round for its own reason"
    verify(dealer.table)
    policies.forget()
    verify(dealer.table)


def test_a_void_takes_two_where_the_house_wants_it(terms: Terms, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: one pit boss makes a winning round of a friend void, alone."""
    terms(void_second_roles=("surveillance", "cage_manager"))
    dealer, boss = dealt()
    watcher = floor.staff(Role.SURVEILLANCE, "sue")
    dealer.bets(seat1=1_000)
    assert refusal(void, boss).sentence.startswith("This takes a second signature: of")
    assert refusal(void, boss, second="greta").code == "second_signature"
    void(boss, second=watcher.username)
    assert not dealer.now.round_open
    verify(dealer.table)
    dealer.bets(seat1=1_000)
    terms(void_second_roles=())
    void(boss)
    terms(void_second_roles=("surveillance",))
    monkeypatch.setattr(policies, "changes", lambda *before: policies.every_change())
    assert "signed by one person" in fault(dealer.table).what
