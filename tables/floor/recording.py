"""The data that the stages of record() pass on: an input with its options, and its table under the lock."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from ledger.proof.chain import Head
from tables.floor.back_entry import FromPaper
from tables.floor.command_context import AtSeat
from tables.floor.inputs import Input
from tables.floor.writer import Request
from tables.log.attestation import Attestation
from tables.models import ServiceAccount, Staff, Table
from tables.state.acknowledgement import Acknowledged

# Frozen, all three: a stage can read what the stages before it found, and change nothing under the stages after it.


@dataclass(frozen=True, slots=True)
class EntryOptions:
    """The arguments of record() that come with an input; ``recorder.record`` describes each."""

    key: UUID
    expected_seq: int | None
    attested: Attestation | None
    paper: FromPaper | None
    receipt: Acknowledged | None


@dataclass(frozen=True, slots=True)
class Recording:
    """An input on its way to the log, before its table was locked."""

    table: Table
    """As the caller read it, perhaps long ago. Decisions use the settings of ``LockedTable`` instead."""
    entered: Input
    by: Staff | AtSeat | ServiceAccount
    options: EntryOptions
    request: Request
    """The fingerprint of input and author, which tells a repeated input from another one under its key."""


@dataclass(frozen=True, slots=True)
class LockedTable:
    """A table whose log is locked, as it was read after the lock was acquired."""

    head: Head
    table: Table
    """With its chips. Its settings cannot change before the transaction ends: that takes this lock, too."""
    is_key_known: bool
    """Whether the log has an entry with the key of this input."""
    shown_hash: bytes | None
    """Hash of the entry with the number that the screen has seen; None where the log has no such entry."""
