"""The models of the site's setup: staff, chips, tables, enrolled terminals, and the secret orders of electronic shoes.

Events at a table are not recorded here, but only in its log (``ledger.models.LogEntry``).
"""

from tables.models.chips import ChipSeries, Denomination, SeriesRetirement
from tables.models.credentials import AttemptCount, EmergencyCode, OneTimeCode, Passkey, SecretVersion
from tables.models.custody import DropSchedule, HouseKey
from tables.models.gaming_days import DayClose, HouseHours
from tables.models.limits import LimitPlan
from tables.models.pay_tables import PayTable
from tables.models.pits import FloorPlan, PitCover, PitSection, Post
from tables.models.policies import HouseTerms
from tables.models.proposals import Proposal, ProposalEnd
from tables.models.rotation import LineUp
from tables.models.service_accounts import KeptAnswer, ServiceAccount, ServiceToken
from tables.models.shoes import HouseShoe
from tables.models.simulations import SimulatedChunk
from tables.models.staff import Staff
from tables.models.tables import SeatPage, ShoeSource, Table
from tables.models.terminals import Terminal
from tables.models.training import Certificate, Practice, PracticeAnswer
from tables.models.verifications import Verification

__all__ = [
    "AttemptCount", "Certificate", "ChipSeries", "DayClose", "Denomination", "DropSchedule", "EmergencyCode",
    "FloorPlan", "HouseHours", "HouseKey", "HouseShoe", "HouseTerms", "KeptAnswer", "LimitPlan", "LineUp",
    "OneTimeCode",
    "Passkey", "PayTable", "PitCover", "PitSection", "Post", "Practice", "PracticeAnswer", "Proposal",
    "ProposalEnd", "SeatPage", "SecretVersion", "SeriesRetirement", "ServiceAccount", "ServiceToken", "ShoeSource",
    "SimulatedChunk", "Staff", "Table", "Terminal", "Verification",
]  # fmt: skip
