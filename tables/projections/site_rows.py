"""The rows that mirror entries of the site's log, one projection for each model: set once, never changed."""

from __future__ import annotations

from typing import Final

from tables.log.entries.chips import ChipSeriesAdded
from tables.log.entries.custody import DropScheduled, HouseKeySet
from tables.log.entries.house_terms import TermsChanged
from tables.log.entries.limit_plans import LimitPlanSet
from tables.log.entries.pits import FloorPlanDrawn, PitSectionSet
from tables.log.entries.posts import CoverSet, PostSet
from tables.log.entries.proposals import Proposed
from tables.log.entries.rotation import LineUpSet
from tables.log.entries.settings import HoursSet, PayTableMade
from tables.models import (
    ChipSeries,
    DropSchedule,
    FloorPlan,
    HouseHours,
    HouseKey,
    HouseTerms,
    LimitPlan,
    LineUp,
    PayTable,
    PitCover,
    PitSection,
    Post,
    Proposal,
)
from tables.projections.projection import Projection

CHIP_SERIES: Final = Projection(
    title="series of chips", event=ChipSeriesAdded, model=ChipSeries, name=lambda row: str(row["name"])
)
PAY_TABLES: Final = Projection(
    title="pay table",
    event=PayTableMade,
    model=PayTable,
    name=lambda row: f"{row['game']} {row['name']} version {row['version']}",
)
KEYS: Final = Projection(title="setting of a key", event=HouseKeySet, model=HouseKey)
DROP_SCHEDULES: Final = Projection(title="schedule of drops", event=DropScheduled, model=DropSchedule)
PIT_SECTIONS: Final = Projection(title="section of a pit", event=PitSectionSet, model=PitSection)
FLOOR_PLANS: Final = Projection(title="plan of a pit", event=FloorPlanDrawn, model=FloorPlan)
PIT_ASSIGNMENTS: Final = Projection(title="post", event=PostSet, model=Post)
PIT_COVERS: Final = Projection(title="cover", event=CoverSet, model=PitCover)
LIMIT_PLANS: Final = Projection(title="limit plan", event=LimitPlanSet, model=LimitPlan)
LINE_UPS: Final = Projection(title="line-up", event=LineUpSet, model=LineUp)
GAMING_HOURS: Final = Projection(title="gaming hours", event=HoursSet, model=HouseHours)
POLICIES: Final = Projection(
    title="change of a policy", event=TermsChanged, model=HouseTerms, fields={"values": "after"}
)
PROPOSALS: Final = Projection(title="proposal", event=Proposed, model=Proposal, fields={"proposed_by": "username"})

SITE_ROWS: Final = (
    CHIP_SERIES,
    PAY_TABLES,
    KEYS,
    DROP_SCHEDULES,
    PIT_SECTIONS,
    FLOOR_PLANS,
    PIT_ASSIGNMENTS,
    PIT_COVERS,
    LIMIT_PLANS,
    LINE_UPS,
    GAMING_HOURS,
    POLICIES,
    PROPOSALS,
)
