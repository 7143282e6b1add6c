"""The models of logs, chips, alerts and slips. Most rows can only be added; triggers in the database enforce that."""

from ledger.models.alerts import Acknowledgement, Alert, AlertRepeat, Bookmark, Escalation
from ledger.models.append_only import AppendOnly
from ledger.models.chips import Account, Recount, Transfer
from ledger.models.discrepancies import Assignment, Discrepancy, Finding
from ledger.models.logs import HOUSE, Book, LogEntry, Notice, ShortBookKey
from ledger.models.runs import Run, RunEnd
from ledger.models.seals import BookRoot, Cosignature, DayRoot, HeadsRow
from ledger.models.slips import Slip, SlipSignature

__all__ = [
    "HOUSE",
    "Account",
    "Acknowledgement",
    "Alert",
    "AlertRepeat",
    "AppendOnly",
    "Assignment",
    "Book",
    "BookRoot",
    "Bookmark",
    "Cosignature",
    "DayRoot",
    "Discrepancy",
    "Escalation",
    "Finding",
    "HeadsRow",
    "LogEntry",
    "Notice",
    "Recount",
    "Run",
    "RunEnd",
    "ShortBookKey",
    "Slip",
    "SlipSignature",
    "Transfer",
]  # fmt: skip
