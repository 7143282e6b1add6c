"""Inputs at a table: one input is one event, becomes one log entry, and has one JSON form.

The actions of a game are inputs unchanged. A card is keyed without its recipient: the state of the round has it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import msgspec

from tables.games.protocol import MAIN, Bet, Choose, CloseBets, Shuffle, Struct
from tables.refusals import Refused, unreadable


class KeyCard(Struct, frozen=True, tag_field="do", tag="card"):
    """A card was turned (hand-dealt shoes). For a seat with a decision, it means that the seat took a card."""

    rank: int


class KeyStandardCard(Struct, frozen=True, tag_field="do", tag="standard_card"):
    """A standard card was turned, spelled as in a round record: "T", or "Th" where suits count."""

    card: str


class PlaceBets(Struct, frozen=True, tag_field="do", tag="bets"):
    """Several bets at once: those of the previous round, for one seat or the whole table."""

    bets: tuple[Bet, ...]


class Deal(Struct, frozen=True, tag_field="do", tag="deal"):
    """The electronic shoe deals the cards that are due, up to the next decision."""


class StartGame(Struct, frozen=True, tag_field="do", tag="start_game"):
    """The next game is dealt to these seats; without any, to all seats that can play (tables with a pot)."""

    seats: tuple[int, ...] = ()


class PaidAll(Struct, frozen=True, tag_field="do", tag="paid_all"):
    """All remaining seats have been paid or taken at the end of the round."""


class TakeOverReader(Struct, frozen=True, tag_field="do", tag="take_over_reader"):
    """The dealer keys the cards from now on, in place of the card reader."""


class GiveBackReader(Struct, frozen=True, tag_field="do", tag="give_back_reader"):
    """The card reader names the cards again."""


class SettleReader(Struct, frozen=True, tag_field="do", tag="settle_reader"):
    """Reader and dealer disagreed: which of them is right. If the dealer is, the dealer keys the cards."""

    right: Literal["reader", "dealer"]


class StartReader(Struct, frozen=True, tag_field="do", tag="start_reader"):
    """A card reader starts a session: its messages are numbered from 1 again."""

    session: str


class ReadCard(Struct, frozen=True, tag_field="do", tag="read_card"):
    """A card reader read a card, by the number of its message in its session."""

    session: str
    number: int
    card: int | str


class BuyIn(Struct, frozen=True, tag_field="do", tag="buy_in"):
    """A player puts chips in play at a seat: bought for cash, or brought to the table (tables with a pot)."""

    seat: int
    amount_cents: int
    chips: bool = False
    currency: str = ""
    """Currency of the cash, if not the casino's own. Foreign cash is refused."""
    as_shown: bool = False
    """Whether a cash buy-in is handed out as shown on the screen, in the fewest chips."""


class CashOut(Struct, frozen=True, tag_field="do", tag="cash_out"):
    """A player leaves with all chips of the seat (tables with a pot)."""

    seat: int


class TimeCharge(Struct, frozen=True, tag_field="do", tag="time_charge"):
    """Every seat pays the time charge for the half hours passed (tables with a pot)."""


class CollectCommission(Struct, frozen=True, tag_field="do", tag="collect_commission"):
    """A seat pays all its marked commission."""

    seat: int


class ForgiveCommission(Struct, frozen=True, tag_field="do", tag="forgive_commission"):
    """The marked commission of a seat is waived: the player has left, or the casino forgives it."""

    seat: int
    reason: str


class SellChips(Struct, frozen=True, omit_defaults=True, tag_field="do", tag="sell_chips"):
    """A player buys chips for cash at a table with a game against the house."""

    amount_cents: int
    chips: tuple[tuple[int, int], ...] = ()
    """(value in cents, number) of the chips handed out, if entered."""
    as_shown: bool = False
    """Whether the chips are handed out as shown on the screen, in the fewest chips. Used if ``chips`` is empty."""
    currency: str = ""
    """Currency of the cash, if not the casino's own. Foreign cash is refused."""


class UndoSale(Struct, frozen=True, tag_field="do", tag="undo_sale"):
    """Undo a mistyped sale of chips. Possible while it is the newest entry of its table."""

    sale: int
    """Sequence number of the sale's entry."""


class ChangeChips(Struct, frozen=True, tag_field="do", tag="change_chips"):
    """A player changes chips for others of the same worth: larger ones (a colour-up) or smaller ones."""

    amount_cents: int
    up: bool = False
    takes: tuple[tuple[int, int], ...] = ()
    """(value in cents, number) of the chips from the player, if entered."""
    gives: tuple[tuple[int, int], ...] = ()
    """(value in cents, number) of the chips from the rack, if entered."""
    as_shown: bool = False
    """Whether the chips from the rack are those shown on the screen. Used if ``gives`` is empty."""


class SellAtTheCage(Struct, frozen=True, omit_defaults=True, tag_field="do", tag="sell_at_the_cage"):
    """A player buys chips for cash at the cage."""

    amount_cents: int
    chips: tuple[tuple[int, int], ...] = ()
    """(value in cents, how many) that pass the counter."""
    of_series: tuple[tuple[int, str], ...] = ()
    """(value in cents, series) of the denominations whose chip series was entered."""
    currency: str = ""
    """Currency of the cash, if not the casino's own. Foreign cash is refused."""


class RedeemChips(Struct, frozen=True, omit_defaults=True, tag_field="do", tag="redeem_chips"):
    """A player has chips redeemed for cash at the cage."""

    amount_cents: int
    chips: tuple[tuple[int, int], ...] = ()
    """(value in cents, how many) that pass the counter."""
    series: str = ""
    """The chip series, if entered."""
    of_series: tuple[tuple[int, str], ...] = ()
    """(value in cents, series) of each denomination, if the chips are of several series."""
    currency: str = ""
    """Currency of the cash requested, if not the casino's own. Foreign cash is refused."""


class Paid(Struct, frozen=True, tag_field="do", tag="paid"):
    """A seat's outcome at the end of a round has been paid or taken."""

    seat: int


class TakeBack(Struct, frozen=True, tag_field="do", tag="take_back", omit_defaults=True):
    """Take back the last input of the round: an action, a payment, or the cut card coming out."""

    reopens: bool = False
    """Whether to take back the input that settled the round, despite later payments. The round resumes before it."""


class ReopenRound(Struct, frozen=True, tag_field="do", tag="reopen_round"):
    """Reopen a settled round, with a supervisor's approval: the input that settled it does not count, in spite of later
    payments."""

    second: str
    """The user name of the supervisor who approved by badge and PIN."""


class RuleOnHand(Struct, frozen=True, tag_field="do", tag="rule_on_hand"):
    """A ruling on the hand of a player who left before the decision of the seat."""

    seat: int
    ruling: str
    """One of `irregularities.RULINGS`."""
    note: str


class BeginSlip(Struct, frozen=True, tag_field="do", tag="begin_slip"):
    """The first signature on a slip: a fill or credit is requested, a rack is counted, a drop box is removed."""

    series: str
    chips: tuple[tuple[int, int], ...] = ()
    """(value in cents, number) of the chips requested or counted."""
    box: str = ""
    facts: dict[str, str] = {}
    """Further fields of the step, by the names of its ``slip_types.SlipField``s."""
    noted: tuple[tuple[int, int], ...] = ()
    """(value in cents, number) by the delivery note."""
    apart: tuple[tuple[str, int, str], ...] = ()
    """(kind, face value in cents, envelope) of questioned banknotes, which the count takes as worthless."""


class SignSlip(Struct, frozen=True, tag_field="do", tag="sign_slip"):
    """The next signature on a slip, with the result of the count at a counting step."""

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
    """A player disputes a round: the claim, the claimant and the amount at stake."""

    round: int
    """0 at a table without rounds."""
    claim: str
    claimant: str
    seat: int = 0
    """0: the whole round."""
    claim_cents: int = 0
    happened: str = ""
    """Time of the event at a table without rounds, as 2026-11-22T21:40.

    It is in the site's time zone unless it names one.
    """


class NoteDispute(Struct, frozen=True, tag_field="do", tag="note_dispute"):
    """A statement on a dispute, or evidence that was reviewed."""

    dispute: int
    heard: str
    text: str


class RuleDispute(Struct, frozen=True, tag_field="do", tag="rule_dispute"):
    """A dispute is decided."""

    dispute: int
    ruling: str
    reason: str


class CloseDispute(Struct, frozen=True, tag_field="do", tag="close_dispute"):
    """The ruling on a dispute has been carried out."""

    dispute: int
    text: str = ""


class ProposeCorrection(Struct, frozen=True, tag_field="do", tag="propose_correction"):
    """Correct a payout error that was found later. Amounts are the player's win, negative for a loss."""

    round: int
    seat: int
    handed_cents: int
    reason: str
    due_cents: int | None = None
    """The correct win; None for the one that the game engine computed."""
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
    """A dealer taps in at a table, or relieves the dealer there."""

    terminal: str | None = None
    relieves: str | None = None
    """User name of the dealer to be relieved."""
    confirmed_by: str | None = None
    """User name of the dealer or pit boss who agreed to the relief by badge and PIN."""


class SignOut(Struct, frozen=True, tag_field="do", tag="sign_out"):
    """The dealer taps out."""


class IssueSeatPage(Struct, frozen=True, tag_field="do", tag="issue_seat_page"):
    """Issue a player page to a seat (electronic shoes). Its address holds the token of this digest."""

    seat: int
    digest: str


class LoadShoe(Struct, frozen=True, tag_field="do", tag="load_shoe"):
    """A shoe with the table's number of decks was brought to the table."""


class CheckDecks(Struct, frozen=True, tag_field="do", tag="check_decks"):
    """The decks were spread in columns and counted: the number of cards of each rank."""

    counts: tuple[int, ...]


class ReadDecks(Struct, frozen=True, tag_field="do", tag="read_decks"):
    """A machine read the decks card by card: "Ah" or "A", or ranks in digits for the house's card family."""

    cards: tuple[str, ...]


class ShuffleShoe(Struct, frozen=True, tag_field="do", tag="shuffle_shoe"):
    """The whole shoe was shuffled."""


class PlaceCutCard(Struct, frozen=True, tag_field="do", tag="place_cut_card"):
    """The cut card is in its place."""


class Burn(Struct, frozen=True, tag_field="do", tag="burn", omit_defaults=True):
    """The first cards were burned; the shoe is ready."""

    turned: int = 0
    """The first card, in games that turn it to decide the number of burned cards; 0 in others."""


class CutCardOut(Struct, frozen=True, tag_field="do", tag="cut_card_out"):
    """The cut card came out: this is the last round of the shoe."""


class RetireShoe(Struct, frozen=True, tag_field="do", tag="retire_shoe"):
    """The shoe leaves the table."""


class EnterMishap(Struct, frozen=True, tag_field="do", tag="mishap", omit_defaults=True):
    """An irregularity: which of the list, the action taken, and who was called."""

    which: str
    act: str = ""
    """A card leaves the shoe: "set_aside" or "burn"; empty for none."""
    card: str = ""
    """That card, spelled as in a round record; empty if unseen."""
    called: str = ""
    note: str = ""


class VoidRound(Struct, frozen=True, tag_field="do", tag="void_round", omit_defaults=True):
    """The open round ends without a result."""

    reason: str
    note: str
    unknown: bool = False
    """Whether the contents of the shoe are unknown. It is then retired."""
    second: str = ""
    """User name of the second signatory, who signed by badge and PIN."""


class AbandonTable(Struct, frozen=True, tag_field="do", tag="abandon_table"):
    """All persons leave the table at once."""

    reason: str
    note: str


class LockRack(Struct, frozen=True, tag_field="do", tag="lock_rack"):
    """The rack is locked: no chips enter or leave it."""

    note: str


class UnlockRack(Struct, frozen=True, tag_field="do", tag="unlock_rack", omit_defaults=True):
    """The rack is unlocked again."""

    note: str
    second: str = ""
    """User name of the second signatory, who signed by badge and PIN."""


class AcceptBet(Struct, frozen=True, tag_field="do", tag="accept_bet", omit_defaults=True):
    """A bet over the maximum was accepted and is in play."""

    seat: int
    amount_cents: int
    wager: str = MAIN


class BeginBackEntry(Struct, frozen=True, tag_field="do", tag="begin_back_entry"):
    """Start back-entry: events of an outage may be entered from paper. Two persons sign."""

    reason: str
    since: datetime
    until: datetime
    note: str
    second: str
    """User name of the second signatory, who signed by badge and PIN."""


class EndBackEntry(Struct, frozen=True, tag_field="do", tag="end_back_entry"):
    """End back-entry: every paper has been entered. Two persons sign."""

    second: str


class AnnounceRound(Struct, frozen=True, tag_field="do", tag="announce_round"):
    """The next round was dealt by hand: the number of its paper, and when it was dealt."""

    number: str
    happened: datetime


class ComparePaper(Struct, frozen=True, tag_field="do", tag="compare_paper"):
    """The entries of a paper match the paper."""

    number: str


class ShowAcknowledged(Struct, frozen=True, tag_field="do", tag="show_acknowledged", omit_defaults=True):
    """A screen, card reader or witness received the acknowledgement of an entry that the log lacks."""

    seq: int
    hash: str
    words: tuple[str, ...] = ()
    by: str = ""
    """Name of the witness that reports it; empty if the author of the input does."""


class DeclareRestored(Struct, frozen=True, tag_field="do", tag="declare_restored"):
    """An older database was restored: the table waits to be confirmed."""

    reason: str


class ConfirmRestored(Struct, frozen=True, tag_field="do", tag="confirm_restored"):
    """A pit boss inspected a table after a restore and releases it."""

    note: str


GameInput = Bet | PlaceBets | CloseBets | Choose | Shuffle | KeyCard | KeyStandardCard | Deal | StartGame
SeatInput = BuyIn | CashOut | TimeCharge | CollectCommission | ForgiveCommission | SellChips | UndoSale | ChangeChips
ShoeInput = LoadShoe | CheckDecks | ReadDecks | ShuffleShoe | PlaceCutCard | Burn | CutCardOut | RetireShoe
TableInput = SignOut
ReaderInput = TakeOverReader | GiveBackReader | SettleReader
DeviceInput = StartReader | ReadCard
"""Inputs that only card readers send."""
SlipInput = BeginSlip | SignSlip | VoidSlip
"""Signatures. Each takes a badge and a PIN."""
DisputeInput = OpenDispute | NoteDispute | RuleDispute | CloseDispute
CorrectionInput = ProposeCorrection | SignCorrection | DeclineCorrection
FloorInput = VoidRound | AbandonTable | AcceptBet | LockRack | UnlockRack | ReopenRound | RuleOnHand
"""Inputs that a pit boss signs or approves."""
BackEntryInput = BeginBackEntry | EndBackEntry | AnnounceRound | ComparePaper
"""Inputs about papers of an outage."""
RestoreInput = ShowAcknowledged | DeclareRestored | ConfirmRestored
"""Inputs after a restore of an older database. None is sent: each is signed, or reported by the software itself."""
Sent = GameInput | SeatInput | Paid | PaidAll | TakeBack | ShoeInput | TableInput | EnterMishap | ReaderInput
"""Inputs that a screen or an API client can send."""
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
    """An input from JSON. Raises Refused (``bad_input``) with the place of the fault and the correct form.

    Not among them: tapping in, which names a terminal that only the server knows; player pages, whose address is
    generated on the server; and signatures on slips, which take a badge and a PIN.
    """
    try:
        entered: Input = msgspec.convert(document, Sent) if isinstance(document, dict) else _sent.decode(document)
    except msgspec.ValidationError as error:
        raise unreadable(error, "input", "/input") from None
    # Deeply nested JSON raises RecursionError: it has to be an answer to its sender, and no error of the server.
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise Refused("bad_input", "The input is not JSON.", 400) from None
    return entered


def spell(entered: Input) -> dict[str, Any]:
    """An input as JSON data, in the form that ``read`` accepts."""
    spelled: dict[str, Any] = msgspec.to_builtins(entered)
    return spelled
