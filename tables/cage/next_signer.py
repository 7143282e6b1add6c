"""Describes who may sign the next step of a slip. Every page with a step shows it.

The rules themselves are in ``paper.sign``, ``role_choices.refuse_signer`` and the desks, which refuse all others.
"""

from __future__ import annotations

from collections.abc import Sequence

from tables.log import duties, slip_workflow
from tables.log.slip_types import SlipType, Stage
from tables.log.slip_workflow import GivenSignature
from tables.models import Staff
from tables.setup import role_choices


def describe(series: SlipType, stage: Stage, signed: Sequence[GivenSignature] = (), dealer: str = "") -> str:
    """Describes the possible signers of a step: "any pit boss except Bella, who requested it".

    ``signed``: the signatures so far. ``dealer``: the name of the dealer at the table, empty if unknown.
    """
    roles = role_choices.signers(series, stage)
    if series.count and series.count.two_roles and signed:
        roles -= {signed[0].role}
    who = f"any {slip_workflow.roles_in_words(roles)}"
    if stage.at_table_only:
        who = f"{dealer}, the dealer at the table" if dealer else "the dealer at the table"
    if stage.outsiders_only:
        who = f"{who} who has not worked at the table since it opened"
    barred = [f"{line.name}, who {_did(series, line)}" for line in signed if _is_barred(line, stage, roles, signed)]
    return f"{who} except {', and '.join(barred)}" if barred else who


def _did(series: SlipType, line: GivenSignature) -> str:
    stage = series.stage(line.stage)
    return stage.did if stage else "signed it"


def _is_barred(line: GivenSignature, stage: Stage, roles: frozenset[str], signed: Sequence[GivenSignature]) -> bool:
    """Whether the signer of an earlier step may not sign this step, though the role would allow it."""
    theirs = [other.stage for other in signed if other.signatory.is_same_person(line.signatory)]
    if theirs == [stage.also_by] and not role_choices.takes_second_supervisor():
        return False
    if line.role in roles:
        return True
    further = [role for role in roles if not duties.conflicts((line.role, role))]
    person = Staff.objects.filter(username=line.username).first() if further else None
    return person is not None and not roles.isdisjoint(person.roles)
