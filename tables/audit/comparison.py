"""Compares an entry with the one that the program would have written, and describes the first difference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ledger.proof.chain import Entry
from ledger.proof.spelling import canonical
from tables.floor.command_context import PendingEntry
from tables.log.event import AuditFailure, Event


def compare(step: PendingEntry, event: Event, entry: Entry) -> None:
    """Raise AuditFailure if an entry differs from the one that the program would have written."""
    due = step.event
    if (due.subject, due.kind) != (event.subject, event.kind):
        raise AuditFailure(f"the house would have written {due.subject} {due.kind}")
    if step.round != entry.round:
        raise AuditFailure(f"its round is {entry.round}, the table is at round {step.round}")
    # The log alone records the request and its refusal; a terminal's signature is verified with its key (see
    # `Floor.attest`).
    input_facts = {"request": event.request, "refused": event.refused, "happened_at": event.happened_at}
    due = msgspec.structs.replace(due, **input_facts, attested=event.attested)
    if due != event and (where := first_difference(due.content(), event.content())):
        raise AuditFailure(f"its {where}")


def first_difference(due: Mapping[str, Any], content: Mapping[str, Any]) -> str | None:
    """The first difference of two contents as a phrase; None if they are equal."""
    if canonical(due) == canonical(content):
        return None
    for name in sorted(due.keys() | content.keys()):
        ours, theirs = due.get(name), content.get(name)
        if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
            if deeper := first_difference(ours, theirs):
                return f"{name}.{deeper}"
        elif canonical({name: ours}) != canonical({name: theirs}):
            return f"{name} is {_abbreviation(theirs)}, not {_abbreviation(ours)}"
    return "content is another"


def _abbreviation(value: Any) -> str:
    spelled = canonical({"": value}).decode()[4:-1]
    return spelled if len(spelled) <= 80 else f"{spelled[:77]}..."
