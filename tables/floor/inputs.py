"""What can be entered at a table: one input is one event, becomes one log entry, and has one JSON form.

A game's own actions are inputs as they are. A card is keyed without saying for whom: the table knows whose it is.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import msgspec

from tables.games.protocol import MAIN, Bet, Choose, CloseBets, Shuffle, Struct
from tables.refusals import Refused, sentence


class KeyCard(Struct, frozen=True, tag_field="do", tag="card"):
    """A card was turned (keyed shoes). For a seat that is to decide, it means that the seat took a card."""

    rank: int


class KeyStandardCard(Struct, frozen=True, tag_field="do", tag="standard_card"):
    """The same of a standard card, as a round record writes it: "T", or "Th" where suits are looked at."""

    card: str


class PlaceBets(Struct, frozen=True, tag_field="do", tag="bets"):
    """Several bets at once: those of the round before, of a seat or of the whole table."""

    bets: tuple[Bet, ...]


class Deal(Struct, frozen=True, tag_field="do", tag="deal"):
    """The house shoe deals the cards that are due, up to the next decision."""


class StartGame(Struct, frozen=True, tag_field="do", tag="start_game"):
    """The next game is dealt, to these seats; with none named, to all that can play (tables with a pot)."""

    seats: tuple[int, ...] = ()


class PaidAll(Struct, frozen=True, tag_field="do", tag="paid_all"):
    """Every seat that is still to be paid or taken from at the end of the round has been."""


class TakeOverReader(Struct, frozen=True, tag_field="do", tag="take_over_reader"):
    """The dealer keys the cards from here on, in place of the card reader."""


class GiveBackReader(Struct, frozen=True, tag_field="do", tag="give_back_reader"):
    """The card reader names the cards again."""


class SettleReader(Struct, frozen=True, tag_field="do", tag="settle_reader"):
    """Reader and dealer disagreed: which of them is right. With the dealer, the dealer keys the cards."""

    right: Literal["reader", "dealer"]


class StartReader(Struct, frozen=True, tag_field="do", tag="start_reader"):
    """A card reader counts its messages anew."""

    session: str


class ReadCard(Struct, frozen=True, tag_field="do", tag="read_card"):
    """A card reader read a card, by the number of its message in its session."""

    session: str
    number: int
    card: int | str


class BuyIn(Struct, frozen=True, tag_field="do", tag="buy_in"):
    """A player puts chips in play at a seat: bought for cash, or brought along (tables with a pot)."""

    seat: int
    amount_cents: int
    chips: bool = False
    currency: str = ""
    """Of the cash, where it is not the house's own: then it is refused."""
    as_shown: bool = False
    """For cash, the dealer hands out what the screen shows: the fewest chips that make it."""


class CashOut(Struct, frozen=True, tag_field="do", tag="cash_out"):
    """A player leaves with the chips that lie at the seat (tables with a pot)."""

    seat: int


class TimeCharge(Struct, frozen=True, tag_field="do", tag="time_charge"):
    """Every seat pays for the half hours that have passed (tables with a pot)."""


class CollectCommission(Struct, frozen=True, tag_field="do", tag="collect_commission"):
    """A seat pays all the commission that is marked there."""

    seat: int


class ForgiveCommission(Struct, frozen=True, tag_field="do", tag="forgive_commission"):
    """The commission that is marked at a seat will not be paid: the player has left, or the house lets it go."""

    seat: int
    reason: str


class SellChips(Struct, frozen=True, omit_defaults=True, tag_field="do", tag="sell_chips"):
    """A player buys chips for cash at a table against the house."""

    amount_cents: int
    chips: tuple[tuple[int, int], ...] = ()
    """(value in cents, how many) that are handed out, where the screen names them."""
    as_shown: bool = False
    """The dealer hands out what the screen shows: the fewest chips that make it. It stands for ``chips``."""
    currency: str = ""
    """Of the cash, where it is not the house's own: then it is refused."""


class UndoSale(Struct, frozen=True, tag_field="do", tag="undo_sale"):
    """A sale of chips was keyed wrongly: it is undone, while it is the newest entry at its table."""

    sale: int
    """Its entry."""


class ChangeChips(Struct, frozen=True, tag_field="do", tag="change_chips"):
    """A player changes chips for others of the same worth: for larger ones (a colour-up), or for smaller ones."""

    amount_cents: int
    up: bool = False
    takes: tuple[tuple[int, int], ...] = ()
    """(value in cents, how many) that the player gives, where somebody says it."""
    gives: tuple[tuple[int, int], ...] = ()
    """Those that the rack gives."""
    as_shown: bool = False
    """The rack gives what the screen shows. It stands for ``gives``."""


class SellAtTheCage(Struct, frozen=True, omit_defaults=True, tag_field="do", tag="sell_at_the_cage"):
    """A player buys chips for cash at the cage."""

    amount_cents: int
    chips: tuple[tuple[int, int], ...] = ()
    """(value in cents, how many) that pass the counter."""
    of_series: tuple[tuple[int, str], ...] = ()
    """(value in cents, series) of the kinds whose series somebody looked at."""
    currency: str = ""
    """Of the cash, where it is not the house's own: then it is refused."""


class RedeemChips(Struct, frozen=True, omit_defaults=True, tag_field="do", tag="redeem_chips"):
    """A player has chips redeemed for cash at the cage."""

    amount_cents: int
    chips: tuple[tuple[int, int], ...] = ()
    """(value in cents, how many) that pass the counter."""
    series: str = ""
    """The series of chips, where somebody looked at it."""
    of_series: tuple[tuple[int, str], ...] = ()
    """(value in cents, series) of each kind, where they are of several."""
    currency: str = ""
    """Of the cash that is asked for, where it is not the house's own: then it is refused."""


class Paid(Struct, frozen=True, tag_field="do", tag="paid"):
    """A seat's outcome at the end of a round has been paid or taken."""

    seat: int


class TakeBack(Struct, frozen=True, tag_field="do", tag="take_back", omit_defaults=True):
    """What was entered last in the round does not count: an input, a payment, or that the cut card came out."""

    reopens: bool = False
    """Whether the input that settled the round is meant, whatever was paid since: the round goes on from before it."""


class ReopenRound(Struct, frozen=True, tag_field="do", tag="reopen_round"):
    """Reopen a settled round, with a supervisor's approval: the input that settled it does not count, in spite of later
    payments."""

    second: str
    """The user name of the supervisor who approved by badge and PIN."""


class RuleOnHand(Struct, frozen=True, tag_field="do", tag="rule_on_hand"):
    """A ruling on the hand of a player who left before the decision of the seat."""

    seat: int
    ruling: str
    """Of `mishaps.RULINGS`."""
    note: str


class BeginSlip(Struct, frozen=True, tag_field="do", tag="begin_slip"):
    """The first signature on a slip: a fill or credit is asked for, a rack is counted, a drop box is removed."""

    series: str
    chips: tuple[tuple[int, int], ...] = ()
    """(value in cents, how many): what is asked for, or what was counted."""
    box: str = ""
    facts: dict[str, str] = {}
    """What else the step says, by the names of ``series.Fact``."""
    noted: tuple[tuple[int, int], ...] = ()
    """What the delivery note says."""
    apart: tuple[tuple[str, int, str], ...] = ()
    """(kind, claimed cents, envelope): notes that the count takes for worth nothing."""


class SignSlip(Struct, frozen=True, tag_field="do", tag="sign_slip"):
    """The next signature on a slip; with what was counted, where it counts."""

    slip: str
    stage: str
    chips: tuple[tuple[int, int], ...] = ()
    facts: dict[str, str] = {}
    apart: tuple[tuple[str, int, str], ...] = ()


class VoidSlip(Struct, frozen=True, tag_field="do", tag="void_slip"):
    """The first of two signatures that make a slip void."""

    slip: str
    reason: str


class OpenDispute(Struct, frozen=True, tag_field="do", tag="open_dispute"):
    """A player disputes a round: what is claimed, by whom, and how much is at stake."""

    round: int
    """0 at a table without rounds."""
    claim: str
    claimant: str
    seat: int = 0
    """0: the whole round."""
    claim_cents: int = 0
    happened: str = ""
    """When, at a table without rounds: 2026-11-22T21:40, by the house's clock or with a zone."""


class NoteDispute(Struct, frozen=True, tag_field="do", tag="note_dispute"):
    """Somebody was heard about a dispute, or something was looked at."""

    dispute: int
    heard: str
    text: str


class RuleDispute(Struct, frozen=True, tag_field="do", tag="rule_dispute"):
    """A dispute is decided."""

    dispute: int
    ruling: str
    reason: str


class CloseDispute(Struct, frozen=True, tag_field="do", tag="close_dispute"):
    """What was ruled is done."""

    dispute: int
    text: str = ""


class ProposeCorrection(Struct, frozen=True, tag_field="do", tag="propose_correction"):
    """A mispay that was found later is to be put right. Amounts are what the player won, or lost below zero."""

    round: int
    seat: int
    handed_cents: int
    reason: str
    due_cents: int | None = None
    """None: what the engine decided."""
    dispute: int | None = None
    earlier: str | None = None


class SignCorrection(Struct, frozen=True, tag_field="do", tag="sign_correction"):
    """The second signature on a correction."""

    slip: str


class DeclineCorrection(Struct, frozen=True, tag_field="do", tag="decline_correction"):
    """A correction is not signed."""

    slip: str
    reason: str


class SignIn(Struct, frozen=True, tag_field="do", tag="sign_in"):
    """A dealer takes the table, or relieves the one who stands there."""

    terminal: str | None = None
    relieves: str | None = None
    """The user name of whoever stands there."""
    confirmed_by: str | None = None
    """Who agreed to the relief by badge and PIN: the dealer who leaves, or a pit boss."""


class SignOut(Struct, frozen=True, tag_field="do", tag="sign_out"):
    """The dealer taps out."""


class IssueSeatPage(Struct, frozen=True, tag_field="do", tag="issue_seat_page"):
    """A seat gets a page of its own (house shoes), whose address holds the token of this digest."""

    seat: int
    digest: str


class LoadShoe(Struct, frozen=True, tag_field="do", tag="load_shoe"):
    """A shoe of the table's number of decks is on the table."""


class CheckDecks(Struct, frozen=True, tag_field="do", tag="check_decks"):
    """The decks were spread in ten columns and counted: how many of each rank."""

    counts: tuple[int, ...]


class ReadDecks(Struct, frozen=True, tag_field="do", tag="read_decks"):
    """A machine read the decks card by card: "Ah" or "A", or the family's ranks in digits."""

    cards: tuple[str, ...]


class ShuffleShoe(Struct, frozen=True, tag_field="do", tag="shuffle_shoe"):
    """The whole shoe was shuffled."""


class PlaceCutCard(Struct, frozen=True, tag_field="do", tag="place_cut_card"):
    """The cut card is in its place."""


class Burn(Struct, frozen=True, tag_field="do", tag="burn", omit_defaults=True):
    """The first cards were burned; the shoe is ready."""

    turned: int = 0
    """The first card, where a game turns it to see how many are burned."""


class CutCardOut(Struct, frozen=True, tag_field="do", tag="cut_card_out"):
    """The cut card came out: this is the last round of the shoe."""


class RetireShoe(Struct, frozen=True, tag_field="do", tag="retire_shoe"):
    """The shoe leaves the table."""


class EnterMishap(Struct, frozen=True, tag_field="do", tag="mishap", omit_defaults=True):
    """Something went wrong: which of the list, what was done about it, who came."""

    which: str
    act: str = ""
    """A card that leaves the shoe with it: set_aside, or burn."""
    card: str = ""
    """That card, as a round record writes it; nothing where nobody saw it."""
    called: str = ""
    note: str = ""


class VoidRound(Struct, frozen=True, tag_field="do", tag="void_round", omit_defaults=True):
    """The open round ends without a result."""

    reason: str
    note: str
    unknown: bool = False
    """Whether nobody can say any more what the shoe holds: then it is retired."""
    second: str = ""
    """The user name of whoever else signed it by badge and PIN."""


class AbandonTable(Struct, frozen=True, tag_field="do", tag="abandon_table"):
    """Everybody leaves the table at once."""

    reason: str
    note: str


class LockRack(Struct, frozen=True, tag_field="do", tag="lock_rack"):
    """The rack is locked: nothing goes into it or out of it."""

    note: str


class UnlockRack(Struct, frozen=True, tag_field="do", tag="unlock_rack", omit_defaults=True):
    """The rack is unlocked again."""

    note: str
    second: str = ""
    """The user name of whoever else signed it by badge and PIN."""


class AcceptBet(Struct, frozen=True, tag_field="do", tag="accept_bet", omit_defaults=True):
    """A bet over the maximum was accepted, and stands."""

    seat: int
    amount_cents: int
    wager: str = MAIN


class BeginBackEntry(Struct, frozen=True, tag_field="do", tag="begin_back_entry"):
    """What happened during an outage may be entered from paper: two people stand for it."""

    reason: str
    since: datetime
    until: datetime
    note: str
    second: str
    """The user name of the second, who signed by badge and PIN."""


class EndBackEntry(Struct, frozen=True, tag_field="do", tag="end_back_entry"):
    """Every paper was entered: two people stand for it."""

    second: str


class AnnounceRound(Struct, frozen=True, tag_field="do", tag="announce_round"):
    """The next round was played by hand: on which paper it stands, and when it happened."""

    number: str
    happened: datetime


class ComparePaper(Struct, frozen=True, tag_field="do", tag="compare_paper"):
    """What was entered from a paper is what stands on it."""

    number: str


class ShowAcknowledged(Struct, frozen=True, tag_field="do", tag="show_acknowledged", omit_defaults=True):
    """A screen, a reader or a witness was acknowledged an entry that the book has not."""

    seq: int
    hash: str
    words: tuple[str, ...] = ()
    by: str = ""
    """Who says so, where it is not whoever enters it: a witness."""


class DeclareRestored(Struct, frozen=True, tag_field="do", tag="declare_restored"):
    """Whoever put an older database back says so: the table waits to be confirmed."""

    reason: str


class ConfirmRestored(Struct, frozen=True, tag_field="do", tag="confirm_restored"):
    """A pit boss looked at a table after a restore, and lets it deal on."""

    note: str


GameInput = Bet | PlaceBets | CloseBets | Choose | Shuffle | KeyCard | KeyStandardCard | Deal | StartGame
SeatInput = BuyIn | CashOut | TimeCharge | CollectCommission | ForgiveCommission | SellChips | UndoSale | ChangeChips
ShoeInput = LoadShoe | CheckDecks | ReadDecks | ShuffleShoe | PlaceCutCard | Burn | CutCardOut | RetireShoe
TableInput = SignOut
ReaderInput = TakeOverReader | GiveBackReader | SettleReader
DeviceInput = StartReader | ReadCard
"""What card readers enter, and nobody else."""
SlipInput = BeginSlip | SignSlip | VoidSlip
"""Signatures: none is sent without a badge and a PIN."""
DisputeInput = OpenDispute | NoteDispute | RuleDispute | CloseDispute
CorrectionInput = ProposeCorrection | SignCorrection | DeclineCorrection
FloorInput = VoidRound | AbandonTable | AcceptBet | LockRack | UnlockRack | ReopenRound | RuleOnHand
"""Inputs that a pit boss signs or approves."""
BackEntryInput = BeginBackEntry | EndBackEntry | AnnounceRound | ComparePaper
"""What is entered about papers of an outage."""
RestoreInput = ShowAcknowledged | DeclareRestored | ConfirmRestored
"""What is entered after an older database was put back; none is sent: each is signed, or shown by the house itself."""
Sent = GameInput | SeatInput | Paid | PaidAll | TakeBack | ShoeInput | TableInput | EnterMishap | ReaderInput
"""What can be sent from a screen or to the API."""
Input = (
    Sent
    | DeviceInput
    | FloorInput
    | SlipInput
    | DisputeInput
    | CorrectionInput
    | SignIn
    | IssueSeatPage
    | BackEntryInput
    | RestoreInput
)

_sent = msgspec.json.Decoder(Sent)


def read(document: bytes | str | dict[str, Any]) -> Input:
    """An input from JSON. Raises Refused (``bad_input``) that names the place and what would be right.

    Signing in is no input that can be sent: it says on which terminal somebody stands, which only the house knows.
    Nor is the page of a seat: its address is made here; nor a signature on a slip: it takes a badge and a PIN.
    """
    try:
        entered: Input = msgspec.convert(document, Sent) if isinstance(document, dict) else _sent.decode(document)
    except msgspec.ValidationError as error:
        text, _, path = str(error).partition(" - at `$")
        place = path.rstrip("`").removeprefix(".") or "input"
        raise Refused("bad_input", sentence(f"{place}: {text[:1].lower()}{text[1:]}"), 400) from None
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise Refused("bad_input", "The input is not JSON.", 400) from None
    return entered


def spell(entered: Input) -> dict[str, Any]:
    """An input as JSON data: the form that ``read`` takes back."""
    spelled: dict[str, Any] = msgspec.to_builtins(entered)
    return spelled
