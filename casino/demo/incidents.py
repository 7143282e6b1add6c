"""The irregularities of the demo's fortnight, by evening.

Evenings are counted back from the last, so that a shorter history has the latest ones.
"""

from __future__ import annotations

from typing import Final

from casino.demo.dealer import SimulatedDealer
from casino.demo.demo_site import DemoSite
from ledger import alerts, discrepancies
from ledger.models import Alert
from tables.alerts import bookmarks
from tables.disputes import corrections, register
from tables.floor.inputs import CloseDispute, NoteDispute, OpenDispute, ProposeCorrection, RuleDispute, SignCorrection
from tables.games.protocol import Payout
from tables.models import Staff, Table
from tables.training import certificates

SHORTAGE: Final = 8
CARD_COUNTER: Final = 5
DISPUTE: Final = 4
BOOKMARK: Final = 2
MISPAY: Final = 1
OPEN_DISPUTE: Final = 0
"""Evenings before the last one."""
UNREAD: Final = 1
"""Number of last evenings whose alerts are not acknowledged yet."""
MOST_ROUNDS: Final = 60
SHORT_CENTS: Final = 2_500
COUNTERS_TABLE: Final = "Rocket 1"
CERTIFIED: Final = "dora"


def counts_cards(table: Table, ago: int) -> bool:
    """Whether a card counter plays at this table on this day."""
    return table.name == COUNTERS_TABLE and ago == CARD_COUNTER


def of_the_first_morning(house: DemoSite) -> None:
    """A dealer practises a game, and is certified."""
    certify(house, house.people[CERTIFIED])


def certify(house: DemoSite, dealer: Staff) -> None:
    """A practice with every question answered right, signed by a pit boss."""
    practice = certificates.start(dealer)
    for number, question in enumerate(certificates.session(practice).questions, 1):
        certificates.answer(practice, number, question.right, by=dealer)
    certificates.certify(practice, by=house.people["bella"])


def of_the_morning(house: DemoSite, ago: int) -> None:
    """Investigate and acknowledge the cases of the evening before."""
    if ago == SHORTAGE - 1 and (shortage := discrepancies.open_ones().filter(amount_cents=-SHORT_CENTS).first()):
        boris = house.people["boris"]
        discrepancies.assign(shortage, boris.username, boris.name, by=boris.signature)
        says = "The camera shows one green chip handed out with a stack of reds; the player had left"
        discrepancies.close(shortage, says, username=boris.username, by=boris.signature)
    if ago > UNREAD:
        for alert in Alert.objects.filter(acknowledgement=None):
            alerts.acknowledge(alert, house.people["bella"].signature, "Looked at on the floor; nothing came of it")


def of_the_night(house: DemoSite, dealers: list[SimulatedDealer], ago: int) -> None:
    """Enter the disputes of players and the bookmarks of surveillance about the last rounds."""
    if ago == DISPUTE:
        _dispute(house, dealers[0], is_settled=True)
    if ago == OPEN_DISPUTE:
        _dispute(house, dealers[0], is_settled=False)
    if ago == BOOKMARK:
        table, round_ = dealers[0].table, dealers[0].stands.round
        says = "Seat looks at the shoe before each bet: compare with the shoe's audit"
        vera = house.people["vera"]
        bookmarks.mark(table, house.clock.moment, says, by=vera, round=round_.number if round_ else None)


def _dispute(house: DemoSite, dealer: SimulatedDealer, *, is_settled: bool) -> None:
    """A seat claims that it was not paid. The claim is heard, and settled or left open."""
    table, (round_, winner) = dealer.table, _won(dealer)
    claim = OpenDispute(round_, "Was not paid", "The player", seat=winner.seat, claim_cents=winner.net_cents)
    house.people.enters(table, dealer.by.username, claim)
    number = register.as_of(table.book_id, dealer_seq(dealer)).last
    house.clock.passes(120)
    heard = NoteDispute(number, "The player", "Says that the stack was left untouched")
    house.people.enters(table, "bella", heard)
    if is_settled:
        _settle(house, dealer, number, winner.seat, round_)


def _won(dealer: SimulatedDealer) -> tuple[int, Payout]:
    """The next round that a seat wins: its number and the payout."""
    for _ in range(MOST_ROUNDS):
        dealer.round()
        round_ = dealer.stands.round
        winners = [payout for payout in round_.house_payouts if payout.net_cents > 0] if round_ else []
        if round_ and winners:
            return round_.number, winners[0]
    raise RuntimeError(f"Nobody won at {dealer.table.name} in {MOST_ROUNDS} rounds")


def _settle(house: DemoSite, dealer: SimulatedDealer, number: int, seat: int, round_: int) -> None:
    table, people = dealer.table, house.people
    house.clock.passes(300)
    people.enters(table, "boris", RuleDispute(number, "player", "The camera shows no payment"))
    paid_too_little = ProposeCorrection(round_, seat, 0, "The seat was passed over", dispute=number)
    people.enters(table, "bella", paid_too_little)
    [paper] = corrections.waiting(table.book_id, dealer_seq(dealer))
    people.enters(table, "boris", SignCorrection(paper.slip))
    people.enters(table, "bella", CloseDispute(number))


def dealer_seq(dealer: SimulatedDealer) -> int:
    """The sequence number of the table's log, read again after entries by others."""
    dealer.latest = None
    return dealer.seq


def off_cents(dealer: SimulatedDealer, ago: int) -> int:
    """The variance of the rack in cents: a chip handed out by mistake, or a seat paid twice; 0 on other days."""
    dealer.latest = None
    round_ = dealer.stands.round
    if ago == SHORTAGE and dealer.table.name == COUNTERS_TABLE:
        return -SHORT_CENTS
    if ago == MISPAY and dealer.table.name == COUNTERS_TABLE and round_:
        paid = [payout.net_cents for payout in round_.house_payouts if payout.net_cents > 0]
        return -max(paid, default=SHORT_CENTS)
    return 0
