"""Who may open and send what: every address of the house, for every role, declared here.

An address that is not declared fails, so whoever adds one has to say who may use it.
"""

import logging
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import time, timedelta
from itertools import product
from typing import Any

import msgspec
import pytest
from django.core.cache import cache
from django.db import transaction
from django.http import HttpResponseBase
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from ledger import alerts, discrepancies
from ledger.models import Account, Book, Finding, Recount, Run, Slip, SlipSignature, Transfer
from ledger.recount import recount
from tables import dealing, downloads
from tables.alerting import channels
from tables.day.hours import DAY, day_of, default, set_hours
from tables.handlers import HANDLINGS
from tables.inputs import OpenDispute
from tables.log import series as slip_series
from tables.log.entries.custody import HouseKeySet
from tables.log.entries.limit_plans import LimitPlanSet
from tables.log.entries.pits import PitSectionSet
from tables.log.limit_plans import Always
from tables.models import Denomination, PitCover, Post, Staff, Table
from tables.refusals import Refused
from tables.roles import PERMISSIONS, Role
from tables.setup import (
    chip_series,
    custody,
    house_terms,
    limit_plans,
    pay_tables,
    pits,
    posts,
    proposals,
    service_accounts,
)
from tables.setup.posts import Wanted
from tables.setup.service_accounts import Access
from tables.setup.two_people import Draft
from tables.staff import service_tokens, terminals
from tests import floor
from tests.tiers import sampled

IN = "to sign-in"
Row = tuple[int | str, ...]
VIEWERS = ("nobody", "a dealer elsewhere", "the dealer there", "a pit boss", "an operator", "an auditor")


@dataclass(frozen=True)
class Guard:
    """What each of the viewers gets: for looking (GET), and for sending an empty form (POST)."""

    get: Row
    post: Row


def everybody(status: int | str) -> Row:
    return (status,) * len(VIEWERS)


OPEN = Guard(everybody(200), everybody(200))
SIGNING_IN = Guard(everybody(200), everybody(422))
SIGNING_OUT = Guard(everybody(302), everybody(IN))
A_DEAD_LINK = Guard(everybody(410), everybody(410))
ITS_KEY = Guard(everybody(200), (403, 400, 400, 400, 400, 400))
TO_ONES_OWN = Guard((IN, 302, 302, 302, 302, 302), everybody(405))
PASSWORD = Guard((IN, 200, 200, 200, 200, 200), (IN, 422, 422, 422, 422, 422))
WORK_AS = Guard((IN, 200, 200, 200, 200, 200), (IN, 403, 403, 403, 403, 403))
ACCESS = Guard((IN, 403, 403, 403, 200, 200), (IN, 403, 403, 403, 422, 422))
OWN_CODE = Guard((IN, 403, 403, 403, 200, 403), (IN, 403, 403, 403, 422, 403))
SENT_BY_ANYBODY = Guard(everybody(IN), everybody(200))
NO_PASSKEY = Guard(everybody(IN), everybody(409))
MAKING_A_PIN = Guard(everybody(200), (403, 422, 422, 422, 422, 422))
ACCOUNT = Guard((IN, 200, 200, 200, 200, 200), (IN, 405, 405, 405, 405, 405))
READ_AND_GONE = Guard((IN, 302, 302, 302, 302, 302), (IN, 302, 302, 302, 302, 302))
OWN_SECRET = Guard((IN, 302, 302, 302, 302, 302), (IN, 422, 422, 422, 422, 422))
NOTHING_TO_REGISTER = Guard((IN, 302, 302, 302, 302, 302), (IN, 409, 409, 409, 409, 409))
NOT_THEIR_PASSKEY = Guard((IN, 302, 302, 302, 302, 302), (IN, 404, 404, 404, 404, 404))
WHOSE_PASSKEY = Guard((IN, 302, 302, 302, 302, 302), (IN, 200, 200, 200, 200, 200))
CODES = Guard((IN, 403, 403, 200, 200, 403), (IN, 403, 403, 404, 404, 403))
PASSWORD_OF_THE_ADMIN = Guard(everybody(302), everybody(302))

PICK_A_TABLE = Guard((IN, 200, 200, 403, 403, 403), (401, 405, 405, 403, 403, 403))
AT_THE_TABLE = Guard((IN, 403, 200, 403, 403, 403), (401, 405, 405, 403, 403, 403))
NO_READER = Guard((IN, 404, 404, 403, 403, 403), (401, 405, 405, 403, 403, 403))
ENTER_AT_THE_TABLE = Guard((IN, 302, 302, 403, 403, 403), (401, 403, 400, 403, 403, 403))
CALL_THE_PIT = Guard((IN, 302, 302, 403, 403, 403), (401, 302, 302, 403, 403, 403))
TAKE_THE_TABLE = Guard((IN, 302, 302, 403, 403, 403), (401, 200, 302, 403, 403, 403))
LEAVE_THE_TABLE = Guard((IN, 302, 302, 403, 403, 403), (401, 403, 302, 403, 403, 403))

AT_THE_TABLE_DISPUTE = Guard((IN, 403, 200, 403, 403, 403), (401, 403, 400, 403, 403, 403))
AT_THE_TABLE_CASH = Guard((IN, 403, 200, 403, 403, 403), (401, 403, 400, 403, 403, 403))
AT_THE_TABLE_RELIEF = Guard((IN, 403, 200, 403, 403, 403), (401, 403, 422, 403, 403, 403))
HAND_OVER = Guard((IN, 403, 200, 200, 403, 403), (IN, 403, 400, 400, 403, 403))
NOBODYS_SEAT = Guard(everybody(404), everybody(404))
NO_SIGN = Guard(everybody(404), everybody(405))

PRACTISE = Guard((IN, 200, 200, 403, 403, 403), (401, 302, 302, 403, 403, 403))
NO_SUCH_PRACTICE = Guard((IN, 404, 404, 404, 404, 404), (IN, 405, 405, 405, 405, 405))
ANSWER = Guard((IN, 302, 302, 403, 403, 403), (401, 404, 404, 403, 403, 403))
CERTIFY = Guard((IN, 302, 302, 302, 302, 302), (IN, 404, 404, 404, 404, 404))

SIGN_A_DAY = Guard((IN, 403, 403, 302, 302, 302), (IN, 403, 403, 302, 302, 302))
CAGE = Guard((IN, 403, 403, 403, 403, 200), (IN, 403, 403, 403, 403, 400))
SLIPS = Guard((IN, 403, 200, 200, 200, 200), (IN, 405, 405, 405, 405, 405))
SLIPS_LISTED = Guard((IN, 403, 403, 200, 200, 200), (IN, 405, 405, 405, 405, 405))
PAPERS = Guard((IN, 403, 403, 200, 200, 200), (IN, 403, 403, 400, 400, 400))
KEY_REGISTER = Guard((IN, 403, 403, 200, 200, 200), (IN, 405, 405, 405, 405, 405))
BEGIN_A_SLIP = Guard((IN, 403, 200, 200, 200, 200), (IN, 403, 400, 400, 400, 400))
A_SLIP = Guard((IN, 403, 404, 404, 404, 404), (IN, 403, 404, 404, 404, 404))

WATCH = Guard((IN, 403, 403, 200, 200, 200), (IN, 403, 403, 405, 405, 405))
SET_UP_TABLES = Guard((IN, 403, 403, 403, 200, 200), (IN, 403, 403, 403, 405, 405))
NO_SUCH_ERRAND = Guard((IN, 403, 403, 403, 302, 302), (IN, 403, 403, 403, 404, 404))
NO_BUNDLE = Guard((IN, 403, 403, 403, 302, 302), (IN, 403, 403, 403, 405, 405))
ACKNOWLEDGE = Guard((IN, 403, 403, 302, 302, 403), (IN, 403, 403, 302, 302, 403))
SET_A_RULE = Guard((IN, 403, 403, 200, 200, 200), (IN, 403, 403, 422, 403, 403))
TRY_A_CHANNEL = Guard((IN, 403, 403, 403, 302, 403), (IN, 403, 403, 403, 302, 403))
SEND_AGAIN = Guard((IN, 403, 403, 302, 302, 403), (IN, 403, 403, 302, 302, 403))
BOOKMARKS = Guard((IN, 403, 403, 403, 403, 200), (IN, 403, 403, 403, 403, 405))
BOOKMARK = Guard((IN, 403, 403, 403, 403, 403), (IN, 403, 403, 403, 403, 403))
A_MOMENT = Guard((IN, 403, 403, 404, 404, 404), (IN, 403, 403, 405, 405, 405))
TELL_THE_CLOCK = Guard((IN, 302, 302, 302, 302, 302), (IN, 400, 400, 400, 400, 400))
PROPOSE = Guard((IN, 403, 403, 200, 200, 200), (IN, 403, 403, 400, 400, 403))
RUN = Guard((IN, 403, 403, 200, 403, 403), (IN, 403, 403, 400, 403, 403))
RUN_A_PIT = Guard((IN, 403, 403, 302, 403, 403), (IN, 403, 403, 422, 403, 403))
CONFIRM_RESTORED = Guard((IN, 403, 403, 302, 403, 403), (IN, 403, 403, 400, 403, 403))
GIVE_BACK = Guard((IN, 403, 403, 302, 403, 403), (IN, 403, 403, 409, 403, 403))
A_DISPUTE = Guard((IN, 403, 403, 200, 200, 200), (IN, 403, 403, 400, 403, 403))
CORRECT = Guard((IN, 403, 403, 200, 403, 403), (IN, 403, 403, 422, 403, 403))
SHOES = Guard((IN, 403, 403, 403, 403, 200), (IN, 403, 403, 403, 403, 405))
NO_SUCH_SHOE = Guard((IN, 403, 403, 403, 403, 404), (IN, 403, 403, 403, 403, 405))
NO_SUCH_SLIP = Guard((IN, 403, 403, 404, 404, 404), (IN, 403, 403, 404, 404, 404))
STREAM = Guard((401, 403, 403, 200, 200, 200), (401, 403, 403, 200, 200, 200))

NO_ROADS = Guard((IN, 403, 403, 404, 404, 404), (IN, 403, 403, 405, 405, 405))
"""A display of roads, at a table whose game has none."""

API_FLOOR = Guard((401, 200, 200, 200, 200, 200), (401, 405, 405, 405, 405, 405))
API_TABLE = Guard((401, 403, 200, 200, 200, 200), (401, 405, 405, 405, 405, 405))
API_READER = Guard((401, 403, 403, 403, 403, 403), (401, 415, 415, 403, 403, 403))
API_INPUT = Guard((401, 405, 405, 405, 405, 405), (401, 415, 415, 415, 403, 403))
API_PAST = Guard((401, 403, 200, 200, 200, 200), (401, 405, 405, 405, 405, 405))
API_SCHEMA = Guard((401, 403, 403, 200, 200, 200), (401, 403, 403, 405, 405, 405))
API_READ = Guard((401, 403, 403, 200, 200, 200), (401, 405, 405, 405, 405, 405))
API_HOUSE = Guard((401, 403, 403, 403, 200, 200), (401, 405, 405, 405, 405, 405))
API_ERRANDS = Guard((401, 403, 403, 403, 200, 200), (401, 403, 403, 403, 415, 415))
API_NO_ERRAND = Guard((401, 403, 403, 403, 404, 404), (401, 405, 405, 405, 405, 405))
API_SET_TABLE = Guard((401, 403, 200, 200, 200, 200), (401, 403, 403, 403, 415, 403))
API_PROPOSE = Guard((401, 405, 405, 405, 405, 405), (401, 403, 403, 415, 415, 403))
API_PLANS = Guard((401, 403, 403, 200, 200, 200), (401, 403, 403, 403, 415, 403))
API_COVER = Guard((401, 405, 405, 405, 405, 405), (401, 403, 403, 415, 403, 403))
API_PROPOSALS = Guard((401, 403, 403, 200, 200, 200), (401, 405, 405, 405, 405, 405))
API_NO_PROPOSAL = Guard((401, 403, 403, 404, 200, 200), (401, 405, 405, 405, 405, 405))
API_APPROVE = Guard((401, 405, 405, 405, 405, 405), (401, 403, 403, 403, 415, 415))
API_WITHDRAW = Guard((401, 405, 405, 405, 405, 405), (401, 403, 403, 415, 415, 415))
API_CLAIM = Guard((401, 405, 405, 405, 405, 405), (401, 415, 415, 415, 403, 403))
API_RUN = Guard((401, 405, 405, 405, 405, 405), (401, 403, 403, 415, 403, 403))
API_SIGN = Guard((401, 405, 405, 405, 405, 405), (401, 403, 403, 415, 415, 415))
API_NO_CORRECTION = Guard((401, 403, 403, 404, 404, 404), (401, 405, 405, 405, 405, 405))
API_SLIPS = Guard((401, 200, 200, 200, 200, 200), (401, 415, 415, 415, 415, 415))
API_NO_SLIP = Guard((401, 404, 404, 404, 404, 404), (401, 405, 405, 405, 405, 405))
API_SIGN_A_SLIP = Guard((401, 405, 405, 405, 405, 405), (401, 415, 415, 415, 415, 415))
API_ACKNOWLEDGE = Guard((401, 405, 405, 405, 405, 405), (401, 403, 403, 415, 415, 403))
API_CAGE = Guard((401, 403, 403, 403, 403, 200), (401, 405, 405, 405, 405, 405))
API_OF_NO_HOUSE = Guard(everybody(200), everybody(405))
API_EVENTS = Guard((401, 403, 403, 403, 200, 200), (401, 405, 405, 405, 405, 405))
NO_METRICS = Guard(everybody(404), everybody(405))
API_NOWHERE = Guard((401, 404, 404, 404, 404, 404), (401, 404, 404, 404, 404, 404))


def admin(operator: int, auditor: int, operator_sends: int, auditor_sends: int) -> Guard:
    """The admin is for two roles."""
    return Guard((IN, IN, IN, IN, operator, auditor), (IN, IN, IN, IN, operator_sends, auditor_sends))


ADMIN_LOGIN = Guard((IN, 403, 403, 403, 403, 403), (IN, 403, 403, 403, 403, 403))
READ = admin(200, 200, 200, 200)
CHOOSE_FOR_ROLES = admin(200, 200, 200, 403)
READ_ONLY = admin(200, 200, 403, 403)
SHOWN = admin(200, 200, 405, 405)
NEVER = admin(403, 403, 403, 403)
NOTHING_THERE = admin(404, 404, 404, 404)
MOVED = admin(302, 302, 302, 302)
NO_AUTOCOMPLETE = admin(403, 403, 405, 405)
SET = admin(200, 200, 200, 403)
BIND = admin(200, 200, 302, 403)
KEYS = admin(302, 403, 302, 403)
ADD = admin(200, 403, 200, 403)
ASK_THEN_DO = admin(200, 403, 302, 403)

DECLARED: dict[str, Guard] = {
    "healthz": OPEN,
    "": TO_ONES_OWN,
    "sign-in/": SIGNING_IN,
    "sign-out/": SIGNING_OUT,
    "sign-in/passkey/options/": SENT_BY_ANYBODY,
    "sign-in/passkey/": NO_PASSKEY,
    "pin/": MAKING_A_PIN,
    "password/code/": SIGNING_IN,
    "password/": PASSWORD,
    "account/": ACCOUNT,
    "account/pin/": OWN_SECRET,
    "account/passkeys/options/": OWN_SECRET,
    "account/passkeys/": NOTHING_TO_REGISTER,
    "account/passkeys/<int:pk>/withdraw/": NOT_THEIR_PASSKEY,
    "account/passkeys/<int:pk>/vouch/": NOT_THEIR_PASSKEY,
    "codes/": CODES,
    "start/": ACCOUNT,
    "start/read": READ_AND_GONE,
    "work-as/": WORK_AS,
    "emergency/": SIGNING_IN,
    "emergency/code/": OWN_CODE,
    "terminal/": ITS_KEY,
    "enrol/<str:code>/": A_DEAD_LINK,
    "tables/": PICK_A_TABLE,
    "tables/<int:pk>/": AT_THE_TABLE,
    "tables/<int:pk>/board": AT_THE_TABLE,
    "tables/<int:pk>/reader": NO_READER,
    "tables/<int:pk>/input": ENTER_AT_THE_TABLE,
    "tables/<int:pk>/call": CALL_THE_PIT,
    "tables/<int:pk>/take": TAKE_THE_TABLE,
    "tables/<int:pk>/leave": LEAVE_THE_TABLE,
    "tables/<int:pk>/cash/": AT_THE_TABLE_CASH,
    "tables/<int:pk>/relief/": AT_THE_TABLE_RELIEF,
    "tables/<int:pk>/seats/": HAND_OVER,
    "tables/<int:pk>/dispute/": AT_THE_TABLE_DISPUTE,
    "tables/<int:pk>/mishaps/": AT_THE_TABLE,
    "tables/<int:pk>/papers/": AT_THE_TABLE_DISPUTE,
    "tables/<int:pk>/reopen/": AT_THE_TABLE_DISPUTE,
    "tables/<int:pk>/mishaps/<slug:mishap>/": AT_THE_TABLE_DISPUTE,
    "placard/<str:token>/": NO_SIGN,
    "placard/pit/<str:token>/": NO_SIGN,
    "seat/<str:token>/": NOBODYS_SEAT,
    "seat/<str:token>/board": NOBODYS_SEAT,
    "seat/<str:token>/choose": NOBODYS_SEAT,
    "seat/<str:token>/live": NOBODYS_SEAT,
    "pit/": WATCH,
    "pit/plan/": WATCH,
    "pit/restored/": WATCH,
    "pit/restored.csv": WATCH,
    "pit/restored/<int:pk>/confirm": CONFIRM_RESTORED,
    "pit/posts/": WATCH,
    "pit/posts/cover": RUN_A_PIT,
    "pit/posts/give-back": GIVE_BACK,
    "pit/find/": SLIPS_LISTED,
    "pit/alerts/": WATCH,
    "pit/alerts.csv": WATCH,
    "pit/alerts/acknowledge": ACKNOWLEDGE,
    "pit/alerts/rules/": WATCH,
    "pit/alerts/rules/<slug:about>/": SET_A_RULE,
    "pit/alerts/delivery/": WATCH,
    "pit/alerts/delivery/<int:channel>/test": TRY_A_CHANNEL,
    "pit/alerts/delivery/<int:channel>/again": SEND_AGAIN,
    "pit/alerts/delivery/letters/<int:letter>/again": SEND_AGAIN,
    "pit/bookmarks/": BOOKMARKS,
    "pit/bookmarks.csv": BOOKMARKS,
    "pit/bookmarks/new": BOOKMARK,
    "pit/tables/<int:pk>/bookmark": BOOKMARK,
    "pit/tables/<int:pk>/moment/": A_MOMENT,
    "clock/": TELL_THE_CLOCK,
    "pit/disputes/": WATCH,
    "pit/disputes.csv": WATCH,
    "pit/corrections.csv": WATCH,
    "pit/tables/<int:pk>/disputes/<int:number>/": A_DISPUTE,
    "pit/tables/<int:pk>/corrections/<int:year>/<int:number>/": NO_SUCH_SLIP,
    "pit/tables/<int:pk>/mispays/": WATCH,
    "pit/tables/<int:pk>/rounds/<int:number>/dispute/": RUN,
    "pit/tables/<int:pk>/rounds/<int:number>/correct/": CORRECT,
    "pit/tables/<int:pk>/": WATCH,
    "pit/tables/<int:pk>/more/": WATCH,
    "pit/tables/<int:pk>/display/": NO_ROADS,
    "pit/tables/<int:pk>/rounds": WATCH,
    "pit/tables/<int:pk>/rounds.csv": WATCH,
    "pit/tables/<int:pk>/rounds/<int:number>/": WATCH,
    "pit/tables/<int:pk>/rounds/<int:number>/record.json": WATCH,
    "pit/tables/<int:pk>/rounds/<int:number>/steps.csv": WATCH,
    "pit/tables/<int:pk>/log/": WATCH,
    "pit/tables/<int:pk>/log.csv": WATCH,
    "pit/tables/<int:pk>/do/<slug:name>/": RUN,
    "pit/reports/": WATCH,
    "pit/reports.csv": WATCH,
    "pit/cash.csv": WATCH,
    "pit/reports/<day:day>/close": SIGN_A_DAY,
    "pit/reports/exceptions/": WATCH,
    "pit/reports/exceptions.csv": WATCH,
    "pit/reports/exceptions/dealers.csv": WATCH,
    "pit/log/": WATCH,
    "pit/log.csv": WATCH,
    "pit/chips/": WATCH,
    "pit/chips.csv": WATCH,
    "pit/tables/<int:pk>/limits/": PROPOSE,
    "pit/tables/<int:pk>/float/": WATCH,
    "pit/tables/<int:pk>/float.csv": WATCH,
    "pit/access/": ACCESS,
    "pit/access.csv": SET_UP_TABLES,
    "pit/penetration/": SET_UP_TABLES,
    "pit/penetration.csv": SET_UP_TABLES,
    "pit/discrepancies/": WATCH,
    "pit/discrepancies.csv": WATCH,
    "pit/discrepancies/<int:pk>/take": ACKNOWLEDGE,
    "pit/discrepancies/<int:pk>/close": ACKNOWLEDGE,
    "pit/audit/": SET_UP_TABLES,
    "pit/audit/ask": NO_SUCH_ERRAND,
    "pit/audit/bundles/<day:day>.zip": NO_BUNDLE,
    "pit/runs/": WATCH,
    "pit/health/": WATCH,
    "pit/health.json": WATCH,
    "metrics": NO_METRICS,
    "pit/shoes/": SHOES,
    "pit/shoes.csv": SHOES,
    "pit/tables/<int:pk>/shoes/<int:seq>/": NO_SUCH_SHOE,
    "pit/tables/<int:pk>/shoes/<int:seq>.csv": NO_SUCH_SHOE,
    "pit/runs.csv": WATCH,
    "practice/": PRACTISE,
    "practice/certificates/": WATCH,
    "practice/certificates.csv": WATCH,
    "practice/certificates/<int:number>/": NO_SUCH_PRACTICE,
    "practice/<int:pk>/": NO_SUCH_PRACTICE,
    "practice/<int:pk>/answer": ANSWER,
    "practice/<int:pk>/certify": CERTIFY,
    "cage/": CAGE,
    "slips/": SLIPS,
    "slips/slips.csv": SLIPS_LISTED,
    "slips/chips/": SHOES,
    "slips/chips.csv": SHOES,
    "slips/counterfeit.csv": SHOES,
    "slips/papers/": PAPERS,
    "slips/keys/": KEY_REGISTER,
    "slips/keys.csv": KEY_REGISTER,
    "slips/passkey/": WHOSE_PASSKEY,
    "slips/<int:pk>/new/<slug:series>/": BEGIN_A_SLIP,
    "slips/<int:pk>/<slug:series>/<int:year>/<int:number>/": A_SLIP,
    "live/": STREAM,
    "api/tables/": API_FLOOR,
    "api/tables/<int:pk>/": API_TABLE,
    "api/tables/<int:pk>/inputs/": API_INPUT,
    "api/tables/<int:pk>/reader/": API_READER,
    "api/tables/<int:pk>/rounds/<int:number>/": API_PAST,
    "api/tables/<int:pk>/rounds/": API_PAST,
    "api/tables/<int:pk>/rounds/file/": API_READ,
    "api/tables/<int:pk>/log/file/": API_READ,
    "api/tables/<int:pk>/settings/": API_SET_TABLE,
    "api/tables/<int:pk>/limits/": API_PAST,
    "api/tables/<int:pk>/proposals/": API_PROPOSE,
    "api/tables/<int:pk>/disputes/": API_CLAIM,
    "api/tables/<int:pk>/disputes/<int:number>/": API_READ,
    "api/tables/<int:pk>/disputes/<int:number>/notes/": API_RUN,
    "api/tables/<int:pk>/disputes/<int:number>/ruling/": API_RUN,
    "api/tables/<int:pk>/disputes/<int:number>/closing/": API_RUN,
    "api/tables/<int:pk>/corrections/": API_RUN,
    "api/tables/<int:pk>/corrections/<int:year>/<int:number>/": API_NO_CORRECTION,
    "api/tables/<int:pk>/corrections/<int:year>/<int:number>/signatures/": API_SIGN,
    "api/tables/<int:pk>/corrections/<int:year>/<int:number>/refusals/": API_SIGN,
    "api/disputes/": API_READ,
    "api/corrections/": API_READ,
    "api/slips/": API_SLIPS,
    "api/slips/<slug:series>/<int:year>/<int:number>/": API_NO_SLIP,
    "api/slips/<slug:series>/<int:year>/<int:number>/signatures/": API_SIGN_A_SLIP,
    "api/slips/<slug:series>/<int:year>/<int:number>/void/": API_SIGN_A_SLIP,
    "api/limit-plans/": API_PLANS,
    "api/limit-plans/proposals/": API_PROPOSE,
    "api/posts/": API_PLANS,
    "api/covers/": API_COVER,
    "api/covers/ends/": API_COVER,
    "api/proposals/": API_PROPOSALS,
    "api/proposals/<int:number>/": API_NO_PROPOSAL,
    "api/proposals/<int:number>/approval/": API_APPROVE,
    "api/proposals/<int:number>/refusal/": API_APPROVE,
    "api/proposals/<int:number>/withdrawal/": API_WITHDRAW,
    "api/alerts/": API_READ,
    "api/alerts/acknowledgements/": API_ACKNOWLEDGE,
    "api/figures/": API_READ,
    "api/days/": API_READ,
    "api/days/<gaming_day:day>/": API_READ,
    "api/days/<gaming_day:day>/signatures/": API_SIGN,
    "api/days/<gaming_day:day>/bundle/": Guard((401, 403, 403, 403, 422, 422), (401, 405, 405, 405, 405, 405)),
    "api/staff/on-duty/": API_READ,
    "api/house/holdings/": API_CAGE,
    "api/log/": API_READ,
    "api/exports/": API_ERRANDS,
    "api/exports/<int:number>/": API_NO_ERRAND,
    "api/problems/<slug:code>/": API_OF_NO_HOUSE,
    "api/events/": API_EVENTS,
    "api/schema/": API_SCHEMA,
    "api/reference/": API_SCHEMA,
    "api/": API_NOWHERE,
    "admin/login/": ADMIN_LOGIN,
    "admin/logout/": SIGNING_OUT,
    "admin/password_change/": PASSWORD_OF_THE_ADMIN,
    "admin/password_change/done/": SHOWN,
    "admin/": READ,
    "admin/search/": READ,
    "admin/jsi18n/": SHOWN,
    "admin/autocomplete/": NO_AUTOCOMPLETE,
    "admin/r/<path:content_type_id>/<path:object_id>/": NOTHING_THERE,
    "admin/^(?P<app_label>ledger|tables)/$": READ,
    "admin/(?P<url>.*)$": NOTHING_THERE,
    "admin/tables/staff/<path:object_id>/lift-lock-out/": ASK_THEN_DO,
    "admin/tables/staff/<path:object_id>/pin-code/": ASK_THEN_DO,
    "admin/tables/staff/<path:object_id>/password-code/": ADD,
    "admin/tables/staff/<path:object_id>/withdraw-passkeys/": ASK_THEN_DO,
    "admin/tables/paytable/<path:object_id>/new-version/": admin(302, 403, 302, 403),
    "admin/tables/table/<path:object_id>/retire/": ADD,
    "admin/tables/denomination/<path:object_id>/retire/": ADD,
    "admin/tables/serviceaccount/<path:object_id>/token/": ADD,
    "admin/tables/serviceaccount/<path:object_id>/revoke-token/": ADD,
    "admin/tables/serviceaccount/<path:object_id>/revoke/": ADD,
    "admin/tables/terminal/keys/": KEYS,
    "admin/tables/terminal/enrol-here/": ADD,
    "admin/tables/terminal/enrol-elsewhere/": ADD,
    "admin/tables/terminal/<path:object_id>/link/": ADD,
    "admin/tables/terminal/<path:object_id>/revoke/": ASK_THEN_DO,
    "admin/tables/terminal/<path:object_id>/lift-lock-out/": ASK_THEN_DO,
}

RECORDS = {"": READ, "add/": NEVER, "<path:object_id>/change/": READ_ONLY}
SET_UP = {"": READ, "add/": ADD, "<path:object_id>/change/": SET}
TERMINALS = {"": READ, "add/": NEVER, "<path:object_id>/change/": BIND}
EVERY_MODEL = {"<path:object_id>/": MOVED, "<path:object_id>/history/": READ, "<path:object_id>/delete/": NEVER}
MODELS = {
    f"ledger/{name}": RECORDS
    for name in (
        "book",
        "logentry",
        "transfer",
        "account",
        "recount",
        "alert",
        "slip",
        "slipsignature",
        "discrepancy",
        "finding",
        "run",
    )
}
MODELS |= {f"tables/{name}": SET_UP for name in ("table", "denomination", "staff", "serviceaccount")}
MODELS |= {"tables/terminal": TERMINALS}
MODELS |= {
    f"tables/{name}": {"": READ, "add/": ADD, "<path:object_id>/change/": READ_ONLY}
    for name in (
        "househours",
        "houseterms",
        "paytable",
        "chipseries",
        "alertchannel",
        "housekey",
        "dropschedule",
        "pitsection",
    )
} | {
    "tables/proposal": {"": READ, "add/": NEVER, "<path:object_id>/change/": READ},
    "tables/post": {"": READ, "add/": NEVER, "<path:object_id>/change/": READ_ONLY},
    "tables/pitcover": {"": READ, "add/": NEVER, "<path:object_id>/change/": READ_ONLY},
    "tables/limitplan": {"": READ, "add/": ADD, "<path:object_id>/change/": READ},
}
DECLARED |= {
    "admin/records/": READ,
    "admin/tables/pitsection/plan/": admin(200, 200, 302, 403),
    "admin/tables/post/grid/": admin(200, 200, 422, 403),
    "admin/tables/table/grid/": CHOOSE_FOR_ROLES,
    "admin/tables/table/grid.csv": SHOWN,
    "admin/tables/table/grid/import/": admin(200, 403, 422, 403),
    "admin/tables/table/limits/history/": SHOWN,
    "admin/tables/table/limits/history.csv": SHOWN,
    "admin/tables/houseterms/profiles/": READ,
    "admin/tables/houseterms/roles/": CHOOSE_FOR_ROLES,
    "admin/tables/houseterms/profiles/<slug:name>/": NOTHING_THERE,
}
DECLARED |= {
    f"admin/{model}/{page}": guard for model in MODELS for page, guard in (MODELS[model] | EVERY_MODEL).items()
}


def addresses(patterns: list[URLPattern | URLResolver], before: str = "") -> Iterator[str]:
    """Every address of the project, as the resolver spells it."""
    for pattern in patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from addresses(pattern.url_patterns, route)
        else:
            yield route


ADDRESSES = sorted(set(addresses(get_resolver().url_patterns)))


def test_every_address_is_declared_and_every_declaration_is_an_address() -> None:
    """A page that nobody thought about is open to somebody."""
    assert set(ADDRESSES) - set(DECLARED) == set(), "say in DECLARED who may use these"
    assert set(DECLARED) - set(ADDRESSES) == set(), "these are gone: take them out of DECLARED"


# --- The walk -------------------------------------------------------------------------------------------------


@dataclass
class House:
    """One of everything, and somebody of each role."""

    cookies: dict[str, str]
    keys: dict[str, int | str]

    def path(self, route: str) -> str:
        """An address with the things that are there."""
        model = re.match(r"admin/(?:ledger|tables)/(\w+)/", route)
        model_name = "discrepancy" if "discrepancies" in route else "table"
        key = self.keys[model[1] if model else model_name]
        path = re.sub(r"<path:object_id>|<int:pk>", str(key), route)
        path = (
            path.replace("^(?P<app_label>ledger|tables)", "tables").replace("(?P<url>.*)", "nowhere").replace("$", "")
        )
        path = (
            path.replace("<int:number>", "1")
            .replace("<day:day>", "2026-01-02")
            .replace("<gaming_day:day>", "2026-01-02")
            .replace("<slug:name>", "retire-shoe")
            .replace("<slug:mishap>", "exposed_card")
            .replace("<slug:series>", "fill")
            .replace("<slug:about>", "large_bet")
            .replace("<slug:code>", "key_reused")
            .replace("<int:channel>", str(self.keys["alertchannel"]))
        )
        return "/" + re.sub(r"<[^>]+>", "1", path)

    def page(self, viewer: str, method: str, path: str) -> HttpResponseBase:
        """What a viewer gets; whatever it did is undone."""
        client = Client(raise_request_exception=False)
        client.cookies.load(self.cookies[viewer])
        mark = transaction.savepoint()
        response: HttpResponseBase = getattr(client, method)(path)
        downloads.under_way.clear()  # a file that nobody reads here is under way for nobody else
        transaction.savepoint_rollback(mark)
        return response

    def answer(self, viewer: str, method: str, path: str) -> int | str:
        """The status of it."""
        return status_of(self.page(viewer, method, path))


def status_of(page: HttpResponseBase) -> int | str:
    """Its status code, or that it leads to the sign-in."""
    to_sign_in = page.status_code == 302 and re.match(r"/(admin/login|sign-in)/", page["Location"])
    return IN if to_sign_in else page.status_code


def _posted(boss: Staff, *, by: Staff) -> Post:
    row = posts.set_post(Wanted(boss.username, ("Pit 1",)), by=by)
    assert row is not None
    return row


@pytest.fixture
def house(db: None) -> Iterator[House]:
    """A table with a round behind it, which somebody deals."""
    dealer, boss = floor.dealt()
    dealer.bets(seat1=1_000)
    dealer.cards(5, 3)
    dealer.pay()
    staff = {role: Staff.objects.create_staff(f"a.{role}", name=role.label, role=role) for role in Role}
    people = (None, staff[Role.DEALER], dealer.by, staff[Role.PIT_BOSS], staff[Role.OPERATOR], staff[Role.AUDITOR])
    disputed = OpenDispute(1, "Not paid", "Seat 1", seat=1)
    dealing.record(dealer.table, disputed, by=boss.by, key=uuid.uuid4(), expected_seq=None)
    recount(dealer.table.book_id, "a test")
    hours = set_hours(replace(default(), from_day=day_of(timezone.now()) + DAY), by=staff[Role.OPERATOR])
    olga = staff[Role.OPERATOR]
    terms = house_terms.change({"pin_digits_min": 7}, by=olga)
    assert terms is not None
    Run.objects.create(task="a test", slot=timezone.now(), begun_at=timezone.now())
    explained = discrepancies.open_(dealer.table.book, "variance", 200, "The rack is over by 2", key="another")
    Finding.objects.create(
        discrepancy=explained, username="olga", by="olga", at=timezone.now(), text="A chip lay below"
    )
    firsts: tuple[Any, ...] = (
        Denomination, Book, Transfer, Account, Recount, Slip, SlipSignature, Finding, Run,
    )  # fmt: skip
    keys = {model._meta.model_name: model.objects.all()[0].pk for model in firsts}
    expires = timezone.now() + timedelta(days=30)
    lounge = Access(purpose="Shows the boards", scopes=("read:board",), expires=expires)
    program = service_accounts.set_account("Lounge", lounge, by=staff[Role.OPERATOR])
    service_tokens.make(program, by=staff[Role.OPERATOR])
    keys |= {
        "logentry": f"{dealer.table.book_id}-1",
        "table": dealer.table.pk,
        "staff": boss.by.pk,
        "househours": hours.pk,
        "chipseries": chip_series.add("Alpha", "Chips & Co", 2026, [100], by=staff[Role.OPERATOR]).pk,
        "houseterms": terms.pk,
        "proposal": proposals.propose(Draft("terms", "", {"pin_digits_min": 7}, {"pin_digits_min": 8}), "", by=olga).pk,
        "housekey": custody.set_key(
            HouseKeySet(name="B1", lock="box_release", dual=False, in_use=True), by=staff[Role.OPERATOR]
        ).pk,
        "dropschedule": custody.set_schedule(
            custody.Schedule("Nightly", day_of(timezone.now()), (), (0,), time(5), "Security"),
            by=staff[Role.OPERATOR],
            today=day_of(timezone.now()),
        ).pk,
        "pitsection": pits.set_section(
            PitSectionSet(pit="Pit 1", tables=(dealer.table.name,)), by=staff[Role.OPERATOR]
        ).pk,
        "post": _posted(boss.by, by=staff[Role.OPERATOR]).pk,
        "pitcover": PitCover.objects.create(
            seq=0, username="bella", pit="Pit 1", until=timezone.now(), by="a test", at=timezone.now()
        ).pk,
        "limitplan": limit_plans.set_plan(
            LimitPlanSet(
                name="Floor",
                version=0,
                scope="house",
                schedule=Always(),
                values={"max_cents": 20_000},
                effective="",
            ),
            expected_version=0,
            by=staff[Role.OPERATOR],
        ).pk,
        "paytable": pay_tables.make("casino_war", "Tie", {"tie": {"tie": "11:1"}}, by=staff[Role.OPERATOR]).pk,
        "alertchannel": channels.set_channel(
            channels.ChannelDraft("Night desk", "mail", "night.desk@example.com"), by=staff[Role.OPERATOR]
        ).pk,
        "serviceaccount": program.pk,
        "terminal": terminals.add("Tablet", None, by=staff[Role.OPERATOR]).pk,
        "discrepancy": discrepancies.open_(
            dealer.table.book, "variance", 100, "The rack is over by 1", key="a test"
        ).pk,
        "alert": alerts.raise_alert(dealer.table.book, "test", "Something to look at").pk,
    }
    cookies = {}
    for viewer, somebody in zip(VIEWERS, people, strict=True):
        client = floor.client(somebody) if somebody else Client()
        cookies[viewer] = client.cookies.output(attrs=[], header="", sep=";")
    cache.clear()  # who tried too many addresses of seats
    logging.disable(logging.WARNING)
    yield House(cookies, keys)
    logging.disable(logging.NOTSET)


@pytest.mark.slow("opens every address as every role")
@pytest.mark.parametrize("method", ["get", "post"])
def test_every_address_answers_each_role_as_declared(house: House, method: str) -> None:
    """A dealer reaches their own table and nothing else; who looks cannot change; who is nobody gets nothing.

    Harm: a browser or a proxy keeps a page, and the next person at a screen goes back to it and reads the cage.
    """
    wrong, cached = [], []
    for route in ADDRESSES:
        expected = getattr(DECLARED[route], method) if route in DECLARED else everybody("not declared")
        for viewer, status in zip(VIEWERS, expected, strict=True):
            page = house.page(viewer, method, house.path(route))
            if (answer := status_of(page)) != status:
                wrong.append(f"{method.upper()} /{route}: {viewer} gets {answer}, declared is {status}")
            if method == "get" and "no-store" not in page.headers.get("Cache-Control", ""):
                cached.append(f"/{route}: {viewer}")
    assert not wrong, "\n".join(["", *wrong])
    assert cached == []


@pytest.mark.slow("opens every address as several roles")
def test_the_address_of_a_form_leads_to_its_page(house: House) -> None:
    """Harm: Enter in the address bar after a refused form shows the browser's own error, and the screen is gone."""
    lost = []
    for route, guard in DECLARED.items():
        for viewer, status in zip(VIEWERS, guard.get, strict=True):
            if status != 302 or re.match(r"admin/|api/", route):
                continue
            page = house.page(viewer, "get", house.path(route))
            for _ in range(5):
                page = house.page(viewer, "get", page["Location"]) if page.status_code == 302 else page
            if page.status_code == 405:
                lost.append(f"/{route}: {viewer}")
    assert lost == []


OFF_THE_FLOOR = {Role.CASHIER, Role.CAGE_MANAGER, Role.SECURITY, Role.COUNTER}
THEIRS = {
    "cage/",
    "pit/find/",
    "healthz",
    "",
    "sign-in/",
    "emergency/",
    "work-as/",
    "start/",
    "start/read",
    "password/",
    "password/code/",
    "pin/",
    "account/",
    "account/pin/",
    "account/passkeys/",
    "account/passkeys/options/",
    "sign-in/passkey/",
    "sign-in/passkey/options/",
    "slips/",
    "slips/slips.csv",
    "slips/papers/",
    "slips/keys/",
    "slips/keys.csv",
    "slips/<int:pk>/new/<slug:series>/",
    "slips/<int:pk>/<slug:series>/<int:year>/<int:number>/",
    "api/tables/",
    "api/slips/",
    "api/slips/<slug:series>/<int:year>/<int:number>/signatures/",
    "api/slips/<slug:series>/<int:year>/<int:number>/void/",
    "api/house/holdings/",
    "api/problems/<slug:code>/",
    "clock/",
}
"""What the cage, security and the count room may open; fills are none of the count room's business."""
OF_THE_CHIPS = {"slips/chips/", "slips/chips.csv", "slips/counterfeit.csv"}
"""What the cage manager may open besides."""


@pytest.mark.parametrize(
    ("role", "method"),
    sampled(product(sorted(OFF_THE_FLOOR), ["get", "post"]), "opens every address as several roles", test=2),
)
def test_who_works_off_the_floor_reaches_slips_and_nothing_else(house: House, role: Role, method: str) -> None:
    """A cashier who reads the log, or a carrier who looks into the dealer's cards."""
    client = Client()
    client.force_login(Staff.objects.filter(role=role)[0], backend="django.contrib.auth.backends.ModelBackend")
    house.cookies[role] = client.cookies.output(attrs=[], header="", sep=";")
    theirs = THEIRS | (OF_THE_CHIPS if role == Role.CAGE_MANAGER else set())
    answers = {route: house.answer(role, method, house.path(route)) for route in set(ADDRESSES) - theirs}
    reached = {route: status for route, status in answers.items() if status not in (IN, 401, 403, 404, 405, 410)}
    moved = {"sign-out/", "admin/logout/", "enrol/<str:code>/", "terminal/"}
    assert {route for route in reached if route not in moved and reached[route] != 302} == set(), reached


# --- Surveillance ----------------------------------------------------------------------------------------------

SEEN_BY_SURVEILLANCE = {
    "cage/",
    "pit/",
    "pit/alerts/",
    "pit/alerts.csv",
    "pit/alerts/delivery/",
    "pit/alerts/rules/",
    "pit/alerts/rules/<slug:about>/",
    "pit/bookmarks/",
    "pit/bookmarks.csv",
    "pit/cash.csv",
    "pit/chips/",
    "pit/chips.csv",
    "pit/corrections.csv",
    "pit/discrepancies/",
    "pit/discrepancies.csv",
    "pit/plan/",
    "pit/posts/",
    "pit/restored/",
    "pit/restored.csv",
    "pit/disputes/",
    "pit/disputes.csv",
    "pit/find/",
    "pit/reports/",
    "pit/reports.csv",
    "pit/reports/exceptions/",
    "pit/reports/exceptions.csv",
    "pit/reports/exceptions/dealers.csv",
    "pit/log/",
    "pit/log.csv",
    "pit/runs/",
    "pit/runs.csv",
    "pit/health/",
    "pit/health.json",
    "pit/tables/<int:pk>/",
    "pit/tables/<int:pk>/disputes/<int:number>/",
    "pit/tables/<int:pk>/float/",
    "pit/tables/<int:pk>/limits/",
    "pit/tables/<int:pk>/float.csv",
    "pit/tables/<int:pk>/log/",
    "pit/tables/<int:pk>/log.csv",
    "pit/tables/<int:pk>/mispays/",
    "pit/tables/<int:pk>/more/",
    "pit/tables/<int:pk>/rounds",
    "pit/tables/<int:pk>/rounds.csv",
    "pit/tables/<int:pk>/rounds/<int:number>/",
    "pit/tables/<int:pk>/rounds/<int:number>/record.json",
    "pit/tables/<int:pk>/rounds/<int:number>/steps.csv",
    "practice/certificates/",
    "practice/certificates.csv",
    "slips/",
    "slips/papers/",
    "slips/keys/",
    "slips/keys.csv",
    "slips/slips.csv",
    "slips/<int:pk>/new/<slug:series>/",
    "api/tables/",
    "api/tables/<int:pk>/",
    "api/tables/<int:pk>/rounds/",
    "api/tables/<int:pk>/rounds/file/",
    "api/tables/<int:pk>/log/file/",
    "api/tables/<int:pk>/rounds/<int:number>/",
    "api/tables/<int:pk>/settings/",
    "api/tables/<int:pk>/limits/",
    "api/tables/<int:pk>/disputes/<int:number>/",
    "api/disputes/",
    "api/corrections/",
    "api/slips/",
    "api/alerts/",
    "api/limit-plans/",
    "api/posts/",
    "api/figures/",
    "api/days/",
    "api/days/<gaming_day:day>/",
    "api/staff/on-duty/",
    "api/house/holdings/",
    "api/log/",
    "api/schema/",
    "api/reference/",
}
"""What the surveillance opens. The page that begins a slip is everybody's who may see one; whoever signs there is asked
by badge and PIN, and the next test says that they are not."""
SENT_BY_SURVEILLANCE = {
    "pit/alerts/acknowledge",
    "pit/tables/<int:pk>/bookmark",
    "api/alerts/acknowledgements/",
}
FOR_ANYBODY = {
    "", "healthz", "start/", "start/read",
    "sign-in/", "sign-out/", "emergency/", "password/", "work-as/", "enrol/<str:code>/", "clock/",
    "password/code/", "pin/", "terminal/", "account/", "account/pin/", "account/passkeys/", "account/passkeys/options/",
    "sign-in/passkey/", "sign-in/passkey/options/",
    "admin/logout/", "admin/password_change/", "live/", "api/problems/<slug:code>/",
}  # fmt: skip


def at_surveillance(house: House, method: str) -> dict[str, int | str]:
    """What each address answers the surveillance that does not turn them away."""
    client = Client()
    watcher = Staff.objects.get(username=f"a.{Role.SURVEILLANCE}")
    client.force_login(watcher, backend="django.contrib.auth.backends.ModelBackend")
    house.cookies["surveillance"] = client.cookies.output(attrs=[], header="", sep=";")
    answers = {route: house.answer("surveillance", method, house.path(route)) for route in ADDRESSES}
    return {route: status for route, status in answers.items() if status not in (IN, 401, 403, 404, 405, 410)}


@pytest.mark.slow("opens every address as several roles")
def test_the_surveillance_sees_every_table_round_log_slip_and_alert(house: House) -> None:
    """Harm: who is to watch the floor has to ask somebody on it."""
    answers = at_surveillance(house, "get")
    pages = {route for route, answer in answers.items() if answer == 200}
    assert SEEN_BY_SURVEILLANCE - pages == set()
    assert pages - SEEN_BY_SURVEILLANCE - FOR_ANYBODY == set()


@pytest.mark.slow("opens every address as several roles")
def test_the_surveillance_sends_nothing_but_notes_of_its_own(house: House) -> None:
    """Harm: who watches everybody, and is watched by nobody, moves chips."""
    answers = at_surveillance(house, "post")
    # Whoever signs there is asked by badge and PIN; it is not by the browser's owner that these are refused.
    papers = {"slips/<int:pk>/new/<slug:series>/", "slips/papers/", "cage/", "pit/reports/<day:day>/close"}
    papers |= {
        f"api/{address}"
        for address in (
            "slips/",
            "slips/<slug:series>/<int:year>/<int:number>/signatures/",
            "slips/<slug:series>/<int:year>/<int:number>/void/",
            "days/<gaming_day:day>/signatures/",
            "tables/<int:pk>/corrections/<int:year>/<int:number>/signatures/",
            "tables/<int:pk>/corrections/<int:year>/<int:number>/refusals/",
        )
    }
    assert answers.keys() - FOR_ANYBODY - papers == SENT_BY_SURVEILLANCE


INPUTS: dict[str, dict[str, Any]] = {
    "Bet": {"seat": 1, "amount_cents": 1_000},
    "BeginSlip": {"series": "fill", "chips": ((10_000, 1),)},
}


def entered_blank(kind: Any) -> Any:
    """An input of a kind with something in each field that has no default."""
    blanks = {"str": "1", "int": 1, "bool": False, "str | None": None, "int | None": None}
    facts = {
        field.name: blanks.get(str(field.type), blanks.get(getattr(field.type, "__name__", ""), ()))
        for field in msgspec.structs.fields(kind)
        if field.required
    }
    return kind(**facts | INPUTS.get(kind.__name__, {}))


def test_no_input_is_taken_from_the_surveillance(house: House) -> None:
    """Harm: an input that asks for no permission, and so is taken from anybody with a session."""
    watcher = Staff.objects.get(username=f"a.{Role.SURVEILLANCE}")
    table = Table.objects.get(pk=house.keys["table"])
    acceptances = []
    for kind in HANDLINGS:
        refusal = refusal_of(table, entered_blank(kind), watcher)
        # Who may sign which step is asked of the slip, and there is none: that no step is theirs the next test says.
        if refusal is None or (refusal.status != 403 and refusal.code != "unknown_slip"):
            acceptances.append((kind, refusal))
    assert acceptances == []


def refusal_of(table: Table, entered: Any, by: Staff) -> Refused | None:
    try:
        with transaction.atomic():
            dealing.record(table, entered, by=by, key=uuid.uuid4(), expected_seq=None)
    except Refused as refused:
        return refused
    return None


def test_the_surveillance_signs_no_step_of_any_slip() -> None:
    """Harm: a fill that is carried by who is to watch it."""
    stages = [
        (name, stage) for name, series in slip_series.SERIES.items() for stage in (*series.stages, *slip_series.VOID)
    ]
    assert len(stages) > 20
    assert [(name, stage.name) for name, stage in stages if Role.SURVEILLANCE in stage.by] == []
    assert all(Role.SURVEILLANCE in series.seen_by for series in slip_series.SLIPS.values())


# --- Roles ----------------------------------------------------------------------------------------------------


def test_nobody_may_delete_and_an_auditor_may_only_look() -> None:
    """What the log speaks of has to be found; who checks must not be able to make it fit."""
    assert not [
        permission for permissions in PERMISSIONS.values() for permission in permissions if ".delete_" in permission
    ]
    assert {permission.split(".")[1].split("_")[0] for permission in PERMISSIONS[Role.AUDITOR]} == {
        "view",
        "watch",
        "review",
        "export",
    }


def test_who_sets_up_does_not_deal_and_who_deals_does_not_set_up() -> None:
    """One person who takes staff on, sets limits and deals could hide anything."""
    changes = {"add", "change", "enrol"}
    for role, permissions in PERMISSIONS.items():
        verbs = {permission.split(".")[1].split("_")[0] for permission in permissions}
        assert not (verbs & changes and verbs & {"deal", "run"}), role


def test_somebody_who_left_may_do_nothing() -> None:
    """Whatever their role was."""
    for role in Role:
        leaver = Staff(username="gone", role=role, is_active=False)
        assert not any(leaver.has_perm(permission) for permission in PERMISSIONS[role])
        assert not leaver.is_staff
