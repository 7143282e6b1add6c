"""The tree of the books' heads that witnesses outside see grow: under which name, and by which key it is signed."""

from __future__ import annotations

from typing import ClassVar

from tables.log.event import AuditFailure, Context, Event
from tables.log.exception_categories import KEYS
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import from_fields
from tables.log.published.form import OPERATIONS
from tables.log.signatory import document_fault
from tables.log.writers import COMMAND


class CheckpointsBegun(Event, frozen=True, kw_only=True, omit_defaults=True):
    """From now on the heads of all logs go to external witnesses, under this name and signed by this key. A new name
    begins a new tree; a known name with a new key continues its tree."""

    subject: ClassVar[str] = "checkpoint"
    kinds: ClassVar[tuple[str, ...]] = ("begun",)
    of_the_house: ClassVar[bool] = True
    record = KindRecord(writer=COMMAND, moves=NOTHING, exception=KEYS, feed=OPERATIONS, alert=NO_ALERT)

    key: str
    """As witnesses are given it: name, id and public key. The name is the tree's origin."""
    reason: str = ""
    """Why an older tree or key is left; the first has none."""
    by: tuple[str, ...] = ()
    """Who stands for it, where an older tree is left."""

    def bear_out(self, context: Context) -> None:
        """Two people signed it, where an older tree is left."""
        if self.by and (fault := document_fault(self.by)):
            raise AuditFailure(fault)

    @property
    def origin(self) -> str:
        return self.key.partition("+")[0]

    description = from_fields(
        "The heads of all books go to witnesses outside as {origin}, instead of the one before: {reason}",
        otherwise=from_fields("The heads of all books go to witnesses outside as {origin}"),
    )
