"""The terms that a house works by: thresholds, limits and rules of compliance, each with its default and its bounds.

Pure. A house changes them by entries of its own book, each with the moment from which it holds; what it never changed
stands at its default. How a table is set is another matter (``terms.py``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple

from ledger.proof.chips import money
from tables.games.catalog import GAMES
from tables.games.yes_no import flag
from tables.log import payout_error_rates, role_choices, witnesses
from tables.log.game_kinds import HouseRound, kind_of
from tables.log.irregularities import LEAVING, VOIDING
from tables.log.message import Label, Message, Money, Parameter, code, counted, joined, text_of

Kind = Literal[
    "cents", "count", "percent", "days", "hours", "minutes", "seconds", "flag", "choice", "choices", "levels", "text"
]
"""What a value is: an amount, a number of something, yes or no, a word of several, several words, rising amounts, a
line of text."""
Value = int | bool | str | tuple[int, ...] | tuple[str, ...]
Values = Mapping[str, Any]
"""Values by the names of their terms."""

MOST_CENTS: Final = 10**11
LONGEST_NAME: Final = 60
"""Letters that a slip has room for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """One thing that a house lays down for itself."""

    name: str
    title: str
    group: str
    kind: Kind
    default: Value
    help: str
    least: int = 0
    most: int = MOST_CENTS
    """The bounds of a number; of each amount, where it is levels. Of several words, how many there are at least; of a
    text, how long it is."""
    choices: tuple[str, ...] = ()
    length: int = 0
    """How many levels there are."""
    unset: str = ""
    """How zero, or an empty text, is said, where it stands for none."""
    called: Mapping[str, str] = field(default_factory=dict)
    """How its words are said, where they do not say it themselves."""
    judge: Callable[[Any], str] | None = None
    """What is wrong with a value that is in its bounds, as a sentence; empty if nothing is."""


HOUSE: Final = "The house"
"""Its own name: no profile sets it."""
DISCREPANCIES: Final = "Discrepancies and disputes"
CERTIFICATES: Final = "Dealers' certificates"
BREAKS: Final = "Dealers' breaks"
SHOES: Final = "Shoes"
MISHAPS: Final = "Mishaps"
SECRETS: Final = "PINs and lock-outs"
TWO_PEOPLE: Final = "Two people"

MATTERS: Final[Mapping[str, str]] = {
    "terms": "House terms",
    "profile": "House profile",
    "limits": "Limits of a table",
    "take": "Rake, time charge and commission of a table",
    "pays": "What a table pays",
    "pay_table": "A pay table",
    "chips": "A kind of chip",
    "staff": "What somebody may do",
    "call_off": "Calling off what was approved",
}
"""Settings that move money, or that say who may move it."""
ALWAYS_TWO: Final = ("terms", "profile", "call_off")
"""What takes two people wherever anything does: one person could loosen the rest by it."""
EXCEPTIONS: Final = "Exceptions"
FLOOR: Final = "The floor"
PROGRAMS: Final = "Programs and devices"
CASH: Final = "Cash, keys and drops"

CURRENCIES: Final = (
    "usd", "eur", "gbp", "cad", "aud", "nzd", "chf", "jpy", "mop", "hkd", "sgd", "php", "krw", "zar", "mxn", "sek",
    "nok", "dkk", "pln", "czk",
)  # fmt: skip
"""The currencies of which a house may take one, by ISO 4217, in small letters as choices are."""
WITNESSES: Final = "Witnesses outside"
"""Addresses of the house's own: no profile sets them."""
DUTIES: Final = "Separation of duties"
ROLES: Final = "Roles"
"""Chosen on a page of their own, role by role, and part of no profile."""
MISPAYS: Final = "Mispay finder"

PRACTISED: Final = tuple(name for name, game in GAMES.items() if kind_of(game).round_type is HouseRound)
"""The games that can be practised for a certificate: those against the house."""

WITNESS_PLACES: Final = ("first", "second", "third")

BY_NAME: Final = ("pit_boss", "operator", "auditor", "cage_manager", "cashier", "security", "counter", "surveillance")
"""The roles that sign in by name, and by badge nowhere."""

TERMS: Final[Mapping[str, Term]] = {
    term.name: term
    for term in (
        # --- The house
        Term(
            name="house_name", title="Name of the house", group=HOUSE, kind="text", default="", most=LONGEST_NAME,
            unset="not named",
            help="At the head of slips, figures, certificates and whatever is printed; in the name of each list that"
            " is taken out.",
        ),
        Term(
            name="property_name", title="Name of the property", group=HOUSE, kind="text", default="",
            most=LONGEST_NAME, unset="not named",
            help="Beside the house's name, where a company has several.",
        ),
        # --- Discrepancies and disputes
        Term(
            name="discrepancy_levels_cents", title="Levels of a discrepancy", group=DISCREPANCIES, kind="levels",
            default=(2_501, 10_000, 20_000), least=1, length=3,
            help="At these amounts, over or short, a supervisor, the surveillance and the regulator hear of it.",
        ),
        Term(
            name="dispute_reportable_cents", title="A dispute is reportable from", group=DISCREPANCIES, kind="cents",
            default=50_000, least=1,
            help="From so much at stake on the regulator hears of a dispute.",
        ),
        # --- Exceptions
        Term(
            name="late_signature_minutes", title="A signature is late after", group=EXCEPTIONS, kind="count",
            default=30, least=1, most=1_440,
            help="So many minutes after the step before, a step of a slip is among the day's exceptions.",
        ),
        Term(
            name="back_entry_minutes", title="Back-entry stands too long after", group=EXCEPTIONS, kind="minutes",
            default=120, least=5, most=10_080,
            help="So many minutes after two people began to enter the papers of an outage, an alert asks whether all"
            " are entered. No public rule sets it: after two hours those who wrote the papers are still here.",
        ),
        # --- Dealers' certificates
        Term(
            name="certificate_games", title="Games that take a certificate", group=CERTIFICATES, kind="choices",
            default=(), choices=PRACTISED,
            help="At tables of these games only a dealer with a certificate that is good taps in.",
        ),
        Term(
            name="certificate_rounds", title="Rounds of a practice", group=CERTIFICATES, kind="count",
            default=20, least=1, most=200,
            help="So many rounds a practice has. A certificate takes 20 at least, whatever is set here.",
        ),
        Term(
            name="certificate_pass_percent", title="Right answers for a certificate", group=CERTIFICATES,
            kind="percent", default=95, least=50, most=100,
            help="So many of a hundred steps, and of a hundred payments, have to be right.",
        ),
        Term(
            name="certificate_days", title="A certificate is good for", group=CERTIFICATES, kind="days",
            default=365, least=1, most=3_660,
            help="Of a certificate that is signed from then on; those that are signed keep their last day.",
        ),
        # --- Dealers' breaks
        Term(
            name="longest_stretch_minutes", title="Longest time without a break", group=BREAKS, kind="minutes",
            default=80, least=20, most=720,
            help="A dealer who has dealt for that long without a break of ten minutes raises an alert, and a line-up"
            " that plans it says so.",
        ),
        # --- Shoes
        Term(
            name="least_penetration_percent", title="Least part of a shoe that is dealt", group=SHOES, kind="percent",
            default=50, least=0, most=95,
            help="The cut card of a shoe lies no deeper than this lets it: 75 leaves a quarter behind it. For tables"
            " that are set from then on.",
        ),
        Term(
            name="cut_card_tolerance", title="Cards by which the cut card may come out early", group=SHOES,
            kind="count", default=10, most=200,
            help="The cut card is placed by eye. If it is declared more cards before its place, the pit gets an alert:"
            " a dealer who ends shoes early chooses which shoes are dealt on.",
        ),
        # --- Mishaps
        Term(
            name="burn_at_relief", title="A card is burned at each relief", group=MISHAPS, kind="flag", default=False,
            help="Before the next round, whoever takes a table with a shoe that is dealt on burns one card. No, as"
            " most rules that we read say nothing of it; yes in Louisiana (42:III-3106).",
        ),
        Term(
            name="void_roles", title="Who voids a round", group=MISHAPS, kind="choices", least=1,
            default=("pit_boss",), choices=("pit_boss", "cage_manager"),
            help="By badge and PIN at the table; a pit boss on the floor's page too.",
        ),
        Term(
            name="void_second_roles", title="Who else signs for a void round", group=MISHAPS, kind="choices",
            default=(), choices=("pit_boss", "cage_manager", "surveillance", "operator", "security"),
            help="Somebody else of one of these roles, by badge and PIN. None: one signature is enough.",
        ),
        Term(
            name="void_reasons", title="Why a round may be void", group=MISHAPS, kind="choices", least=1,
            default=VOIDING, choices=VOIDING,
            help="A dispute that is ruled void, and a table that is abandoned, end a round whatever is set here.",
        ),
        Term(
            name="abandon_roles", title="Who abandons a table", group=MISHAPS, kind="choices", least=1,
            default=("pit_boss",), choices=("pit_boss", "cage_manager", "security"),
            help="In one act, and with one signature: everybody is leaving.",
        ),
        Term(
            name="abandon_reasons", title="Why a table may be abandoned", group=MISHAPS, kind="choices", least=1,
            default=LEAVING, choices=LEAVING,
            help="Without one of them, a table is closed by its closer.",
        ),
        Term(
            name="settled_round_reopened_by", title="Who approves that a settled round is reopened", group=MISHAPS,
            kind="choice", default="pit_boss", choices=("pit_boss", "dealer"),
            help="Pit boss: by badge and PIN at the table, as is floor practice: a supervisor reviews a payout error"
            " before chips go back. Dealer: the dealer alone, as in releases up to 0.9.0. The pit gets an alert either"
            " way.",
        ),
        Term(
            name="player_left_ruled_by", title="Who rules on the hand of a player who left", group=MISHAPS,
            kind="choice", default="pit_boss", choices=("pit_boss", "dealer"),
            help="Pit boss: by badge and PIN at the table. Dealer: a dealer alone may rule that the wager stands; only"
            " a pit boss may rule that a hand is given up. The rules of our games do not regulate this.",
        ),
        Term(
            name="unlock_second_roles", title="Who else signs when a rack is unlocked", group=MISHAPS, kind="choices",
            default=("pit_boss", "cage_manager", "security"),
            choices=("pit_boss", "cage_manager", "surveillance", "operator", "security"),
            help="Somebody else than the pit boss, by badge and PIN. None: the pit boss alone.",
        ),
        # --- Two people
        Term(
            name="two_people", title="Settings that move money take two people", group=TWO_PEOPLE, kind="flag",
            default=False,
            help="No while the house is being set up, and one person may do so. Yes once it is open: it takes two"
            " operators, and two people to say no again.",
        ),
        Term(
            name="two_people_for", title="What takes two people", group=TWO_PEOPLE, kind="choices",
            default=tuple(matter for matter in MATTERS if matter not in ALWAYS_TWO),
            choices=tuple(matter for matter in MATTERS if matter not in ALWAYS_TWO),
            help="The house's terms and its profile always do.",
        ),
        Term(
            name="two_people_limit_cents", title="Limits take two people above", group=TWO_PEOPLE, kind="cents",
            default=100_000, unset="any amount",
            help="A maximum or a cap that is raised, and comes to lie above this.",
        ),
        Term(
            name="proposal_hours", title="A proposal waits for", group=TWO_PEOPLE, kind="hours",
            default=72, least=1, most=720,
            help="Then it has expired, and nobody can approve it.",
        ),
        Term(
            name="limits_notice_minutes", title="Notice before a minimum is raised", group=FLOOR, kind="minutes",
            default=30, least=0, most=1_440, unset="none",
            help="While players are seated it is announced at the table for so long. Anything else holds at once.",
        ),
        # --- Separation of duties
        Term(
            name="duties_apart_hours", title="No chips after administration for", group=DUTIES, kind="hours",
            default=8, least=0, most=72, unset="no time",
            help="Whoever gave up being an operator signs nothing that moves chips or cash for so long: a shift.",
        ),
        Term(
            name=role_choices.SECOND_TERM, title="Fills and credits take a second supervisor", group=DUTIES,
            kind="flag", default=False,
            help="No: the pit boss who requested one may also sign at the table, as the floor supervisor does in"
            " Washington (WAC 230-15-525). Yes: another pit boss has to.",
        ),
        Term(
            name="post_required", title="Running the floor takes a post", group=DUTIES, kind="flag", default=False,
            help="No: whoever has no post runs the whole floor. Yes: they run no pit until an operator gives them one,"
            " or they take one over.",
        ),
        # --- Roles
        Term(
            name=role_choices.PERMISSIONS_TERM, title="What roles may do otherwise", group=ROLES, kind="choices",
            default=(), choices=tuple(choice.word for choice in role_choices.CHOICES), called=role_choices.CALLED,
            help="Where the house gives or takes a permission otherwise than it ships.",
        ),
        Term(
            name=role_choices.SIGNERS_TERM, title="Who signs less", group=ROLES, kind="choices",
            default=(), choices=tuple(strike.word for strike in role_choices.STRIKES), called=role_choices.CALLED,
            judge=role_choices.strike_fault,
            help="Roles that the house strikes from those who may sign a step of a slip.",
        ),
        Term(
            name=role_choices.APART_TERM, title="Further roles kept apart", group=ROLES, kind="choices",
            default=(), choices=tuple(role_choices.APART), called=role_choices.CALLED,
            help="Roles that nobody has together here, beyond those that are never given together.",
        ),
        # --- PINs and lock-outs
        Term(
            name="pin_digits_min", title="Digits of a new PIN", group=SECRETS, kind="count",
            default=6, least=4, most=8,
            help="At least so many; PINs that were given before stay good.",
        ),
        Term(
            name="lockout_failures", title="Wrong secrets that lock out", group=SECRETS, kind="count",
            default=10, least=1, most=50,
            help="So many wrong passwords of a name, or PINs of a badge, from one place.",
        ),
        Term(
            name="lockout_minutes", title="A lock-out lasts", group=SECRETS, kind="minutes",
            default=30, least=1, most=1_440,
            help="So long from the first wrong try on.",
        ),
        Term(
            name="terminal_wrong_pins", title="Wrong PINs that close a terminal", group=SECRETS, kind="count",
            default=30, least=1, most=500,
            help="Over all badges, within the time of a lock-out: else one tablet could try a PIN on everybody.",
        ),
        Term(
            name="wrong_pins_a_day", title="Wrong PINs of one badge in a day", group=SECRETS, kind="count",
            default=30, least=1, most=500,
            help="At one terminal they close it to that badge; over the whole house they are an alert.",
        ),
        Term(
            name="pin_days", title="A PIN is good for", group=SECRETS, kind="days",
            default=90, most=3_660, unset="as long as its owner likes",
            help="An older one signs nothing but its own change; whoever deals a round goes on.",
        ),
        Term(
            name="password_days", title="A password is good for", group=SECRETS, kind="days",
            default=90, most=3_660, unset="as long as its owner likes",
            help="An older one opens nothing but its own change.",
        ),
        Term(
            name="secret_warn_days", title="Warned before a PIN or password runs out", group=SECRETS, kind="days",
            default=14, most=90, unset="not at all",
            help="So long before, whoever signs in is told.",
        ),
        Term(
            name="secrets_barred", title="PINs and passwords that are not used again", group=SECRETS, kind="count",
            default=4, least=1, most=24,
            help="So many of the last ones, the present one among them.",
        ),
        Term(
            name="code_hours", title="A code for a PIN or password is good for", group=SECRETS, kind="hours",
            default=24, least=1, most=336,
            help="From the moment on that a second person confirms it; and so long it waits for that.",
        ),
        Term(
            name="passkey_roles", title="Roles that sign in by passkey alone", group=SECRETS, kind="choices",
            default=(), choices=BY_NAME,
            help="Whoever has one of them registers a passkey at the next sign-in, and gives no password from then on.",
        ),
        # --- Cash, keys and drops
        Term(
            name="currency", title="Currency", group=CASH, kind="choice", default="usd", choices=CURRENCIES,
            help="The only one that is taken at tables and at the cage; other money is refused.",
        ),
        Term(
            name="imprest_cents", title="The cage's float", group=CASH, kind="cents", default=5_000_000, least=0,
            help="What the cashiers' cash is topped up to from the vault, and brought back to.", unset="no float",
        ),
        Term(
            name="close_needs_cash_count", title="A day closes only with its cash counted", group=CASH, kind="flag",
            default=True,
            help="Once the cage's or the vault's cash was ever counted, a day stays open until it was counted after its"
            " last movement.",
        ),
        Term(
            name="cage_cash_counts", title="The cage's cash is counted each", group=CASH, kind="choice",
            default="shift", choices=("shift", "day"),
            help="By two people, each unseen by the other, within an hour of the end of each shift, or of the day's"
            " last one. Nevada's minimum controls for the cage ask for it at each shift.",
        ),
        Term(
            name="vault_cash_counts", title="The vault's cash is counted each", group=CASH, kind="choice",
            default="shift", choices=("shift", "day"),
            help="The same of the vault. Nevada's controls count it with the cage; where it is opened once a day, a"
            " house may count it once.",
        ),
        Term(
            name="close_needs_shift_counts", title="A day closes only with each shift's cash counted", group=CASH,
            kind="flag", default=False,
            help="A shift whose cash nobody counted, not even later, keeps its day from being closed. A late count is"
            " named either way.",
        ),
        Term(
            name="vault_chip_counts", title="The vault's chips are counted each", group=CASH, kind="choice",
            default="month", choices=("day", "week", "month", "never"),
            help="Once they were ever counted, a day does not close with a count that is older. Ohio, Kansas, Michigan"
            " and West Virginia ask for an inventory each month, Louisiana and New York each day.",
        ),
        Term(
            name="key_grace_minutes", title="A key may stay out after the shift", group=CASH, kind="minutes",
            default=30, least=0, most=720,
            help="So long after the shift in which it was taken; then it is an alert.",
        ),
        Term(
            name="drop_grace_minutes", title="A drop is late after", group=CASH, kind="minutes",
            default=30, least=0, most=720,
            help="So long after its hour; then it is an alert.",
        ),
        # --- The floor
        Term(
            name="expected_shown_to", title="Counters who see what should be there", group=FLOOR, kind="choices",
            default=(), choices=("pit_boss", "cashier", "cage_manager", "security", "counter"),
            help="Whoever may count a place is not told what should lie there, but for these roles. While a count"
            " is signed, nobody who may sign it is told.",
        ),
        Term(
            name="placard_odds", title="Placards tell the odds", group=FLOOR, kind="flag", default=False,
            help="What the house keeps of each wager on average stands on the public sign of a table.",
        ),
        Term(
            name="placard_series", title="Series of the placards' addresses", group=FLOOR, kind="count", default=1,
            least=1, most=9_999,
            help="Another number makes the addresses of all placards anew: codes that were printed lead nowhere then.",
        ),
        # --- Programs and devices
        Term(
            name="reader_settled_by", title="Who says whether reader or dealer is right", group=PROGRAMS, kind="choice",
            default="dealer", choices=("dealer", "pit_boss"),
            help="Where a card reader and the dealer disagree the round waits for this word. The pit hears of it either"
            " way.",
        ),
        Term(
            name="service_days", title="A program's account is good for", group=PROGRAMS, kind="days",
            default=365, least=1, most=1_096,
            help="At the longest; then an operator looks whether it is still needed, and renews it.",
        ),
        Term(
            name="token_overlap_hours", title="A token that was replaced is good for", group=PROGRAMS, kind="hours",
            default=24, least=0, most=336, unset="no time",
            help="So long both are, so that a program takes the new one without standing still.",
        ),
        Term(
            name="program_requests_a_minute", title="Requests of a program in a minute", group=PROGRAMS, kind="count",
            default=600, least=10, most=60_000,
            help="What is more is refused, with how long to wait. Each account is counted by itself.",
        ),
        # --- Witnesses outside
        *(
            Term(
                name=f"witness_{place}", title=f"The {place} witness", group=WITNESSES, kind="text", default="",
                most=witnesses.LONGEST, unset="none", judge=witnesses.fault,
                help="Its verifier key and its address, with a space between; and then the word heads, if it is to be"
                " told where each book stands.",
            )
            for place in WITNESS_PLACES
        ),
        Term(
            name="witness_grace_minutes", title="A witness may be silent for", group=WITNESSES, kind="minutes",
            default=10, least=2, most=1_440,
            help="Then it is an alert, and the health page says so. A checkpoint goes out each minute.",
        ),
        # --- Mispay finder
        *(
            Term(
                name=f"{payout_error_rates.RATE_TERM}{kind}", title=rate.title, group=MISPAYS, kind="count",
                default=rate.default, least=0, most=1_000, unset="never",
                help=f"In ten thousand chances, each of which is {rate.chance}. A judgement, until you have counted.",
            )
            for kind, rate in payout_error_rates.RATES.items()
        ),
        *(
            Term(
                name=f"{payout_error_rates.FACTOR_TERM}{name}", title=factor.title, group=MISPAYS, kind="percent",
                default=factor.default, least=factor.least, most=factor.most,
                help=f"{factor.help} In per cent: 100 makes no difference.",
            )
            for name, factor in payout_error_rates.FACTORS.items()
        ),
    )
}  # fmt: skip
"""In the order in which pages show them. A term that was ever in force keeps its name for good: the log has it."""


def groups() -> Mapping[str, Sequence[Term]]:
    """The terms by their groups."""
    return {
        group: [term for term in TERMS.values() if term.group == group]
        for group in dict.fromkeys(term.group for term in TERMS.values())
    }


def defaults() -> dict[str, Value]:
    """What is in force in a house that has changed nothing."""
    return {name: term.default for name, term in TERMS.items()}


# --- Dated -----------------------------------------------------------------------------------------------------


class PolicyChange(NamedTuple):
    """Values that hold from a moment on, by the number of their entry in the house's book."""

    effective: datetime
    seq: int
    values: Values


def in_force(changes: Sequence[PolicyChange], moment: datetime) -> dict[str, Value]:
    """Every value at a moment. Of two changes that hold from the same moment the later entry counts."""
    values = defaults()
    for change in sorted(changes, key=lambda change: change[:2]):
        if change.effective <= moment:
            values |= {name: read(TERMS[name], value) for name, value in change.values.items() if name in TERMS}
    return values


def read(term: Term, value: Any) -> Value:
    """A value as JSON has it: what are several are a tuple here."""
    return tuple(value) if isinstance(value, list) else value


def differing(before: Values, after: Values) -> dict[str, Value]:
    """The values of a change that are others than before."""
    return {name: value for name, value in after.items() if before.get(name) != value}


# --- Judging ---------------------------------------------------------------------------------------------------


def faults(values: Values) -> dict[str, str]:
    """What is wrong with values: one sentence for each term."""
    sentences = {name: fault(TERMS[name], value) if name in TERMS else _unknown(name) for name, value in values.items()}
    return {name: sentence for name, sentence in sentences.items() if sentence}


def _unknown(name: str) -> str:
    return f"The house has no term {name!r}."


def fault(term: Term, value: Any) -> str:
    """What is wrong with a value; empty if nothing is."""
    match term.kind:
        case "flag":
            return "" if isinstance(value, bool) else f"{term.title}: yes or no."
        case "choice":
            return "" if value in term.choices else f"{term.title} is one of {_words(term.choices)}."
        case "choices":
            return _choices_fault(term, value)
        case "levels":
            return _levels_fault(term, value)
        case "text":
            return _text_fault(term, value)
    if not isinstance(value, int) or isinstance(value, bool) or not term.least <= value <= term.most:
        return f"{term.title}: from {said(term, term.least)} to {said(term, term.most)}."
    return ""


def _choices_fault(term: Term, value: Any) -> str:
    if not isinstance(value, tuple) or list(value) != [word for word in term.choices if word in value]:
        return f"{term.title}: any of {_words(term.choices)}, each once and in this order."
    if len(value) < term.least:
        return f"{term.title}: {term.least} at least, or nobody could do it any more."
    return term.judge(value) if term.judge else ""


def _text_fault(term: Term, value: Any) -> str:
    """Paper shows what is written: no breaks, and nothing that turns letters around or hides them."""
    if not isinstance(value, str) or not value.isprintable() or value != value.strip():
        return f"{term.title}: one line of letters, digits and signs."
    if not term.least <= len(value) <= term.most:
        return f"{term.title}: up to {term.most} letters; this has {len(value)}."
    return term.judge(value) if term.judge and value else ""


def _levels_fault(term: Term, value: Any) -> str:
    right = isinstance(value, tuple) and len(value) == term.length
    if not right or any(not isinstance(cents, int) or isinstance(cents, bool) for cents in value):
        return f"{term.title}: {term.length} amounts."
    if not all(term.least <= cents <= term.most for cents in value):
        return f"{term.title}: each is from {money(term.least)} to {money(term.most)}."
    if list(value) != sorted(set(value)):
        return f"{term.title}: each amount is more than the one before it."
    return ""


# --- Typed and said --------------------------------------------------------------------------------------------


def parsed(term: Term, text: str) -> Value:
    """The value of a policy from typed text. Raises ValueError with a sentence."""
    text = text.strip()
    match term.kind:
        case "flag":
            value: Value = _flag(term, text)
        case "choice":
            value = text.lower().replace(" ", "_")
        case "choices":
            typed = {word.strip().lower().replace(" ", "_") for word in text.split(",") if word.strip()}
            if strangers := typed - set(term.choices):
                raise ValueError(f"{term.title}: there is no {min(strangers)}; there is {_words(term.choices)}.")
            value = tuple(word for word in term.choices if word in typed)
        case "levels":
            value = tuple(_cents(term, part) for part in text.split())
        case "cents":
            value = _cents(term, text)
        case "text":
            value = text
        case _:
            value = _number(term, text)
    if sentence := fault(term, value):
        raise ValueError(sentence)
    return value


def _flag(term: Term, text: str) -> bool:
    if (value := flag(text)) is None:
        raise ValueError(f"{term.title}: yes or no.")
    return value


def _number(term: Term, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise ValueError(f"{term.title} is a whole number.")
    return int(text)


def _cents(term: Term, text: str) -> int:
    digits = text.replace(",", "")
    if not re.fullmatch(r"[0-9]{1,10}(\.[0-9]{2})?", digits):
        raise ValueError(f"{term.title}: write an amount as 10 or 2.50" + ("." if term.kind == "cents" else ", apart."))
    whole, _, part = digits.partition(".")
    return int(whole) * 100 + int(part or 0)


def typed(term: Term, value: Any) -> str:
    """The text that, when typed, gives a value."""
    if term.kind == "levels":
        return " ".join(money(cents) for cents in value)
    if term.kind == "choices":
        return ", ".join(value)
    if term.kind in ("flag", "cents", "choice"):
        return "" if value == () else said(term, value)
    return str(value)


def said(term: Term, value: Any) -> str:
    """The text of a value."""
    return text_of(_described(term, value))


def described(name: str, value: Any) -> Parameter:
    """A value of a policy by its name, which may be of another release."""
    return _described(TERMS[name], value) if name in TERMS else str(value)


def _described(term: Term, value: Any) -> Parameter:
    if term.kind == "flag":
        return Message("yes") if value else Message("no")
    if isinstance(value, tuple | list):
        parts = [Money(part) if term.kind == "levels" else _word(term, str(part)) for part in value]
        return joined(parts, "; " if term.called else ", ") if parts else Message("none")
    if term.unset and value in (0, ""):
        return Label(term.unset)
    if term.kind == "text":
        return str(value)
    return _measured(term.kind, value)


def _measured(kind: str, value: Any) -> Parameter:
    match kind:
        case "cents":
            return Money(value)
        case "percent":
            return Message("{value} %", value=value)
        case "days":
            return counted("{count} day", "{count} days", count=value)
        case "hours":
            return counted("{count} hour", "{count} hours", count=value)
        case "minutes":
            return counted("{count} minute", "{count} minutes", count=value)
        case "seconds":
            return counted("{count} second", "{count} seconds", count=value)
    return code(value) if isinstance(value, str) else str(value)


def _word(term: Term, word: str) -> Label:
    return Label(term.called[word]) if term.called.get(word) else code(word)


def title_of(name: str) -> str:
    return TERMS[name].title if name in TERMS else name.replace("_", " ")


def _words(words: Sequence[str]) -> str:
    return ", ".join(word.replace("_", " ") for word in words)
