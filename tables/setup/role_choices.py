"""The site's choices about its roles, used on the floor and in proofs, with changes from a moment on.

The choices are three policies (``tables/log/role_choices.py``), so they are entered, dated, approved and verified like
all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.utils import timezone

from ledger.proof.chain import Entry
from tables.log import duties, role_choices
from tables.log.event import AuditFailure
from tables.log.policies import TERMS, Values
from tables.log.role_choices import APART_TERM, PERMISSIONS_TERM, SECOND_TERM, SIGNERS_TERM, Strike
from tables.log.slip_types import SlipType, Stage
from tables.log.slip_workflow import Slip, either
from tables.models import HouseTerms, Staff
from tables.models.staff import LATE_BY
from tables.refusals import Refused
from tables.roles import PERMISSIONS, WORDS, Role
from tables.setup import policies
from tables.setup.dual_control import ProposalDraft

ABOUT: Final = "roles"
"""The subject of a proposal of such a change."""


# --- Asked -----------------------------------------------------------------------------------------------------


def otherwise(moment: datetime | None = None) -> tuple[str, ...]:
    """The permissions that the site grants or withdraws, as changes from the defaults."""
    return policies.words(PERMISSIONS_TERM, moment)


def struck(moment: datetime | None = None) -> tuple[str, ...]:
    """The roles that the site removed from the signatories of a step."""
    return policies.words(SIGNERS_TERM, moment)


def signers(series: SlipType, stage: Stage) -> frozenset[str]:
    """The roles that may sign a step at this site."""
    return role_choices.signers(series, stage, struck())


def refuse_signer(slip: Slip, stage: Stage, by: Staff) -> None:
    """Raises Refused if the policy of the site excludes the signer's role from a step, or requires a second supervisor.
    ``slip`` is as the signature would leave it."""
    roles = signers(slip.series, stage)
    if by.role not in roles:
        sentence = f"{slip.label}: in this house this step is signed by {either(roles)}, not by {by.name}."
        raise Refused("wrong_role", sentence, 403)
    if slip.is_signed_again and takes_second_supervisor():
        sentence = f"{slip.label}: {by.name} requested it. The policy requires that another pit boss signs this step."
        raise Refused("signed_already", sentence, 409)


def takes_second_supervisor() -> bool:
    """Whether the policy requires that another pit boss than the requester confirms a fill or credit."""
    return bool(policies.in_force(SECOND_TERM))


def check_signer(slip: Slip, role: str, entry: Entry) -> None:
    """Raises AuditFailure where a logged signature breaks the role choices then in force.

    Entries without a time are not checked.
    """
    if slip.is_signed_again and not policies.went_by(SECOND_TERM, entry, lambda demanded: not demanded):
        raise AuditFailure("one person signed twice, and the policy required a second supervisor then")
    stage = slip.latest
    if stage is None or entry.at is None or role not in stage.roles:
        return
    # Entries just after a change may follow the choices before it, as processes cache them.
    moments = (entry.at, entry.at - LATE_BY)
    if not any(role in role_choices.signers(slip.series, stage, struck(moment)) for moment in moments):
        raise AuditFailure(f"the house had struck {role.replace('_', ' ')} from those who sign this step")


def kept_apart(moment: datetime | None = None) -> tuple[str, ...]:
    """The pairs of incompatible roles that the site added, now or at a moment."""
    return policies.words(APART_TERM, moment)


def apart_fault(roles: Collection[str]) -> str:
    """Why one person may not have these roles, now or after a change already entered; empty if they may."""
    sentence = duties.fault(roles)
    if sentence:
        return sentence
    moment = timezone.now()
    # Changes already entered count: the person would have both roles on the day that they take effect.
    to_come = [change.values.get(APART_TERM, ()) for change in policies.changes() if change.effective > moment]
    words = [*kept_apart(), *(word for values in to_come for word in values)]
    return role_choices.further_fault(roles, words)


def check_roles(roles: Collection[str], entry: Entry) -> None:
    """Raises AuditFailure where an entry gives one person incompatible roles."""
    # Entries just after a change may follow the choices before it, as processes cache them.
    before = entry.at - LATE_BY if entry.at else None
    sentence = duties.fault(roles)
    if not sentence and entry.at:
        present, then = (role_choices.further_fault(roles, kept_apart(moment)) for moment in (entry.at, before))
        sentence = present and then
    if sentence:
        raise AuditFailure(f"it gives one person roles that are kept apart: {sentence}")


# --- Changed ---------------------------------------------------------------------------------------------------


def faults(values: Values) -> dict[str, str]:
    """The faults of choices beyond their own range: a staff member has two roles that would become incompatible."""
    for word in values.get(APART_TERM, ()):
        pair = set(role_choices.APART.get(word, ()))
        people = [person for person in Staff.objects.filter(is_active=True) if pair and pair <= set(person.roles)]
        if people:
            first = people[0]
            sentence = f"{first.name} has both: take one of the two roles from them first."
            return {APART_TERM: f"{role_choices.CALLED[word].capitalize()}: {sentence}"}
    return {}


policies.JUDGES.append(faults)


def draft(values: Values, effective: datetime | None) -> ProposalDraft | None:
    """A change of the choices, as it is proposed where it takes two people; None where one enters it. Raises
    Refused."""
    _refuse_strangers(values)
    return policies.draft(values, effective, about=ABOUT)


def change(values: Values, effective: datetime | None, *, by: Staff) -> HouseTerms | None:
    """Enter it. None where nothing would be changed. Raises Refused."""
    _refuse_strangers(values)
    return policies.change(values, effective, by=by)


def _refuse_strangers(values: Values) -> None:
    if strangers := values.keys() - set(role_choices.TERM_NAMES):
        raise Refused("bad_terms", f"{min(strangers)} is no choice about roles.", 422)


# --- Shown -----------------------------------------------------------------------------------------------------

NEVER: Final = "never"
ALWAYS: Final = "always"
CHOICE: Final = "choice"


@dataclass(frozen=True, slots=True)
class RoleAnswer:
    """Whether a role has a permission, and whether by default or by the site's choice."""

    role: str
    bounds: str
    allowed: bool
    word: str = ""
    """The word for the opposite choice in the policy."""
    why: str = ""

    @property
    def label(self) -> str:
        return str(Role(self.role).label)


@dataclass(frozen=True, slots=True)
class DutyRow:
    """One thing that can be done or signed, role by role."""

    says: str
    cells: tuple[RoleAnswer, ...]
    group: str = ""


def permission_grid(chosen: Collection[str]) -> list[DutyRow]:
    """Every permission as text, with the roles that have it under these choices."""
    return [
        DutyRow(words, tuple(_permission_cell(role, permission, chosen) for role in Role.values))
        for permission, words in WORDS.items()
    ]


def _permission_cell(role: str, permission: str, chosen: Collection[str]) -> RoleAnswer:
    choice = role_choices.choice_of(role, permission)
    if choice:
        return RoleAnswer(role, CHOICE, role_choices.allows(choice, chosen), choice.word, choice.why)
    is_granted = permission in PERMISSIONS[Role(role)]
    return RoleAnswer(role, ALWAYS if is_granted else NEVER, is_granted)


def signer_grid(struck_words: Collection[str]) -> Iterator[DutyRow]:
    """Every step of every slip, and which role signs it where these are struck."""
    for name, series, stage in role_choices.steps():
        cells = tuple(_signer_cell(name, stage, role, struck_words) for role in Role.values)
        yield DutyRow(stage.title, cells, series.title if series else "Void of a slip")


def _signer_cell(name: str, stage: Stage, role: str, struck_words: Collection[str]) -> RoleAnswer:
    word = Strike(name, stage.name, role).word
    if role not in stage.roles:
        return RoleAnswer(role, NEVER, allowed=False)
    if len(stage.roles) == 1:
        return RoleAnswer(role, ALWAYS, allowed=True)
    return RoleAnswer(role, CHOICE, word not in struck_words, word)


def chosen_for(role: str, moment: datetime | None = None) -> tuple[str, ...]:
    """The site's choices about a role, as texts."""
    words = [*otherwise(moment), *struck(moment)]
    own = [word for word in words if role in (word.rpartition("-")[2], word.partition("+")[0], word.partition("-")[0])]
    apart = [word for word in kept_apart(moment) if role in role_choices.APART.get(word, ())]
    return tuple(role_choices.CALLED.get(word, word) for word in (*own, *apart))


def in_words() -> list[tuple[str, list[str]]]:
    """All choices that differ from the defaults, by policy."""
    return [
        (TERMS[name].title, [role_choices.CALLED.get(word, word) for word in policies.words(name)])
        for name in role_choices.TERM_NAMES
    ]
