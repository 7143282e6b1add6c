"""A client of the casino's API, made from its description by `python -m casino.api_files`.

It needs Python 3.11 and nothing else. Forms are typed as they are sent and answered; money is whole cents.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping
from http.client import HTTPException
from http.cookiejar import Cookie, CookieJar
from typing import Any, Literal, NotRequired, TypedDict, Unpack
from urllib.error import HTTPError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPCookieProcessor, Request, build_opener
from uuid import uuid4

VERSION = "1.0.0"
TRIES = 3
"""Attempts in all while the site is busy or away (429, 5xx, no answer). A write has the same key each time."""


class Refused(Exception):
    """Problem details (RFC 9457): nothing was done."""

    def __init__(self, problem: Mapping[str, Any]) -> None:
        super().__init__(f"{problem.get('code')}: {problem.get('detail')}")
        self.problem = problem
        self.status = int(problem.get("status", 0))
        self.code = str(problem.get("code", ""))
        self.detail = str(problem.get("detail", ""))


class Connection:
    """How a request reaches the house: by a token, or by the session of somebody who signed in."""

    def __init__(
        self, house: str, *, token: str = "", timeout: float = 30.0, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.house, self.token, self.timeout, self._sleep = house.rstrip("/"), token, timeout, sleep
        self.cookies = CookieJar()
        self._opener = build_opener(HTTPCookieProcessor(self.cookies))

    def sign_in(self, username: str, password: str) -> None:
        """By name and password, as at the door of the screens."""
        self._opener.open(f"{self.house}/sign-in/", timeout=self.timeout).close()
        form = {"username": username, "password": password, "csrfmiddlewaretoken": self._cookie("csrftoken")}
        request = Request(f"{self.house}/sign-in/", urlencode(form).encode(), {"Referer": f"{self.house}/"})
        try:
            self._opener.open(request, timeout=self.timeout).close()
        except HTTPError as refused:
            problem = {"status": refused.code, "code": "not_signed_in", "detail": "Name or password is wrong."}
            raise Refused(problem) from None
        if not self._cookie("sessionid"):
            raise Refused({"status": 401, "code": "not_signed_in", "detail": "Name or password is wrong."})

    def keep(self, name: str, value: str) -> None:
        """Send a cookie with every request: that of an enrolled terminal, for one."""
        host = urlsplit(self.house).hostname or ""
        host = host if "." in host else f"{host}.local"
        rest: dict[str, Any] = {}
        self.cookies.set_cookie(
            Cookie(0, name, value, None, False, host, False, False, "/", True, False, None, False, None, None, rest)
        )

    def ask(self, method: str, path: str, query: Mapping[str, Any], body: Mapping[str, Any] | None) -> Any:
        """One request, sent again while the site is busy or away. Raises Refused."""
        headers = {"Accept": "application/json, application/problem+json"}
        text = None
        if body is not None:
            body = {"key": str(uuid4()), **body}
            text = json.dumps(body).encode()
            headers |= {"Content-Type": "application/json", "X-CSRFToken": self._cookie("csrftoken")}
            headers["Referer"] = f"{self.house}/"
        return json.loads(self._send(method, path, query, text, headers))

    def file(self, path: str, query: Mapping[str, Any]) -> bytes:
        """A download, whole. Raises Refused."""
        return self._send("GET", path, query, None, {"Accept": "*/*"})

    def _send(
        self, method: str, path: str, query: Mapping[str, Any], text: bytes | None, headers: dict[str, str]
    ) -> bytes:
        parameters = {name: _spelled(value) for name, value in query.items() if value is not None}
        address = f"{self.house}{path}" + (f"?{urlencode(parameters)}" if parameters else "")
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        for attempt in range(1, TRIES + 1):
            wait = 2**attempt * random.uniform(0.5, 1.0)
            try:
                with self._opener.open(Request(address, text, headers, method=method), timeout=self.timeout) as answer:
                    whole: bytes = answer.read()
                    return whole
            except HTTPError as refused:
                if (refused.code != 429 and refused.code < 500) or attempt == TRIES:
                    raise Refused(_problem(refused)) from None
                seconds = refused.headers.get("Retry-After") or ""
                wait = max(wait, float(seconds) if seconds.isdecimal() else 0.0)
            except (OSError, HTTPException):
                if attempt == TRIES:
                    raise
            self._sleep(wait)
        raise AssertionError("not reached")

    def _cookie(self, name: str) -> str:
        return next((cookie.value or "" for cookie in self.cookies if cookie.name == name), "")


def _problem(refused: HTTPError) -> dict[str, Any]:
    try:
        problem: dict[str, Any] = json.loads(refused.read())
    except ValueError:
        problem = {"status": refused.code, "code": "no_problem_details", "detail": refused.reason}
    return problem


def _spelled(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def every(ask: Callable[..., Any], *path: Any, **query: Any) -> Iterator[Any]:
    """All of a list, page by page: ``every(house.list_rounds, 1, limit=100)``."""
    while True:
        page = ask(*path, **query)
        yield from page["items"]
        if not page["next"]:
            return
        query["cursor"] = page["next"]


# --- Forms -----------------------------------------------------------------------------------------------------------



class Acknowledged(TypedDict):
    """What was recorded: it is durable."""

    entry: int
    seq: int
    again: bool



class AlertAcknowledged(TypedDict):
    """A named user acknowledged an alert."""

    alert: int



class AlertEscalated(TypedDict):
    """An alert was not acknowledged in time."""

    alert: int
    step: int
    level: int



class AlertForm(TypedDict):
    """An alert, and what it came to."""

    id: int
    at: str
    table: int | None
    kind: str
    title: str
    severity: str
    level: str
    message: str
    acknowledged_by: str | None
    acknowledged_at: str | None
    note: str | None
    repeats: int
    last_at: str
    last_message: str



class AlertRaised(TypedDict):
    """A variance was found, or a rule requires attention."""

    alert: int
    kind: str
    book: str | None



class Always(TypedDict):
    """At any time."""

    when: Literal['always']



class Approval(TypedDict):
    """The second person stands for it."""

    key: NotRequired[str | None]



class AskBet(TypedDict):
    """A seat may bet between low and high, in steps; or take its bet off when it has one."""

    kind: Literal['bet']
    seat: int
    low_cents: int
    high_cents: int
    step_cents: int
    placed_cents: NotRequired[int]
    capped: NotRequired[bool]
    seat_full: NotRequired[bool]
    step_is: NotRequired[str]
    wager: NotRequired[str]
    needs: NotRequired[str]
    opposite: NotRequired[str]



class AskCard(TypedDict):
    """A card is due at a seat, at the dealer (0) or in the middle (-1)."""

    kind: Literal['card']
    to: int
    down: NotRequired[bool]
    apart: NotRequired[bool]
    shown: NotRequired[bool]
    hand: NotRequired[int]
    barred: NotRequired[list[int]]
    lies_at: NotRequired[int]



class AskChoice(TypedDict):
    """A seat decides."""

    kind: Literal['choose']
    seat: int
    choices: list[Choice]
    names_things: NotRequired[bool]
    hand: NotRequired[int]



class AskCloseBets(TypedDict):
    """The bets may be closed."""

    kind: Literal['close_bets']



class AskShuffle(TypedDict):
    """The shoe is empty in mid-round: shuffle ``cards`` discards and burn ``burn`` of them."""

    kind: Literal['shuffle']
    cards: int
    burn: int



class Attestation(TypedDict):
    """The signatures given in addition to badge and PIN: by the terminal's key, by a passkey, or by both, over one statement."""

    terminal: str
    key: NotRequired[str]
    signature: NotRequired[str]
    passkey: NotRequired[PasskeyAnswer | None]



class Bet(TypedDict):
    """A seat's bet is placed, or replaced; 0 takes it off the layout."""

    do: Literal['bet']
    seat: int
    amount_cents: int
    wager: NotRequired[str]
    approved: NotRequired[bool]



class Board(TypedDict):
    """Everything that a screen of one table draws."""

    table: dict[str, Any]
    seq: int
    due: str
    phrase: Phrase
    is_open: bool
    dealer_name: str | None
    dealer_username: str | None
    round_number: int
    round_open: bool
    seats: list[SeatBox]
    kind: Literal['banked', 'counted', 'pot']
    banked: bool
    coins: bool
    parts: dict[str, str]
    dealer_stack: list[int]
    dealer_acting: bool
    middle: list[int]
    middle_acting: bool
    facedown: int
    pot_cents: int
    pot: list[Chips]
    button: int | None
    waiting: list[int]
    card_keys: bool
    buttons: list[Button]
    prompts: list[AskBet | AskCloseBets | AskCard | AskChoice | AskShuffle]
    outcomes: list[OutcomeLine]
    payments: list[PaymentLine]
    pay: OutcomeLine | None
    pay_after: int
    shoe: ShoeBox | None
    deck_columns: list[int]
    card_names: list[int | str]
    side_by_side: bool
    hands: list[HandBox]
    turns_burn: bool
    denominations: list[Denomination]
    min_cents: int
    max_cents: int
    cap_cents: int | None
    can_take_back: bool



class Burn(TypedDict):
    """The first cards were burned; the shoe is ready."""

    do: Literal['burn']
    turned: NotRequired[int]



class Button(TypedDict):
    """One input that can be made now."""

    label: str
    input: dict[str, Any]
    hotkey: str
    primary: NotRequired[bool]
    way: NotRequired[str]



class BuyIn(TypedDict):
    """A player puts chips in play at a seat: bought for cash, or brought to the table (tables with a pot)."""

    do: Literal['buy_in']
    seat: int
    amount_cents: int
    chips: NotRequired[bool]
    currency: NotRequired[str]
    as_shown: NotRequired[bool]



class CashOut(TypedDict):
    """A player leaves with all chips of the seat (tables with a pot)."""

    do: Literal['cash_out']
    seat: int



class ChangeChips(TypedDict):
    """A player changes chips for others of the same worth: larger ones (a colour-up) or smaller ones."""

    do: Literal['change_chips']
    amount_cents: int
    up: NotRequired[bool]
    takes: NotRequired[list[list[int]]]
    gives: NotRequired[list[list[int]]]
    as_shown: NotRequired[bool]



class ChangeForm(TypedDict):
    """One setting of a proposal, in words."""

    name: str
    before: str
    after: str



class Changes(TypedDict):
    """What is to be otherwise; what is left out stays."""

    min_cents: NotRequired[int]
    max_cents: NotRequired[int]
    bet_step_cents: NotRequired[int | None]
    cap_cents: NotRequired[int | None]
    seat_max_cents: NotRequired[int | None]
    wager_limits: NotRequired[dict[str, list[int]]]
    options: NotRequired[dict[str, Any]]
    source: NotRequired[str]
    seats: NotRequired[int]
    rake_permille: NotRequired[int]
    rake_cap_cents: NotRequired[int | None]
    time_charge_cents: NotRequired[int]
    marks_commission: NotRequired[bool]



class CheckDecks(TypedDict):
    """The decks were spread in columns and counted: the number of cards of each rank."""

    do: Literal['check_decks']
    counts: list[int]



class Chips(TypedDict):
    """A number of chips of one colour."""

    count: int
    colour: str
    value_cents: int



class ChipsRedeemed(TypedDict):
    """A player had chips redeemed for cash at the cage."""

    amount_cents: int | None



class ChipsSold(TypedDict):
    """A player bought chips for cash: at the table, or at the cage where there is none."""

    amount_cents: int | None



class Choice(TypedDict):
    """One possible choice of a seat, its present cost (minor units, or coins), and what it names."""

    name: str
    cost_cents: NotRequired[int]
    draws: NotRequired[bool]
    card: NotRequired[int | None]
    cards: NotRequired[list[int] | None]
    target: NotRequired[int | None]
    count: NotRequired[int | None]
    ordered: NotRequired[bool]



class Choose(TypedDict):
    """A seat's decision, with the card or cards, the seat and the count that it names."""

    do: Literal['choose']
    seat: int
    choice: str
    card: NotRequired[int | None]
    cards: NotRequired[list[int] | None]
    target: NotRequired[int | None]
    count: NotRequired[int | None]



class CloseBets(TypedDict):
    """'No more bets': the bets are final."""

    do: Literal['close_bets']



class CollectCommission(TypedDict):
    """A seat pays all its marked commission."""

    do: Literal['collect_commission']
    seat: int



class CommissionSettled(TypedDict):
    """Commission that was marked at a seat was collected, or will not be."""

    seat: int
    amount_cents: int
    forgiven: bool



class CorrectionDeclined(TypedDict):
    """A correction is not signed."""

    key: NotRequired[str | None]
    badge: str
    pin: str
    attested: NotRequired[Attestation | None]
    reason: str



class CorrectionForm(TypedDict):
    """A correction of a round that is over."""

    slip: str
    table: int
    table_name: str
    state: str
    round: int
    seat: int
    recorded_cents: int
    due_cents: int
    handed_cents: int
    difference_cents: int
    reason: str
    dispute: int | None
    earlier: str | None
    proposed_at: str
    proposed_by: str
    decided_at: str | None
    decided_by: str
    text: str



class CorrectionMoved(TypedDict):
    """A correction of one seat was proposed, signed or declined."""

    slip: str
    round: int
    seat: int
    state: str
    recorded_cents: int
    due_cents: int
    difference_cents: int
    dispute: int | None



class CorrectionProposed(TypedDict):
    """What was handed over, beside what the engine decided."""

    key: NotRequired[str | None]
    round: int
    seat: int
    handed_cents: int
    reason: str
    due_cents: NotRequired[int | None]
    dispute: NotRequired[int | None]
    earlier: NotRequired[str | None]



class CorrectionSigned(TypedDict):
    """The second signature on a correction."""

    key: NotRequired[str | None]
    badge: str
    pin: str
    attested: NotRequired[Attestation | None]



class CoverEnded(TypedDict):
    """Which pit to give back."""

    key: NotRequired[str | None]
    pit: str



class CoverForm(TypedDict):
    """A pit that somebody took over."""

    pit: str
    until: str
    reason: str



class CoverTaken(TypedDict):
    """Which pit to take over, until when and why."""

    key: NotRequired[str | None]
    pit: str
    until: str
    reason: str



class CutCardOut(TypedDict):
    """The cut card came out: this is the last round of the shoe."""

    do: Literal['cut_card_out']



class DayClosed(TypedDict):
    """Two people signed a day's figures: they stand for good."""

    day: str
    digest: str



class DayForm(TypedDict):
    """Where a gaming day stands."""

    day: str
    start: str
    end: str
    state: str
    digest: str | None
    signed_by: str | None
    signed_at: str | None
    closed_by: str | None
    closed_at: str | None
    open_matters: list[str]



class DayLine(TypedDict):
    """A gaming day that was closed."""

    day: str
    seq: int
    proposed_by: str
    closed_by: str
    closed_at: str



class DaySealed(TypedDict):
    """A day's entries were sealed by the house's key."""

    day: str
    root: str



class DaySigned(TypedDict):
    """A signature under a day's figures."""

    key: NotRequired[str | None]
    badge: str
    pin: str
    attested: NotRequired[Attestation | None]
    digest: NotRequired[str]



class Deal(TypedDict):
    """The electronic shoe deals the cards that are due, up to the next decision."""

    do: Literal['deal']



class DealerSignedIn(TypedDict):
    """A dealer took the table, or relieved the one who stood there."""

    username: str
    name: str
    relieves: str | None



class DealerSignedOut(TypedDict):
    """The dealer tapped out."""

    username: str
    name: str



class Denomination(TypedDict):
    """A chip denomination."""

    value_cents: int
    name: str



class DiscrepancyClosed(TypedDict):
    """A person not involved in a variance recorded its finding."""

    discrepancy: int



class DiscrepancyOpened(TypedDict):
    """A count differs from the transfers."""

    discrepancy: int
    kind: str
    level: int
    book: str



class DisputeDone(TypedDict):
    """What was ruled is done."""

    key: NotRequired[str | None]
    text: NotRequired[str]



class DisputeForm(TypedDict):
    """A dispute with everything that was written about it."""

    table: int
    table_name: str
    number: int
    round: int
    seat: int
    claimant: str
    claim: str
    claim_cents: int
    reportable: bool
    state: str
    ruling: str | None
    reason: str | None
    ruled_by: str | None
    opened_at: str
    closed_at: str | None
    last_entry: int
    last_hash: str
    record_hash: str | None
    words: list[DisputeWord]
    corrections: list[str]



class DisputeLine(TypedDict):
    """A dispute in a list."""

    table: int
    table_name: str
    number: int
    round: int
    seat: int
    claimant: str
    claim: str
    claim_cents: int
    state: str
    ruling: str | None
    opened_at: str | None



class DisputeMoved(TypedDict):
    """A dispute was opened, heard, ruled on or closed."""

    dispute: int
    round: int
    seat: int
    state: str
    claim_cents: int
    ruling: str | None



class DisputeNoted(TypedDict):
    """Somebody was heard, or something was looked at."""

    key: NotRequired[str | None]
    heard: str
    text: str



class DisputeOpened(TypedDict):
    """What is claimed, by whom, and how much is at stake."""

    key: NotRequired[str | None]
    round: NotRequired[int]
    claim: str
    claimant: str
    seat: NotRequired[int]
    claim_cents: NotRequired[int]
    happened: NotRequired[str]



class DisputeRuled(TypedDict):
    """A ruling and its reason."""

    key: NotRequired[str | None]
    ruling: str
    reason: str



class DisputeWord(TypedDict):
    """Something that was written about a dispute."""

    seq: int
    at: str
    by: str
    kind: str
    heard: str
    text: str



class Ending(TypedDict):
    """Why it comes to nothing."""

    key: NotRequired[str | None]
    reason: str



class EnterMishap(TypedDict):
    """An irregularity: which of the list, the action taken, and who was called."""

    do: Literal['mishap']
    which: str
    act: NotRequired[str]
    card: NotRequired[str]
    called: NotRequired[str]
    note: NotRequired[str]



class Entered(TypedDict):
    """An input, the key that makes it one input however often it is sent, and the state it was entered on."""

    key: NotRequired[str | None]
    expected_seq: int
    input: Bet | PlaceBets | CloseBets | Choose | Shuffle | KeyCard | KeyStandardCard | Deal | StartGame | BuyIn | CashOut | TimeCharge | CollectCommission | ForgiveCommission | SellChips | UndoSale | ChangeChips | Paid | PaidAll | TakeBack | LoadShoe | CheckDecks | ReadDecks | ShuffleShoe | PlaceCutCard | Burn | CutCardOut | RetireShoe | SignOut | EnterMishap | TakeOverReader | GiveBackReader | SettleReader



class EntryForm(TypedDict):
    """An entry of the log with its words: those that the log's own page shows."""

    table: int | None
    seq: int
    at: str
    by: str
    subject: str
    kind: str
    round: int | None
    says: str
    transfers: int
    hash: str



class EntryLine(TypedDict):
    """One entry of the log, without what it says."""

    seq: int
    at: str
    subject: str
    kind: str
    by: str
    prev_hash: str | None
    hash: str



class EntryName(TypedDict):
    """The log entry behind an event."""

    book: str
    seq: int



class Envelope(TypedDict):
    """One event."""

    id: str
    cursor: str
    type: Literal['alert.acknowledged', 'alert.escalated', 'alert.raised', 'chips.redeemed', 'chips.sale_undone', 'chips.sold', 'commission.settled', 'correction.moved', 'day.closed', 'day.sealed', 'dealer.signed_in', 'dealer.signed_out', 'discrepancy.closed', 'discrepancy.opened', 'dispute.moved', 'limit_plan.set', 'limits.announced', 'mishap.entered', 'pit.covered', 'post.set', 'proposal.commented', 'proposal.made', 'proposal.moved', 'rack.locked', 'rack.unlocked', 'reader.given_back', 'reader.stopped', 'reader.taken_over', 'round.opened', 'round.reopened', 'round.settled', 'round.voided', 'seat.bought_in', 'seat.cashed_out', 'seat.time_charged', 'slip.signed', 'staff.locked_out', 'staff.signed_in', 'staff.signed_out', 'table.abandoned', 'table.added', 'table.closed', 'table.opened', 'table.retired', 'table.set']
    version: int
    at: str
    table: TableName | None
    by: str
    entry: EntryName
    data: AlertAcknowledged | AlertEscalated | AlertRaised | ChipsRedeemed | SaleUndone | ChipsSold | CommissionSettled | CorrectionMoved | DayClosed | DaySealed | DealerSignedIn | DealerSignedOut | DiscrepancyClosed | DiscrepancyOpened | DisputeMoved | LimitPlanMade | LimitsAnnouncedToPlayers | MishapEntered | PitCovered | PostSet | ProposalCommented | ProposalMade | ProposalMoved | RackLocked | RackUnlocked | ReaderGivenBack | ReaderStopped | ReaderTakenOver | RoundOpened | RoundReopened | RoundSettled | RoundVoided | SeatBoughtIn | SeatCashedOut | TimeCharged | SlipStepSigned | StaffLockedOut | StaffSignedIn | StaffSignedOut | TableAbandoned | TableAdded | TableClosed | TableOpened | TableRetired | TableSet



class ExportAsked(TypedDict):
    """What is asked for: a bundle of a day is an `export`."""

    key: NotRequired[str | None]
    deed: Literal['export', 'keys', 'verify']
    day: NotRequired[str | None]



class ExportForm(TypedDict):
    """A proof or a bundle that somebody asked the worker for."""

    id: int
    deed: str
    day: str | None
    asked_at: str
    asked_by: str
    state: str
    reached: str
    lines: list[str]



class Feed(TypedDict):
    """Consecutive events."""

    events: list[Envelope]
    cursor: str
    more: bool



class FiguresForm(TypedDict):
    """The figures of a span."""

    day: str
    span: str
    parts: list[FiguresPart]
    unseen: list[str]



class FiguresLine(TypedDict):
    """What one table, or several together, did in a span."""

    name: str
    game: str
    opener_cents: int | None
    opener_is: str
    fills_cents: int
    credits_cents: int
    between_cents: int
    closer_cents: int | None
    closer_is: str
    drop_cents: int
    drop_is: str
    corrections_cents: int
    win_cents: int
    hold_permille: int | None
    handle_cents: int
    theoretical_cents: int | None
    audited_cents: int
    rounds: int
    open_seconds: int



class FiguresPart(TypedDict):
    """One stretch of time: a shift, or the whole span."""

    name: str
    start: str
    end: str
    tables: list[FiguresLine]
    games: list[FiguresLine]
    together: FiguresLine



class ForgiveCommission(TypedDict):
    """The marked commission of a seat is waived: the player has left, or the casino forgives it."""

    do: Literal['forgive_commission']
    seat: int
    reason: str



class GiveBackReader(TypedDict):
    """The card reader names the cards again."""

    do: Literal['give_back_reader']



class HandBox(TypedDict):
    """One hand of standard cards on the layout."""

    number: int
    name: str
    cards: list[str]
    facedown: int
    says: str
    state: str
    acting: bool
    place: int
    cents: NotRequired[int]
    is_doubled: NotRequired[bool]
    outcome: NotRequired[str]



class HoldingsForm(TypedDict):
    """What the house holds, in cents; null for a place that people like the caller may count."""

    vault: int | None
    cage: int | None
    bank: int | None
    vault_cash: int | None
    depositary: int | None
    tables: int | None
    outstanding: int | None
    on_the_way: int | None



class Hours(TypedDict):
    """A schedule for weekdays, from one wall-clock time to another."""

    when: Literal['hours']
    weekdays: list[int]
    starts: str
    ends: str
    zone: str



class KeyCard(TypedDict):
    """A card was turned (hand-dealt shoes)."""

    do: Literal['card']
    rank: int



class KeyStandardCard(TypedDict):
    """A standard card was turned, spelled as in a round record: 'T', or 'Th' where suits count."""

    do: Literal['standard_card']
    card: str



class LayerForm(TypedDict):
    """Where a limit comes from."""

    limit: str
    value: int | list[int]
    why: str



class LimitPlanMade(TypedDict):
    """A version of a limit plan was set, or retired."""

    name: str
    plan_version: int
    scope: str
    of_what: str
    effective: str
    values: dict[str, Any]
    retired: bool
    proposal: int | None



class LimitsAnnouncedToPlayers(TypedDict):
    """The players of a table are told what will be raised, and from when; with nothing to be raised, that no notice stands any more."""

    least: dict[str, int]
    effective: str
    why: str
    keeps_seated: bool



class LimitsForm(TypedDict):
    """The limits of a table now, why, and what changes next."""

    table: int
    name: str
    in_force: dict[str, int | list[int]]
    planned: dict[str, int | list[int]]
    waits: list[str]
    layers: list[LayerForm]
    next_at: str | None
    next_limits: dict[str, int | list[int]]



class LoadShoe(TypedDict):
    """A shoe with the table's number of decks was brought to the table."""

    do: Literal['load_shoe']



class MishapEntered(TypedDict):
    """Something went wrong at the table; what was done about it has events of its own."""

    which: str



class NoteApart(TypedDict):
    """A note that a count takes for worth nothing."""

    kind: str
    claimed_cents: int
    envelope: str



class NoteTaken(TypedDict):
    """Taking note of alerts, with one word about them all."""

    key: NotRequired[str | None]
    alerts: list[int]
    note: str



class Occasion(TypedDict):
    """From one moment to another: a holiday, a tournament."""

    when: Literal['event']
    starts: str
    ends: str



class OnDuty(TypedDict):
    """Somebody who deals."""

    table: int
    table_name: str
    username: str
    name: str
    since: str | None



class OutcomeLine(TypedDict):
    """Result of a seat, and the dealer's action for it."""

    seat: int
    outcome: str
    card: int | None
    net_cents: int
    why: str
    do: NotRequired[str]
    hands: NotRequired[str]
    take: NotRequired[list[Chips]]
    give_back: NotRequired[list[Chips]]
    pay: NotRequired[list[Chips]]
    wagers: NotRequired[list[WagerLine]]



class PageAlertForm(TypedDict):
    """A part of a list."""

    items: list[AlertForm]
    next: str | None



class PageCorrectionForm(TypedDict):
    """A part of a list."""

    items: list[CorrectionForm]
    next: str | None



class PageDayLine(TypedDict):
    """A part of a list."""

    items: list[DayLine]
    next: str | None



class PageDisputeLine(TypedDict):
    """A part of a list."""

    items: list[DisputeLine]
    next: str | None



class PageEntryForm(TypedDict):
    """A part of a list."""

    items: list[EntryForm]
    next: str | None



class PageExportForm(TypedDict):
    """A part of a list."""

    items: list[ExportForm]
    next: str | None



class PageOnDuty(TypedDict):
    """A part of a list."""

    items: list[OnDuty]
    next: str | None



class PagePlanForm(TypedDict):
    """A part of a list."""

    items: list[PlanForm]
    next: str | None



class PageProposalForm(TypedDict):
    """A part of a list."""

    items: list[ProposalForm]
    next: str | None



class PageRoundSummary(TypedDict):
    """A part of a list."""

    items: list[RoundSummary]
    next: str | None



class PageSlipForm(TypedDict):
    """A part of a list."""

    items: list[SlipForm]
    next: str | None



class PageTableLine(TypedDict):
    """A part of a list."""

    items: list[TableLine]
    next: str | None



class Paid(TypedDict):
    """A seat's outcome at the end of a round has been paid or taken."""

    do: Literal['paid']
    seat: int



class PaidAll(TypedDict):
    """All remaining seats have been paid or taken at the end of the round."""

    do: Literal['paid_all']



class Paper(TypedDict):
    """The paper of an outage that something is entered from."""

    number: str
    happened: str



class PasskeyAnswer(TypedDict):
    """The signature of a passkey over the SHA-256 of a statement."""

    credential: str
    authenticator: str
    client: str
    signature: str



class PaymentLine(TypedDict):
    """Chips that go from one place to another now, in words and in chips."""

    says: str
    each_cents: int
    each: list[Chips]



class Phrase(TypedDict):
    """A prompt in words: the dealer's action, the dealer's phrase, and the rule behind it."""

    do: str
    say: str
    rule: str



class PitCovered(TypedDict):
    """A person took over a pit until a moment, or gave it back."""

    username: str
    pit: str
    until: str



class PlaceBets(TypedDict):
    """Several bets at once: those of the previous round, for one seat or the whole table."""

    do: Literal['bets']
    bets: list[Bet]



class PlaceCutCard(TypedDict):
    """The cut card is in its place."""

    do: Literal['place_cut_card']



class PlanForm(TypedDict):
    """A version of a limit plan."""

    name: str
    version: int
    seq: int
    scope: str
    of: str
    schedule: Always | Hours | Occasion
    values: dict[str, int | list[int]]
    note: str
    takes: str
    keeps_seated: bool
    retired: bool
    effective: str
    by: str
    at: str



class PlanProposed(TypedDict):
    """The same as a proposal, with the words that whoever approves it reads."""

    key: NotRequired[str | None]
    expected_version: int
    name: str
    scope: Literal['game', 'house', 'pit', 'table']
    of: NotRequired[str]
    schedule: Always | Hours | Occasion
    values: dict[str, int | list[int]]
    note: NotRequired[str]
    takes: NotRequired[Literal['round', 'shoe']]
    keeps_seated: NotRequired[bool]
    retired: NotRequired[bool]
    effective: NotRequired[str | None]
    comment: str



class PlanSet(TypedDict):
    """The next version of a limit plan, upon the one that was seen."""

    key: NotRequired[str | None]
    expected_version: int
    name: str
    scope: Literal['game', 'house', 'pit', 'table']
    of: NotRequired[str]
    schedule: Always | Hours | Occasion
    values: dict[str, int | list[int]]
    note: NotRequired[str]
    takes: NotRequired[Literal['round', 'shoe']]
    keeps_seated: NotRequired[bool]
    retired: NotRequired[bool]
    effective: NotRequired[str | None]
    comment: NotRequired[str]



class PostForm(TypedDict):
    """A post as it was set."""

    username: str
    pits: list[str]
    whole_floor: bool
    effective: str | None
    entry: int



class PostSet(TypedDict):
    """A person was assigned these pits from a moment on."""

    username: str
    pits: list[str]
    whole_floor: bool
    effective: str



class PostWanted(TypedDict):
    """Who is to run which pits."""

    key: NotRequired[str | None]
    username: str
    pits: NotRequired[list[str]]
    whole_floor: NotRequired[bool]
    effective: NotRequired[str | None]
    comment: NotRequired[str]



class PostsForm(TypedDict):
    """Who runs which pit now."""

    runners: list[RunnerForm]



class Problem(TypedDict):
    """Why nothing was done."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    code: str



class ProposalCommented(TypedDict):
    """A comment on a pending proposal."""

    number: int
    username: str
    name: str
    text: str



class ProposalForm(TypedDict):
    """What somebody proposed, and what became of it."""

    number: int
    matter: str
    about: str
    title: str
    before: dict[str, Any]
    after: dict[str, Any]
    changes: list[ChangeForm]
    comment: str
    effective: str | None
    expires: str
    proposed_by: str
    proposed_at: str
    status: str
    outcome: str | None
    stale: str



class ProposalMade(TypedDict):
    """A change was proposed."""

    number: int
    matter: str
    about_what: str
    username: str
    expires: str
    effective: str | None
    waits_for: list[str]



class ProposalMoved(TypedDict):
    """A proposal waits no longer, or comes into force."""

    number: int
    state: str



class RackLocked(TypedDict):
    """The rack is locked: no chips move into or out of it, and no cards are dealt."""

    abandoned: bool



class RackUnlocked(TypedDict):
    """The rack is in use again."""

    pass



class ReadDecks(TypedDict):
    """A machine read the decks card by card: 'Ah' or 'A', or ranks in digits for the house's card family."""

    do: Literal['read_decks']
    cards: list[str]



class ReaderGivenBack(TypedDict):
    """The reader names the cards again."""

    pass



class ReaderMessage(TypedDict):
    """What a reader says: number 0 begins a session; each further number names one card."""

    session: str
    number: int
    card: NotRequired[int | str | None]



class ReaderState(TypedDict):
    """How the table stands for its reader."""

    due: int
    state: str
    card_due: bool
    may_draw: NotRequired[bool]
    shuffle: NotRequired[int]
    decks: NotRequired[int]
    pack: NotRequired[str]
    burned: NotRequired[int]
    again: NotRequired[bool]



class ReaderStopped(TypedDict):
    """Reader and dealer disagree, or a card was read that cannot be: nothing goes on until it is settled."""

    pass



class ReaderTakenOver(TypedDict):
    """The dealer keys the cards from here on."""

    pass



class RetireShoe(TypedDict):
    """The shoe leaves the table."""

    do: Literal['retire_shoe']



class RoundForm(TypedDict):
    """A round as a ``round-record/1`` document, and the stretch of the table's log that proves it."""

    table: str
    round: int
    complete: bool
    record: dict[str, Any]
    entries: list[EntryLine]



class RoundOpened(TypedDict):
    """A round began with its first bet; a game for a pot with its start."""

    round: int
    game: str
    shoe: int



class RoundReopened(TypedDict):
    """What had settled a round was taken back: its result does not count, and another follows."""

    round: int
    corrects: int



class RoundSettled(TypedDict):
    """A round ended, and this is what became of it."""

    round: int
    game: str
    opened_at: str
    seats: list[SeatResult]
    house_net_cents: int



class RoundSummary(TypedDict):
    """One round in a list."""

    number: int
    first_seq: int
    last_seq: int
    began: str | None
    ended: str | None
    dealers: list[str]
    shoe: int
    seats: list[int]
    staked_cents: int
    house_net_cents: int | None
    taken_back: int
    refused: int
    voided: str
    fault: str | None



class RoundVoided(TypedDict):
    """A round ended without a result: all bets went back."""

    round: int
    reason: str



class RunnerForm(TypedDict):
    """Somebody who runs the floor, and what they run."""

    username: str
    name: str
    whole_floor: bool
    pits: list[str]
    covers: list[CoverForm]
    entry: int



class SaleUndone(TypedDict):
    """A sale of chips was keyed wrongly: it does not count."""

    amount_cents: int
    corrects: int



class SeatBoughtIn(TypedDict):
    """A player put chips in play at a seat: bought for cash, or brought along."""

    seat: int
    amount_cents: int
    cash: bool



class SeatBox(TypedDict):
    """One seat of the layout: what this viewer may see of it, and the entries for it."""

    seat: int
    state: str
    bet_cents: int
    bet: list[Chips]
    stack: list[int]
    acting: bool
    outcome: OutcomeLine | None
    ask: NotRequired[AskBet | None]
    last_bet_cents: NotRequired[int]
    hand_size: NotRequired[int]
    kept: NotRequired[list[int]]
    score: NotRequired[int | None]
    columns: NotRequired[list[list[Any]]]
    chips_cents: NotRequired[int]
    chips: NotRequired[list[Chips]]
    is_all_in: NotRequired[bool]
    has_chosen: NotRequired[bool]
    may_play: NotRequired[bool]
    plays: NotRequired[bool]
    spots: NotRequired[list[SpotBox]]
    hands: NotRequired[list[HandBox]]
    marked_cents: NotRequired[int]



class SeatCashedOut(TypedDict):
    """A player left with the chips that lay at the seat."""

    seat: int
    amount_cents: int



class SeatResult(TypedDict):
    """What became of one seat."""

    seat: int
    staked_cents: int
    returned_cents: int
    outcome: str



class SellChips(TypedDict):
    """A player buys chips for cash at a table with a game against the house."""

    do: Literal['sell_chips']
    amount_cents: int
    chips: NotRequired[list[list[int]]]
    as_shown: NotRequired[bool]
    currency: NotRequired[str]



class SettingsChanged(TypedDict):
    """Other settings of a table, upon the version that they were read as."""

    key: NotRequired[str | None]
    expected: str
    changes: Changes
    takes: NotRequired[Literal['round', 'shoe']]
    comment: NotRequired[str]



class SettingsForm(TypedDict):
    """Everything that is set about a table, and the version that a change of it names."""

    table: int
    name: str
    version: str
    game: str
    options: dict[str, Any]
    seats: int
    source: str
    unit_cents: int
    min_cents: int
    max_cents: int
    bet_step_cents: int | None
    cap_cents: int | None
    seat_max_cents: int | None
    wager_limits: dict[str, list[int]]
    denominations: list[int]
    rake_permille: int
    rake_cap_cents: int | None
    time_charge_cents: int
    marks_commission: bool



class SettingsProposed(TypedDict):
    """The same as a proposal, with the words that whoever approves it reads."""

    key: NotRequired[str | None]
    expected: str
    changes: Changes
    takes: NotRequired[Literal['round', 'shoe']]
    comment: str
    effective: NotRequired[str | None]



class SettleReader(TypedDict):
    """Reader and dealer disagreed: which of them is right."""

    do: Literal['settle_reader']
    right: Literal['dealer', 'reader']



class ShoeBox(TypedDict):
    """The shoe, as everyone may see it: how deep it is dealt, never which cards are left."""

    number: int
    source: str
    stage: str
    decks: int
    size: int
    cards_left: int
    cut_at: int
    cut_out: bool
    commitment: str | None



class Shuffle(TypedDict):
    """The shoe ran out in mid-round: the discards were shuffled, and the burn repeated."""

    do: Literal['shuffle']



class ShuffleShoe(TypedDict):
    """The whole shoe was shuffled."""

    do: Literal['shuffle_shoe']



class SignOut(TypedDict):
    """The dealer taps out."""

    do: Literal['sign_out']



class SlipBegun(TypedDict):
    """A new slip with its first signature."""

    key: NotRequired[str | None]
    badge: str
    pin: str
    attested: NotRequired[Attestation | None]
    chips: NotRequired[list[list[Any]]]
    facts: NotRequired[dict[str, str]]
    apart: NotRequired[list[NoteApart]]
    paper: NotRequired[Paper | None]
    table: int | None
    series: str
    box: NotRequired[str]
    noted: NotRequired[list[list[Any]]]



class SlipForm(TypedDict):
    """A slip."""

    name: str
    series: str
    title: str
    table: int | None
    where: str
    state: str
    due: str | None
    chips: list[list[int]]
    total_cents: int
    expected_cents: int | None
    variance_cents: int | None
    box: str
    reason: str
    facts: dict[str, str]
    steps: list[SlipStep]



class SlipStep(TypedDict):
    """A step of a slip."""

    stage: str
    says: str
    roles: list[str]
    counts: bool
    asks: list[str]
    signed_by: str | None
    role: str | None
    at: str | None
    hash: str | None



class SlipStepSigned(TypedDict):
    """One step of a slip was signed."""

    slip: str
    series: str
    step: str
    username: str
    role: str
    state: str
    amount_cents: int | None



class SlipVoided(TypedDict):
    """The first of two signatures that make a slip void."""

    key: NotRequired[str | None]
    badge: str
    pin: str
    attested: NotRequired[Attestation | None]
    reason: str
    paper: NotRequired[Paper | None]



class SpotBox(TypedDict):
    """One wager of a seat: the chips there, and the permitted bets."""

    wager: str
    title: str
    cents: int
    chips: list[Chips]
    outcome: NotRequired[str]
    ask: NotRequired[AskBet | None]
    last_cents: NotRequired[int]
    is_on_hands: NotRequired[bool]



class StaffLockedOut(TypedDict):
    """A staff member was locked out after too many wrong secrets."""

    username: str



class StaffSignedIn(TypedDict):
    """A staff member signed in."""

    username: str



class StaffSignedOut(TypedDict):
    """A staff member signed out, or was relieved."""

    username: str



class StartGame(TypedDict):
    """The next game is dealt to these seats; without any, to all seats that can play (tables with a pot)."""

    do: Literal['start_game']
    seats: NotRequired[list[int]]



class StepSigned(TypedDict):
    """The signature of the step that is due; with what was counted, where it counts."""

    key: NotRequired[str | None]
    badge: str
    pin: str
    attested: NotRequired[Attestation | None]
    chips: NotRequired[list[list[Any]]]
    facts: NotRequired[dict[str, str]]
    apart: NotRequired[list[NoteApart]]
    paper: NotRequired[Paper | None]
    stage: str



class TableAbandoned(TypedDict):
    """Everybody left the table at once."""

    reason: str



class TableAdded(TypedDict):
    """There is another table."""

    name: str



class TableClosed(TypedDict):
    """A table closed with what two people counted in its rack."""

    slip: str
    rack_cents: int



class TableLine(TypedDict):
    """One table in a list."""

    id: int
    name: str
    game: str
    seats: int
    source: str
    seq: int
    is_open: bool
    dealer: str | None
    round: int
    round_open: bool



class TableName(TypedDict):
    """A table by the id that API addresses have, and by name."""

    id: int
    name: str



class TableOpened(TypedDict):
    """A table opened with what two people counted in its rack."""

    slip: str
    rack_cents: int



class TableRetired(TypedDict):
    """A table is used no more."""

    pass



class TableSet(TypedDict):
    """A table's limits or options are others from its next round on: of what changed, before and after."""

    before: dict[str, Any]
    after: dict[str, Any]
    proposal: int | None



class TakeBack(TypedDict):
    """Take back the last input of the round: an action, a payment, or the cut card coming out."""

    do: Literal['take_back']
    reopens: NotRequired[bool]



class TakeOverReader(TypedDict):
    """The dealer keys the cards from now on, in place of the card reader."""

    do: Literal['take_over_reader']



class Taken(TypedDict):
    """What became of them."""

    acknowledged: list[int]
    before: list[int]



class TimeCharge(TypedDict):
    """Every seat pays the time charge for the half hours passed (tables with a pot)."""

    do: Literal['time_charge']



class TimeCharged(TypedDict):
    """Every seat paid for the half hours that had passed."""

    periods: int
    each_cents: int



class UndoSale(TypedDict):
    """Undo a mistyped sale of chips."""

    do: Literal['undo_sale']
    sale: int



class WagerLine(TypedDict):
    """Result of one wager."""

    title: str
    outcome: str
    net_cents: int
    why: str
    commission: str



# --- Operations ------------------------------------------------------------------------------------------------------


class Casino(Connection):
    """Every operation of the API, by its name."""

    def list_alerts(self, *, cursor: str | None = None, limit: int | None = None, state: Literal['acknowledged', 'all', 'open'] | None = None, severity: Literal['', 'attention', 'notice', 'urgent'] | None = None, kind: str | None = None, table: int | None = None, hearer: str | None = None, text: str | None = None) -> PageAlertForm:
        """Alerts."""
        answer: Any = self.ask("GET", "/api/alerts/", {"cursor": cursor, "limit": limit, "state": state, "severity": severity, "kind": kind, "table": table, "hearer": hearer, "text": text}, None)
        return answer  # type: ignore[no-any-return]

    def acknowledge_alerts(self, **body: Unpack[NoteTaken]) -> Taken:
        """Take note of alerts."""
        answer: Any = self.ask("POST", "/api/alerts/acknowledgements/", {}, dict(body))
        return answer  # type: ignore[no-any-return]

    def list_corrections(self, *, cursor: str | None = None, limit: int | None = None, state: Literal['', 'declined', 'proposed', 'signed'] | None = None) -> PageCorrectionForm:
        """Corrections."""
        answer: Any = self.ask("GET", "/api/corrections/", {"cursor": cursor, "limit": limit, "state": state}, None)
        return answer  # type: ignore[no-any-return]

    def take_over_pit(self, **body: Unpack[CoverTaken]) -> CoverForm:
        """Take a pit over."""
        answer: Any = self.ask("POST", "/api/covers/", {}, dict(body))
        return answer  # type: ignore[no-any-return]

    def give_back_pit(self, **body: Unpack[CoverEnded]) -> CoverForm:
        """Give a pit back."""
        answer: Any = self.ask("POST", "/api/covers/ends/", {}, dict(body))
        return answer  # type: ignore[no-any-return]

    def list_days(self, *, cursor: str | None = None, limit: int | None = None) -> PageDayLine:
        """Closed gaming days."""
        answer: Any = self.ask("GET", "/api/days/", {"cursor": cursor, "limit": limit}, None)
        return answer  # type: ignore[no-any-return]

    def read_day(self, day: str) -> DayForm:
        """One gaming day."""
        answer: Any = self.ask("GET", f"/api/days/{quote(str(day), safe='')}/", {}, None)
        return answer  # type: ignore[no-any-return]

    def download_bundle(self, day: str) -> bytes:
        """The bundle of a sealed day."""
        return self.file(f"/api/days/{quote(str(day), safe='')}/bundle/", {})

    def sign_day(self, day: str, **body: Unpack[DaySigned]) -> DayForm:
        """Sign a day's figures."""
        answer: Any = self.ask("POST", f"/api/days/{quote(str(day), safe='')}/signatures/", {}, dict(body))
        return answer  # type: ignore[no-any-return]

    def list_disputes(self, *, cursor: str | None = None, limit: int | None = None, state: Literal['closed', 'open'] | None = None) -> PageDisputeLine:
        """Disputes."""
        answer: Any = self.ask("GET", "/api/disputes/", {"cursor": cursor, "limit": limit, "state": state}, None)
        return answer  # type: ignore[no-any-return]

    def read_events(self, *, cursor: str | None = None, limit: int | None = None, kinds: str | None = None, table: int | None = None, wait: int | None = None) -> Feed:
        """What happened, in one order."""
        answer: Any = self.ask("GET", "/api/events/", {"cursor": cursor, "limit": limit, "kinds": kinds, "table": table, "wait": wait}, None)
        return answer  # type: ignore[no-any-return]

    def list_exports(self, *, cursor: str | None = None, limit: int | None = None) -> PageExportForm:
        """Proofs and bundles."""
        answer: Any = self.ask("GET", "/api/exports/", {"cursor": cursor, "limit": limit}, None)
        return answer  # type: ignore[no-any-return]

    def start_export(self, **body: Unpack[ExportAsked]) -> ExportForm:
        """Ask for a proof or a bundle."""
        answer: Any = self.ask("POST", "/api/exports/", {}, dict(body))
        return answer  # type: ignore[no-any-return]

    def read_export(self, number: int) -> ExportForm:
        """One proof or bundle."""
        answer: Any = self.ask("GET", f"/api/exports/{quote(str(number), safe='')}/", {}, None)
        return answer  # type: ignore[no-any-return]

    def read_figures(self, *, day: str | None = None, span: Literal['day', 'month', 'shifts', 'year'] | None = None, table: int | None = None, pit: str | None = None) -> FiguresForm:
        """What the tables won."""
        answer: Any = self.ask("GET", "/api/figures/", {"day": day, "span": span, "table": table, "pit": pit}, None)
        return answer  # type: ignore[no-any-return]

    def read_holdings(self) -> HoldingsForm:
        """What the house holds."""
        answer: Any = self.ask("GET", "/api/house/holdings/", {}, None)
        return answer  # type: ignore[no-any-return]

    def list_limit_plans(self, *, cursor: str | None = None, limit: int | None = None, name: str | None = None) -> PagePlanForm:
        """Limit plans, version by version."""
        answer: Any = self.ask("GET", "/api/limit-plans/", {"cursor": cursor, "limit": limit, "name": name}, None)
        return answer  # type: ignore[no-any-return]

    def set_limit_plan(self, **body: Unpack[PlanSet]) -> PlanForm | ProposalForm:
        """Set the next version of a limit plan."""
        answer: Any = self.ask("POST", "/api/limit-plans/", {}, dict(body))
        return answer  # type: ignore[no-any-return]

    def propose_limit_plan(self, **body: Unpack[PlanProposed]) -> ProposalForm:
        """Propose the next version of a limit plan."""
        answer: Any = self.ask("POST", "/api/limit-plans/proposals/", {}, dict(body))
        return answer  # type: ignore[no-any-return]

    def search_log(self, *, cursor: str | None = None, limit: int | None = None, person: str | None = None, subject: str | None = None, kind: str | None = None, table: int | None = None, house: bool | None = None, round: int | None = None, seat: int | None = None, entry: int | None = None, since: str | None = None, until: str | None = None, text: str | None = None, cents: int | None = None, rounds: bool | None = None) -> PageEntryForm:
        """Search the log."""
        answer: Any = self.ask("GET", "/api/log/", {"cursor": cursor, "limit": limit, "person": person, "subject": subject, "kind": kind, "table": table, "house": house, "round": round, "seat": seat, "entry": entry, "since": since, "until": until, "text": text, "cents": cents, "rounds": rounds}, None)
        return answer  # type: ignore[no-any-return]

    def list_posts(self) -> PostsForm:
        """Who runs which pit."""
        answer: Any = self.ask("GET", "/api/posts/", {}, None)
        return answer  # type: ignore[no-any-return]

    def set_post(self, **body: Unpack[PostWanted]) -> PostForm | ProposalForm:
        """Say which pits somebody runs."""
        answer: Any = self.ask("POST", "/api/posts/", {}, dict(body))
        return answer  # type: ignore[no-any-return]

    def list_proposals(self, *, cursor: str | None = None, limit: int | None = None, state: Literal['all', 'waiting'] | None = None, about: str | None = None) -> PageProposalForm:
        """Proposals."""
        answer: Any = self.ask("GET", "/api/proposals/", {"cursor": cursor, "limit": limit, "state": state, "about": about}, None)
        return answer  # type: ignore[no-any-return]

    def read_proposal(self, number: int) -> ProposalForm:
        """One proposal."""
        answer: Any = self.ask("GET", f"/api/proposals/{quote(str(number), safe='')}/", {}, None)
        return answer  # type: ignore[no-any-return]

    def approve_proposal(self, number: int, **body: Unpack[Approval]) -> ProposalForm:
        """Approve a proposal."""
        answer: Any = self.ask("POST", f"/api/proposals/{quote(str(number), safe='')}/approval/", {}, dict(body))
        return answer  # type: ignore[no-any-return]

    def decline_proposal(self, number: int, **body: Unpack[Ending]) -> ProposalForm:
        """Decline a proposal."""
        answer: Any = self.ask("POST", f"/api/proposals/{quote(str(number), safe='')}/refusal/", {}, dict(body))
        return answer  # type: ignore[no-any-return]

    def withdraw_proposal(self, number: int, **body: Unpack[Ending]) -> ProposalForm:
        """Withdraw a proposal."""
        answer: Any = self.ask("POST", f"/api/proposals/{quote(str(number), safe='')}/withdrawal/", {}, dict(body))
        return answer  # type: ignore[no-any-return]

    def list_slips(self, *, cursor: str | None = None, limit: int | None = None, state: Literal['all', 'waiting'] | None = None, series: str | None = None) -> PageSlipForm:
        """Slips."""
        answer: Any = self.ask("GET", "/api/slips/", {"cursor": cursor, "limit": limit, "state": state, "series": series}, None)
        return answer  # type: ignore[no-any-return]

    def begin_slip(self, **body: Unpack[SlipBegun]) -> SlipForm:
        """Begin a slip."""
        answer: Any = self.ask("POST", "/api/slips/", {}, dict(body))
        return answer  # type: ignore[no-any-return]

    def read_slip(self, series: str, year: int, number: int) -> SlipForm:
        """One slip."""
        answer: Any = self.ask("GET", f"/api/slips/{quote(str(series), safe='')}/{quote(str(year), safe='')}/{quote(str(number), safe='')}/", {}, None)
        return answer  # type: ignore[no-any-return]

    def sign_slip(self, series: str, year: int, number: int, **body: Unpack[StepSigned]) -> SlipForm:
        """Sign a slip."""
        answer: Any = self.ask("POST", f"/api/slips/{quote(str(series), safe='')}/{quote(str(year), safe='')}/{quote(str(number), safe='')}/signatures/", {}, dict(body))
        return answer  # type: ignore[no-any-return]

    def void_slip(self, series: str, year: int, number: int, **body: Unpack[SlipVoided]) -> SlipForm:
        """Ask for a slip to be void."""
        answer: Any = self.ask("POST", f"/api/slips/{quote(str(series), safe='')}/{quote(str(year), safe='')}/{quote(str(number), safe='')}/void/", {}, dict(body))
        return answer  # type: ignore[no-any-return]

    def list_staff_on_duty(self, *, cursor: str | None = None, limit: int | None = None) -> PageOnDuty:
        """Who deals where."""
        answer: Any = self.ask("GET", "/api/staff/on-duty/", {"cursor": cursor, "limit": limit}, None)
        return answer  # type: ignore[no-any-return]

    def list_tables(self, *, cursor: str | None = None, limit: int | None = None, retired: bool | None = None) -> PageTableLine:
        """The tables that the caller may see."""
        answer: Any = self.ask("GET", "/api/tables/", {"cursor": cursor, "limit": limit, "retired": retired}, None)
        return answer  # type: ignore[no-any-return]

    def read_board(self, id: int) -> Board:
        """The board of a table."""
        answer: Any = self.ask("GET", f"/api/tables/{quote(str(id), safe='')}/", {}, None)
        return answer  # type: ignore[no-any-return]

    def propose_correction(self, id: int, **body: Unpack[CorrectionProposed]) -> CorrectionForm:
        """Propose a correction."""
        answer: Any = self.ask("POST", f"/api/tables/{quote(str(id), safe='')}/corrections/", {}, dict(body))
        return answer  # type: ignore[no-any-return]

    def read_correction(self, id: int, year: int, number: int) -> CorrectionForm:
        """One correction."""
        answer: Any = self.ask("GET", f"/api/tables/{quote(str(id), safe='')}/corrections/{quote(str(year), safe='')}/{quote(str(number), safe='')}/", {}, None)
        return answer  # type: ignore[no-any-return]

    def decline_correction(self, id: int, year: int, number: int, **body: Unpack[CorrectionDeclined]) -> CorrectionForm:
        """Decline a correction."""
        answer: Any = self.ask("POST", f"/api/tables/{quote(str(id), safe='')}/corrections/{quote(str(year), safe='')}/{quote(str(number), safe='')}/refusals/", {}, dict(body))
        return answer  # type: ignore[no-any-return]

    def sign_correction(self, id: int, year: int, number: int, **body: Unpack[CorrectionSigned]) -> CorrectionForm:
        """Sign a correction."""
        answer: Any = self.ask("POST", f"/api/tables/{quote(str(id), safe='')}/corrections/{quote(str(year), safe='')}/{quote(str(number), safe='')}/signatures/", {}, dict(body))
        return answer  # type: ignore[no-any-return]

    def open_dispute(self, id: int, **body: Unpack[DisputeOpened]) -> DisputeForm:
        """Open a dispute."""
        answer: Any = self.ask("POST", f"/api/tables/{quote(str(id), safe='')}/disputes/", {}, dict(body))
        return answer  # type: ignore[no-any-return]

    def read_dispute(self, id: int, number: int) -> DisputeForm:
        """One dispute."""
        answer: Any = self.ask("GET", f"/api/tables/{quote(str(id), safe='')}/disputes/{quote(str(number), safe='')}/", {}, None)
        return answer  # type: ignore[no-any-return]

    def close_dispute(self, id: int, number: int, **body: Unpack[DisputeDone]) -> DisputeForm:
        """Close a dispute."""
        answer: Any = self.ask("POST", f"/api/tables/{quote(str(id), safe='')}/disputes/{quote(str(number), safe='')}/closing/", {}, dict(body))
        return answer  # type: ignore[no-any-return]

    def note_dispute(self, id: int, number: int, **body: Unpack[DisputeNoted]) -> DisputeForm:
        """Write down what was heard."""
        answer: Any = self.ask("POST", f"/api/tables/{quote(str(id), safe='')}/disputes/{quote(str(number), safe='')}/notes/", {}, dict(body))
        return answer  # type: ignore[no-any-return]

    def rule_dispute(self, id: int, number: int, **body: Unpack[DisputeRuled]) -> DisputeForm:
        """Rule on a dispute."""
        answer: Any = self.ask("POST", f"/api/tables/{quote(str(id), safe='')}/disputes/{quote(str(number), safe='')}/ruling/", {}, dict(body))
        return answer  # type: ignore[no-any-return]

    def enter(self, id: int, **body: Unpack[Entered]) -> Acknowledged:
        """Enter one input."""
        answer: Any = self.ask("POST", f"/api/tables/{quote(str(id), safe='')}/inputs/", {}, dict(body))
        return answer  # type: ignore[no-any-return]

    def read_limits(self, id: int) -> LimitsForm:
        """The limits of a table, and why."""
        answer: Any = self.ask("GET", f"/api/tables/{quote(str(id), safe='')}/limits/", {}, None)
        return answer  # type: ignore[no-any-return]

    def download_log(self, id: int, *, form: Literal['csv', 'xlsx'] | None = None, subject: str | None = None) -> bytes:
        """The log of a table as CSV or as a workbook."""
        return self.file(f"/api/tables/{quote(str(id), safe='')}/log/file/", {"form": form, "subject": subject})

    def propose_settings(self, id: int, **body: Unpack[SettingsProposed]) -> ProposalForm:
        """Propose other settings of a table."""
        answer: Any = self.ask("POST", f"/api/tables/{quote(str(id), safe='')}/proposals/", {}, dict(body))
        return answer  # type: ignore[no-any-return]

    def read_reader(self, id: int) -> ReaderState:
        """How a table stands for its card reader."""
        answer: Any = self.ask("GET", f"/api/tables/{quote(str(id), safe='')}/reader/", {}, None)
        return answer  # type: ignore[no-any-return]

    def name_card(self, id: int, **body: Unpack[ReaderMessage]) -> ReaderState:
        """A card reader says something."""
        answer: Any = self.ask("POST", f"/api/tables/{quote(str(id), safe='')}/reader/", {}, dict(body))
        return answer  # type: ignore[no-any-return]

    def list_rounds(self, id: int, *, cursor: str | None = None, limit: int | None = None) -> PageRoundSummary:
        """The rounds of a table."""
        answer: Any = self.ask("GET", f"/api/tables/{quote(str(id), safe='')}/rounds/", {"cursor": cursor, "limit": limit}, None)
        return answer  # type: ignore[no-any-return]

    def read_round(self, id: int, number: int) -> RoundForm:
        """One round, as a record that anyone can replay."""
        answer: Any = self.ask("GET", f"/api/tables/{quote(str(id), safe='')}/rounds/{quote(str(number), safe='')}/", {}, None)
        return answer  # type: ignore[no-any-return]

    def download_rounds(self, id: int, *, form: Literal['csv', 'xlsx'] | None = None) -> bytes:
        """The rounds of a table as CSV or as a workbook."""
        return self.file(f"/api/tables/{quote(str(id), safe='')}/rounds/file/", {"form": form})

    def read_settings(self, id: int) -> SettingsForm:
        """What a table is set to."""
        answer: Any = self.ask("GET", f"/api/tables/{quote(str(id), safe='')}/settings/", {}, None)
        return answer  # type: ignore[no-any-return]

    def change_settings(self, id: int, **body: Unpack[SettingsChanged]) -> SettingsForm | ProposalForm:
        """Change what a table is set to."""
        answer: Any = self.ask("POST", f"/api/tables/{quote(str(id), safe='')}/settings/", {}, dict(body))
        return answer  # type: ignore[no-any-return]
