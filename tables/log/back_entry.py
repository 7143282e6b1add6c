"""Back-entry: what was written on numbered paper during an outage is entered afterwards as such.

Pure. A book goes into back-entry by two people, with the span of the outage; whatever is entered from paper says the
paper's number and when it happened, and a second person compares it with the paper. How all of it stands is in the
newest entry about it: nothing beside the log knows it, and the floor and every proof ask the functions here.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from tables.log.signatory import Signatory, same_person_fault
from tables.log.slip_workflow import Wrong

REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {"power": "Power failure", "network": "Network failure", "server": "Server failure", "other": "Something else"}
)
"""Why a book was held on paper."""

BEGIN: Final = frozenset({"pit_boss", "cage_manager"})
"""The roles that begin and end back-entry, with somebody of another role."""
STAND_BY: Final = frozenset({"pit_boss", "cage_manager", "cashier", "security", "operator"})
"""The roles of the second person."""
COMPARE: Final = frozenset({"pit_boss", "cage_manager", "cashier", "security", "dealer"})
"""The roles that compare what was entered with the paper."""

FARTHEST: Final = timedelta(days=7)
"""An outage that began longer ago is a matter for the accounts, and not for the tables."""
LONGEST_NUMBER: Final = 20
"""Characters."""

ROUNDS: Final = "rounds"
CASH: Final = "cash"
"""What a paper is about that is no slip: rounds played by hand, or chips for cash at a counter or a table."""


class UncomparedPaper(Struct, frozen=True, forbid_unknown_fields=True):
    """A numbered paper from which something was entered, and which nobody has compared with it since."""

    number: str
    about: str
    """A slip by its name, or ``ROUNDS``, or ``CASH``."""
    happened: str
    """When the last of it happened, by the paper."""
    keyed: tuple[str, ...]
    """The user names of those who entered it."""
    items: int = 1
    """How many rounds, signatures or exchanges were entered from it."""


class Compared(Struct, frozen=True, forbid_unknown_fields=True):
    """A paper that was compared with what was entered from it."""

    number: str
    about: str
    happened: str


class AnnouncedRound(Struct, frozen=True, forbid_unknown_fields=True):
    """The round that may be dealt now: it was announced from a paper."""

    round: int
    number: str
    happened: str


class Mode(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A book in back-entry."""

    begun: int
    """The entry that began it."""
    since: str
    until: str
    reason: str
    papers: tuple[UncomparedPaper, ...] = ()
    """Those that nobody has compared yet."""
    compared: tuple[Compared, ...] = ()
    due: AnnouncedRound | None = None
    rounds_until: str = ""
    """When the last round happened that was announced."""

    def paper(self, number: str) -> UncomparedPaper | None:
        """The paper of that number that waits to be compared."""
        return next((paper for paper in self.papers if paper.number == number), None)


# --- Moments ---------------------------------------------------------------------------------------------------


def spelled(moment: datetime) -> str:
    """A moment as entries spell when something happened: to the minute, for that is what a paper says."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%MZ")


def moment_of(text: str) -> datetime:
    """The moment that is spelled so. Raises Wrong."""
    try:
        moment = datetime.strptime(text, "%Y-%m-%dT%H:%MZ").replace(tzinfo=UTC)
    except ValueError:
        raise Wrong("bad_moment", f"{text!r} is no moment as entries spell it.") from None
    if spelled(moment) != text:
        raise Wrong("bad_moment", f"{text!r} is no moment as entries spell it.")
    return moment


def shown(text: str) -> str:
    """A moment in a sentence."""
    return f"{text[:10]} {text[11:16]} UTC"


# --- Begun and ended by two ------------------------------------------------------------------------------------


def refuse_pair(first: Signatory, second: Signatory) -> None:
    """Raises Wrong unless two people, of two roles, may begin and end back-entry together."""
    if first.role not in BEGIN:
        raise Wrong("not_permitted", "A pit boss or the cage manager begins and ends back-entry.")
    if fault := same_person_fault(second, [first], did="signs first", to="sign second"):
        raise Wrong("signed_already", fault)
    if second.role == first.role or second.role not in STAND_BY:
        sentence = "The second signature is of another role: pit boss, cage manager, cashier, security or operator."
        raise Wrong("wrong_role", sentence)


def begun(mode: Mode | None, seq: int, span: tuple[str, str], reason: str, moment: datetime | None) -> Mode:
    """The mode that an entry begins. ``moment``: when the entry is written. Raises Wrong."""
    since, until = span
    if mode is not None:
        raise Wrong("begun_already", "Back-entry has begun here already: it is ended before another outage is entered.")
    if reason not in REASONS:
        raise Wrong("unknown_reason", f"An outage is one of {', '.join(REASONS)}.")
    first, last = moment_of(since), moment_of(until)
    if first >= last:
        raise Wrong("bad_span", "An outage ends after it began.")
    if moment is not None and last > moment:
        raise Wrong("bad_span", f"The outage is said to end {shown(until)}, and that has not come yet.")
    if moment is not None and first < moment - FARTHEST:
        raise Wrong("bad_span", f"An outage is entered within {FARTHEST.days} days of its beginning.")
    return Mode(seq, since, until, reason)


def refuse_end(mode: Mode | None) -> Mode:
    """Raises Wrong where back-entry cannot end yet."""
    mode = _standing(mode)
    if mode.papers:
        numbers = ", ".join(paper.number for paper in mode.papers)
        raise Wrong("not_compared", f"Somebody else compares what was entered with paper no. {numbers} first.")
    return mode


def _standing(mode: Mode | None) -> Mode:
    if mode is None:
        raise Wrong("no_back_entry", "Back-entry has not begun here: two people begin it first.")
    return mode


# --- What is entered from paper --------------------------------------------------------------------------------


def entered(mode: Mode | None, number: str, about: str, happened: str, by: str) -> Mode:
    """The mode once something was entered from a paper. Raises Wrong."""
    mode = _standing(mode)
    refuse_number(number)
    _refuse_outside(mode, happened)
    _refuse_other_matter(mode, number, about)
    _refuse_earlier(mode, about, happened)
    paper = mode.paper(number)
    if paper is None:
        return replace(mode, papers=(*mode.papers, UncomparedPaper(number, about, happened, (by,))))
    keyed = paper.keyed if by in paper.keyed else (*paper.keyed, by)
    latest = max(paper.happened, happened)
    grown = replace(paper, happened=latest, keyed=keyed, items=paper.items + 1)
    return replace(mode, papers=tuple(grown if candidate is paper else candidate for candidate in mode.papers))


def announced(mode: Mode | None, number: str, round: int, happened: str, by: str) -> Mode:
    """The mode once a round was announced from a paper. Announced again, it was typed wrongly. Raises Wrong."""
    mode = _without(_standing(mode), round)
    if mode.rounds_until and happened < mode.rounds_until:
        sentence = f"The round before it happened {shown(mode.rounds_until)}: rounds are entered in their order."
        raise Wrong("out_of_order", sentence)
    after = entered(mode, number, ROUNDS, happened, by)
    return replace(after, due=AnnouncedRound(round, number, happened))


def dealt(mode: Mode, next_round: int) -> Mode:
    """The mode with the round that was announced counted among those that were dealt, once it is over."""
    if mode.due is None or mode.due.round >= next_round:
        return mode
    return replace(mode, rounds_until=mode.due.happened, due=None)


def _without(mode: Mode, round: int) -> Mode:
    """The mode before a round that nobody dealt was announced."""
    mode = dealt(mode, round)
    paper = mode.paper(mode.due.number) if mode.due else None
    if paper is None:
        return replace(mode, due=None)
    papers = tuple(candidate for candidate in mode.papers if candidate is not paper)
    if paper.items > 1:
        papers = tuple(
            replace(candidate, items=candidate.items - 1) if candidate is paper else candidate
            for candidate in mode.papers
        )
    return replace(mode, papers=papers, due=None)


def refuse_round(mode: Mode | None, number: int) -> None:
    """Raises Wrong where a round is opened in back-entry that nobody announced from paper."""
    if mode is not None and (mode.due is None or mode.due.round != number):
        sentence = (
            "This table is in back-entry: type the number of the paper and the time of the round first. To deal live"
            " again, two people end back-entry."
        )
        raise Wrong("paper_first", sentence)


def refuse_number(number: str) -> None:
    """Raises Wrong for what cannot be the number of a paper."""
    if not number or number != number.strip() or len(number) > LONGEST_NUMBER or not number.isprintable():
        raise Wrong("bad_paper", f"Give the number that is printed on the paper, in 1 to {LONGEST_NUMBER} characters.")


def _refuse_outside(mode: Mode, happened: str) -> None:
    if not moment_of(mode.since) <= moment_of(happened) <= moment_of(mode.until):
        sentence = (
            f"The outage lasted from {shown(mode.since)} to {shown(mode.until)}: {shown(happened)} is outside of it."
        )
        raise Wrong("outside_outage", sentence)


def _refuse_other_matter(mode: Mode, number: str, about: str) -> None:
    """A paper is of one slip, or of rounds, or of the counter; what it said once and was compared is not said again."""
    paper = mode.paper(number)
    if paper is not None and paper.about != about:
        raise Wrong("other_paper", f"Paper no. {number} is about {paper.about}: another paper has another number.")
    for earlier in mode.compared:
        if earlier.number == number and (earlier.about != about or about in (ROUNDS, CASH)):
            sentence = f"Paper no. {number} was entered and compared already: what stands on it is not entered twice."
            raise Wrong("entered_already", sentence)


def _refuse_earlier(mode: Mode, about: str, happened: str) -> None:
    """The steps of a slip are in their order."""
    if about in (ROUNDS, CASH):
        return
    earlier = [paper.happened for paper in mode.papers if paper.about == about]
    earlier += [paper.happened for paper in mode.compared if paper.about == about]
    if earlier and happened < max(earlier):
        sentence = f"The step before it happened {shown(max(earlier))}: the steps of a slip are entered in their order."
        raise Wrong("out_of_order", sentence)


# --- Compared --------------------------------------------------------------------------------------------------


def compared(mode: Mode | None, number: str, by: Signatory, round_open: bool, next_round: int) -> Mode:
    """The mode once somebody else compared a paper with what was entered from it. Raises Wrong."""
    mode = _standing(mode)
    paper = mode.paper(number)
    if paper is None:
        raise Wrong("unknown_paper", f"Nothing that waits to be compared was entered from paper no. {number}.")
    if by.role not in COMPARE:
        raise Wrong("wrong_role", "A pit boss, the cage manager, a cashier, security or a dealer compares it.")
    keyed = [Signatory(username, username, None, "") for username in paper.keyed]
    if fault := same_person_fault(by, keyed, did=f"entered it from paper no. {number}", to="compare it"):
        raise Wrong("signed_already", fault)
    if paper.about == ROUNDS and round_open:
        raise Wrong("round_open", "A round is open: it is finished before its paper is compared.")
    if paper.about == ROUNDS:
        is_pending = mode.due is not None and mode.due.number == number
        mode = dealt(mode, next_round)
        mode = replace(mode, due=None) if is_pending else mode
    papers = tuple(candidate for candidate in mode.papers if candidate.number != number)
    return replace(mode, papers=papers, compared=(*mode.compared, Compared(number, paper.about, paper.happened)))
