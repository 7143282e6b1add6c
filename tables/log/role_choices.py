"""What a house may choose for its roles, within what the product lays down: pure data, and questions about it.

Most of what a role may do is fixed: an operator never signs a paper that moves chips, the surveillance moves nothing,
some roles are never given together (``duties.py``). In between the house has a choice: a permission that it gives or
takes, a role that it strikes from those who may sign a step, two more roles that it keeps apart. It may never give
what is not on these lists, so no choice makes the house laxer than the product. What it chose are three of its terms,
dated, entered and approved like all of them; a proof asks what held at each entry.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import combinations
from types import MappingProxyType
from typing import Final, NamedTuple

from tables.log import duties
from tables.log.duties import (
    AUDITOR,
    CAGE_MANAGER,
    CASHIER,
    COUNTER,
    DEALER,
    OPERATOR,
    PIT_BOSS,
    SECURITY,
    SURVEILLANCE,
)
from tables.log.slip_types import SLIP_TYPES, VOID, SlipType, Stage, kind_of

ROLES: Final = (DEALER, PIT_BOSS, OPERATOR, AUDITOR, CASHIER, SECURITY, COUNTER, CAGE_MANAGER, SURVEILLANCE)

PERMISSIONS_TERM: Final = "role_permissions"
SIGNERS_TERM: Final = "signers_struck"
APART_TERM: Final = "roles_apart"
SECOND_TERM: Final = "second_supervisor"
"""The term by which the pit boss who requested a fill or credit may not confirm it at the table too."""
TERM_NAMES: Final = (PERMISSIONS_TERM, SIGNERS_TERM, APART_TERM)
"""The terms that hold the house's choices: each is the words of what differs from what ships."""


# --- Permissions -----------------------------------------------------------------------------------------------


class PermissionChoice(NamedTuple):
    """A permission that the house may give to a role, or take from it."""

    role: str
    permission: str
    given: bool
    """Whether the role has it in a house that chose nothing."""
    why: str
    """What the choice is about."""

    @property
    def word(self) -> str:
        """That the house chose otherwise, as its term has it."""
        return f"{self.role}{'-' if self.given else '+'}{self.permission.partition('.')[2]}"


CHOICES: Final = (
    PermissionChoice(
        PIT_BOSS, "tables.propose_limits", True, "What a table is set to is proposed from the floor, too."
    ),
    PermissionChoice(
        PIT_BOSS, "tables.confirm_code", True, "Else only two operators make codes for PINs and passwords."
    ),
    PermissionChoice(PIT_BOSS, "tables.set_alertrules", True, "Else operators alone say what the floor hears of."),
    PermissionChoice(PIT_BOSS, "ledger.acknowledge_alert", True, "Else operators alone look into discrepancies."),
    PermissionChoice(PIT_BOSS, "tables.watch_worth", True, "What a ruling is worth may sway who rules."),
    PermissionChoice(PIT_BOSS, "tables.export_lists", True, "Lists that leave the house as files."),
    PermissionChoice(OPERATOR, "tables.set_alertrules", False, "Where there is no pit boss at all hours."),
    PermissionChoice(OPERATOR, "ledger.acknowledge_alert", True, "Else discrepancies are the floor's alone."),
    PermissionChoice(OPERATOR, "tables.watch_worth", False, "What each ruling on a round is worth."),
    PermissionChoice(CASHIER, "tables.watch_chips", False, "The chips' series, at the counter."),
    PermissionChoice(SURVEILLANCE, "tables.acknowledge", True, "Else the surveillance sees alerts and takes none."),
    PermissionChoice(SURVEILLANCE, "tables.export_lists", True, "Lists that leave the house as files."),
    PermissionChoice(SURVEILLANCE, "tables.watch_worth", False, "What each ruling on a round is worth."),
    PermissionChoice(SURVEILLANCE, "tables.watch_shoes", False, "What finished shoes were worth, and who bet by it."),
    PermissionChoice(SURVEILLANCE, "ledger.view_logentry", False, "The whole log, and its search."),
)
"""Nothing of it moves a chip, and nothing gives access: those are fixed."""

_BY_PAIR: Final[Mapping[tuple[str, str], PermissionChoice]] = MappingProxyType(
    {(choice.role, choice.permission): choice for choice in CHOICES}
)


def choice_of(role: str, permission: str) -> PermissionChoice | None:
    """The choice that a house has about a role's permission; None where it has none."""
    return _BY_PAIR.get((role, permission))


def allows(choice: PermissionChoice, otherwise: Collection[str]) -> bool:
    """Whether the role has the permission, where the house chose these things otherwise."""
    return choice.given is not (choice.word in otherwise)


# --- Who signs -------------------------------------------------------------------------------------------------


class Strike(NamedTuple):
    """A role that the site may remove from the signatories of a slip step, as long as another role remains."""

    series: str
    """The series of slips; ``void`` for the two steps of a void."""
    stage: str
    role: str

    @property
    def word(self) -> str:
        return f"{self.series}.{self.stage}-{self.role}"


VOIDS: Final = "void"


def steps() -> Iterator[tuple[str, SlipType | None, Stage]]:
    """Every step of every kind of slip, and the two of a void."""
    for series in SLIP_TYPES.values():
        yield from ((series.name, series, stage) for stage in series.stages)
    yield from ((VOIDS, None, stage) for stage in VOID)


STRIKES: Final = tuple(
    Strike(name, stage.name, role) for name, _, stage in steps() if len(stage.roles) > 1 for role in sorted(stage.roles)
)


def signers(series: SlipType, stage: Stage, struck: Collection[str]) -> frozenset[str]:
    """The roles that sign a step where the house struck these."""
    name = VOIDS if any(step.name == stage.name for step in VOID) else series.name
    return _signers(name, stage, struck)


def _signers(name: str, stage: Stage, struck: Collection[str]) -> frozenset[str]:
    return frozenset(role for role in stage.roles if Strike(name, kind_of(stage.name), role).word not in struck)


def strike_fault(struck: Collection[str]) -> str:
    """What is wrong with striking these; empty if every step still finds who signs it."""
    for name, series, stage in steps():
        if not _signers(name, stage, struck):
            return f"{_step_called(name, series, stage)}: nobody would be left to sign it."
        if series and series.count and series.count.two_roles and not _two_roles(series, struck):
            return f"{series.title}: {series.count.two_roles} One of the two would be left."
    return ""


def _two_roles(series: SlipType, struck: Collection[str]) -> bool:
    first, second = (_signers(series.name, stage, struck) for stage in series.stages[:2])
    return any(role != second_role for role in first for second_role in second)


def _step_called(name: str, series: SlipType | None, stage: Stage) -> str:
    title = series.title if series else "Void"
    return f"{title}, \u201c{stage.title}\u201d"


# --- Kept apart ------------------------------------------------------------------------------------------------

_FREE: Final = tuple(pair for pair in combinations(ROLES, 2) if not duties.conflicts(pair))
"""What may be given together by what ships; the house may keep these apart, too, and can join no others."""
APART: Final[Mapping[str, tuple[str, str]]] = MappingProxyType({"+".join(pair): pair for pair in _FREE})


def further_fault(roles: Collection[str], apart: Collection[str]) -> str:
    """What is wrong with holding these roles together in a house that keeps these apart; empty if nothing is."""
    for word in apart:
        first, second = APART.get(word, ("", ""))
        if first in roles and second in roles:
            return f"Nobody is {_words(first)} and {_words(second)} at once: this house keeps them apart."
    return ""


# --- In words --------------------------------------------------------------------------------------------------

SAYS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "tables.propose_limits": "propose what a table is set to",
        "tables.confirm_code": "give the second half of codes for PINs and passwords",
        "tables.set_alertrules": "say which alerts are raised, and who hears of them",
        "ledger.acknowledge_alert": "look into discrepancies",
        "tables.watch_worth": "see what rulings on a round are worth",
        "tables.export_lists": "take lists out as files",
        "tables.watch_chips": "see the series of chips, and what was found or counterfeit",
        "tables.acknowledge": "acknowledge alerts",
        "tables.watch_shoes": "see what finished shoes were worth",
        "ledger.view_logentry": "read the whole log",
    }
)
"""The actions that each optional permission allows."""


def _words(role: str) -> str:
    return role.replace("_", " ")


def _called() -> Iterator[tuple[str, str]]:
    for choice in CHOICES:
        yield choice.word, f"{_words(choice.role)}: may {'not ' if choice.given else ''}{SAYS[choice.permission]}"
    stages = {(name, stage.name): _step_called(name, series, stage) for name, series, stage in steps()}
    for strike in STRIKES:
        yield strike.word, f"{_words(strike.role)}: does not sign {stages[strike.series, strike.stage]}"
    for word, (first, second) in APART.items():
        yield word, f"{_words(first)} and {_words(second)} are kept apart"


CALLED: Final[Mapping[str, str]] = MappingProxyType(dict(_called()))
"""Each word of the three terms, as people read it."""
