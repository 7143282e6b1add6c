"""Back-entry: records kept on numbered paper during an outage are entered later and marked as such. Pure.

Two people put a log into back-entry for the span of the outage. Each entry from paper names the paper's number and the
time of the event, and a second person compares it with the paper. The newest entry about back-entry has the complete
state of it, so the floor and every verifier call the functions of this module.
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
"""The reasons for keeping records on paper."""

BEGIN: Final = frozenset({"pit_boss", "cage_manager"})
"""The roles that begin and end back-entry, together with a person of another role."""
STAND_BY: Final = frozenset({"pit_boss", "cage_manager", "cashier", "security", "operator"})
"""The roles of the second signer."""
COMPARE: Final = frozenset({"pit_boss", "cage_manager", "cashier", "security", "dealer"})
"""The roles that compare entries with the paper."""

FARTHEST: Final = timedelta(days=7)
"""The longest time since the outage began. Older records are corrected in the accounts and not at the tables."""
LONGEST_NUMBER: Final = 20
"""The longest number of a paper, in characters."""

ROUNDS: Final = "rounds"
CASH: Final = "cash"
"""The subjects of a paper that is not a slip: rounds dealt by hand, or chips exchanged for cash at the cage or a
table."""


class UncomparedPaper(Struct, frozen=True, forbid_unknown_fields=True):
    """A numbered paper with entries that have not been compared with it yet."""

    number: str
    about: str
    """The name of a slip, or ``ROUNDS``, or ``CASH``."""
    happened: str
    """The time of its latest event according to the paper, in UTC to the minute."""
    keyed: tuple[str, ...]
    """The user names of those who entered it."""
    items: int = 1
    """The number of rounds, signatures or exchanges entered from it."""


class Compared(Struct, frozen=True, forbid_unknown_fields=True):
    """A paper whose entries were compared with it."""

    number: str
    about: str
    happened: str


class AnnouncedRound(Struct, frozen=True, forbid_unknown_fields=True):
    """The next round to be dealt from a paper, as announced."""

    round: int
    number: str
    happened: str


class Mode(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The state of a log in back-entry."""

    begun: int
    """The sequence number of the entry that began it."""
    since: str
    until: str
    reason: str
    papers: tuple[UncomparedPaper, ...] = ()
    """The papers that have not been compared yet."""
    compared: tuple[Compared, ...] = ()
    due: AnnouncedRound | None = None
    rounds_until: str = ""
    """The time of the latest announced round; empty before the first."""

    def paper(self, number: str) -> UncomparedPaper | None:
        """The paper of this number that is not compared yet."""
        return next((paper for paper in self.papers if paper.number == number), None)


# --- Moments ---------------------------------------------------------------------------------------------------


def spelled(moment: datetime) -> str:
    """The stored form of a time of an event: UTC to the minute, because paper has no seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%MZ")


def moment_of(text: str) -> datetime:
    """The moment of a time in the stored form. Raises Wrong."""
    try:
        moment = datetime.strptime(text, "%Y-%m-%dT%H:%MZ").replace(tzinfo=UTC)
    except ValueError:
        raise Wrong("bad_moment", f"{text!r} is no moment as entries spell it.") from None
    if spelled(moment) != text:
        raise Wrong("bad_moment", f"{text!r} is no moment as entries spell it.")
    return moment


def shown(text: str) -> str:
    """A time in the stored form, as sentences have it."""
    return f"{text[:10]} {text[11:16]} UTC"


# --- Begun and ended by two ------------------------------------------------------------------------------------


def refuse_pair(first: Signatory, second: Signatory) -> None:
    """Check that two people, of two roles, may begin or end back-entry together. Raises Wrong."""
    if first.role not in BEGIN:
        raise Wrong("not_permitted", "A pit boss or the cage manager begins and ends back-entry.")
    if fault := same_person_fault(second, [first], did="signs first", to="sign second"):
        raise Wrong("signed_already", fault)
    if second.role == first.role or second.role not in STAND_BY:
        sentence = "The second signature is of another role: pit boss, cage manager, cashier, security or operator."
        raise Wrong("wrong_role", sentence)


def begun(mode: Mode | None, seq: int, span: tuple[str, str], reason: str, moment: datetime | None) -> Mode:
    """The back-entry that an entry begins. ``moment``: the time of the entry. Raises Wrong."""
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
    """Check that back-entry can end: every paper is compared. Raises Wrong."""
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
    """Back-entry after one entry from a paper. Raises Wrong."""
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
    """Back-entry after a round was announced from a paper. A second announcement of the same round replaces the first.
    Raises Wrong."""
    mode = _without(_standing(mode), round)
    if mode.rounds_until and happened < mode.rounds_until:
        sentence = f"The round before it happened {shown(mode.rounds_until)}: rounds are entered in their order."
        raise Wrong("out_of_order", sentence)
    after = entered(mode, number, ROUNDS, happened, by)
    return replace(after, due=AnnouncedRound(round, number, happened))


def dealt(mode: Mode, next_round: int) -> Mode:
    """Back-entry after the announced round, if that round is over."""
    if mode.due is None or mode.due.round >= next_round:
        return mode
    return replace(mode, rounds_until=mode.due.happened, due=None)


def _without(mode: Mode, round: int) -> Mode:
    """Back-entry without the announcement of a round that was not dealt."""
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
    """Refuse to open a round in back-entry that was not announced from a paper. Raises Wrong."""
    if mode is not None and (mode.due is None or mode.due.round != number):
        sentence = (
            "This table is in back-entry: type the number of the paper and the time of the round first. To deal live"
            " again, two people end back-entry."
        )
        raise Wrong("paper_first", sentence)


def refuse_number(number: str) -> None:
    """Check the number of a paper. Raises Wrong."""
    if not number or number != number.strip() or len(number) > LONGEST_NUMBER or not number.isprintable():
        raise Wrong("bad_paper", f"Give the number that is printed on the paper, in 1 to {LONGEST_NUMBER} characters.")


def _refuse_outside(mode: Mode, happened: str) -> None:
    if not moment_of(mode.since) <= moment_of(happened) <= moment_of(mode.until):
        sentence = (
            f"The outage lasted from {shown(mode.since)} to {shown(mode.until)}: {shown(happened)} is outside of it."
        )
        raise Wrong("outside_outage", sentence)


def _refuse_other_matter(mode: Mode, number: str, about: str) -> None:
    """Refuse a paper with a second subject, and rounds or cash from a paper that was compared already."""
    paper = mode.paper(number)
    if paper is not None and paper.about != about:
        raise Wrong("other_paper", f"Paper no. {number} is about {paper.about}: another paper has another number.")
    for earlier in mode.compared:
        if earlier.number == number and (earlier.about != about or about in (ROUNDS, CASH)):
            sentence = f"Paper no. {number} was entered and compared already: what stands on it is not entered twice."
            raise Wrong("entered_already", sentence)


def _refuse_earlier(mode: Mode, about: str, happened: str) -> None:
    """Refuse a step of a slip with an earlier time than the step before it."""
    if about in (ROUNDS, CASH):
        return
    earlier = [paper.happened for paper in mode.papers if paper.about == about]
    earlier += [paper.happened for paper in mode.compared if paper.about == about]
    if earlier and happened < max(earlier):
        sentence = f"The step before it happened {shown(max(earlier))}: the steps of a slip are entered in their order."
        raise Wrong("out_of_order", sentence)


# --- Compared --------------------------------------------------------------------------------------------------


def compared(mode: Mode | None, number: str, by: Signatory, round_open: bool, next_round: int) -> Mode:
    """Back-entry after another person compared a paper with its entries. Raises Wrong."""
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
