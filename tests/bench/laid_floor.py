"""A floor that is laid for a benchmark, with everybody signed in: each process lays its share of the tables."""

from __future__ import annotations

import multiprocessing
import os
import secrets
from concurrent.futures import ProcessPoolExecutor

import django

django.setup()

from django.contrib.auth.models import AnonymousUser  # noqa: E402
from django.contrib.sessions.backends.db import SessionStore  # noqa: E402
from django.db import connections  # noqa: E402
from django.http import HttpRequest  # noqa: E402

from tables.floor import recorder  # noqa: E402
from tables.models import Staff  # noqa: E402
from tables.roles import Role  # noqa: E402
from tables.staff import sign_in, terminals  # noqa: E402
from tests import floor  # noqa: E402
from tests.bench import open_house  # noqa: E402
from tests.bench.long_history import lay_history, tidy_up  # noqa: E402
from tests.bench.open_house import Place  # noqa: E402


def lay(numbers: list[int], rounds: int, behind: int) -> list[Place]:
    """Tables with their dealers at them, in a process of its own; every second one has so many rounds behind it."""
    places = open_house.lay_tables(numbers, rounds)
    operator = open_house.somebody(Role.OPERATOR, "operator")
    for place in places:
        place.cookies = at_the_table(place, operator)
    for place in places[::2] if behind else ():
        lay_history(place.table, place.dealer, behind, alone=False)
        place.group = "old"
    connections.close_all()
    return places


def at_the_table(place: Place, operator: Staff) -> str:
    """The cookies of a dealer who has signed in and taken the table, without the hash of the PIN."""
    cookie = floor.terminal_cookie(operator, name=f"Terminal {place.table.name}")
    request = asked_with(terminal=cookie)
    terminal = terminals.identify(request)
    assert terminal is not None
    sign_in.begin_at(request, place.dealer, terminal)
    recorder.sign_in(place.table, place.dealer, terminal.name)
    sign_in.stay(request)
    request.session.save()
    return f"sessionid={request.session.session_key}; terminal={cookie}; csrftoken={secrets.token_hex(16)}"


def asked_with(**cookies: str) -> HttpRequest:
    request = HttpRequest()
    request.COOKIES, request.user, request.session = cookies, AnonymousUser(), SessionStore()
    request.META["REMOTE_ADDR"] = "127.0.0.1"
    return request


def lay_floor(tables: int, by_hand: int, rounds: int, behind: int = 0) -> list[Place]:
    """The tables; at the first ones nobody has signed in yet. About half of the others share so many rounds of a past
    among them."""
    operator = open_house.somebody(Role.OPERATOR, "operator")
    first = open_house.lay_tables(range(1, max(by_hand, 1) + 1), rounds)
    if not by_hand:
        first[0].cookies = at_the_table(first[0], operator)
    rest = list(range(len(first) + 1, tables + 1))
    cores = len(os.sched_getaffinity(0))
    connections.close_all()
    shares = [rest[part::cores] for part in range(cores)]
    old = sum((len(share) + 1) // 2 for share in shares)
    each = -(-behind // max(old, 1))
    with ProcessPoolExecutor(cores, mp_context=multiprocessing.get_context("spawn")) as processes:
        parts = processes.map(lay, shares, [rounds] * cores, [each] * cores)
        places = sorted([*first, *(place for part in parts for place in part)], key=lambda place: place.table.pk)
    if behind:
        tidy_up()
    return places


def sign_in_bosses(number: int) -> list[str]:
    """The cookies of pit bosses who have signed in, without the hash of the password."""
    cookies = []
    for boss in range(number):
        request = asked_with()
        sign_in.begin_without_secret(request, floor.staff(Role.PIT_BOSS, f"boss{boss}"))
        request.session.save()
        cookies.append(f"sessionid={request.session.session_key}")
    return cookies
