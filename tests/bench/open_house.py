"""A house that is open, for benchmarks of its screens: tables laid by the floor's own functions, people who sign in as
they do it, processes of screens (screens.py).
"""

from __future__ import annotations

import http.cookiejar
import json
import re
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from tables.floor import inputs, recorder
from tables.models import Staff, Table
from tables.staff import terminals
from tests import floor
from tests.bench.keyed_rounds import plan
from tests.floor import Hand, Role

ROUNDS: Final = 60


# --- The house -------------------------------------------------------------------------------------------------


@dataclass
class Place:
    """A table with its dealer, and what is still to be entered there."""

    table: Table
    dealer: Staff
    forms: list[dict[str, str]]
    cookies: str = ""
    group: str = "new"
    """Whether rounds lie behind it: its inputs are told apart."""


def lay_tables(numbers: Iterable[int], rounds: int = ROUNDS) -> list[Place]:
    """Open tables of six decks, each with its shoe and a plan of whole rounds; nobody deals there yet."""
    boss = somebody(Role.PIT_BOSS, "opener")
    return [lay_table(number, boss, rounds) for number in numbers]


def lay_table(number: int, boss: Staff, rounds: int, seed: int | None = None) -> Place:
    table = floor.table(f"Rocket {number}", options={"decks": 6})
    floor.counted(Hand(table, boss), "opener")
    dealer = floor.staff(Role.DEALER, f"dealer{number}", str(1000 + number))
    recorder.sign_in(table, dealer)
    Hand(table, dealer).ready_shoe()
    recorder.sign_out(table, dealer)
    rounds_to_come = plan(rounds, number if seed is None else seed)
    return Place(table, dealer, [form(entered) for played in rounds_to_come for entered in played])


def somebody(role: Role, username: str) -> Staff:
    return Staff.objects.filter(username=username).first() or floor.staff(role, username)


def form(entered: inputs.Input) -> dict[str, str]:
    """An input as the dealer's screen sends it: bets are typed, all else is a button."""
    if isinstance(entered, inputs.Bet):
        return {"seat": str(entered.seat), "amount": str(entered.amount_cents // 100)}
    return {"input": json.dumps(inputs.spell(entered))}


class Browser:
    """Signs somebody in, as they do it; slow and simple."""

    def __init__(self, url: str) -> None:
        self.url, self.jar = url, http.cookiejar.CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar))

    def get(self, path: str) -> str:
        with self.opener.open(self.url + path, timeout=60) as answer:
            return answer.read().decode()

    def post(self, path: str, page: str, **typed: str) -> str:
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
        assert token, page[:500]
        sent = urllib.parse.urlencode({"csrfmiddlewaretoken": token[1]} | typed).encode()
        with self.opener.open(urllib.request.Request(self.url + path, sent), timeout=60) as answer:
            return answer.read().decode()

    @property
    def cookies(self) -> str:
        return "; ".join(f"{cookie.name}={cookie.value}" for cookie in self.jar)


def sign_in_dealer(url: str, place: Place, operator: Staff) -> None:
    """On a terminal of their own, which a link made one; then they take their table."""
    browser = Browser(url)
    terminal = terminals.add(f"Terminal {place.table.name}", None, by=operator)
    link = terminals.link_for(terminal, by=operator)
    page = browser.post(link, browser.get(link))
    page = browser.post("/sign-in/", page, badge=str(place.dealer.badge), pin=floor.PIN)
    browser.post(f"/tables/{place.table.pk}/take", page)
    place.cookies = browser.cookies


def sign_in_boss(url: str, number: int) -> str:
    boss, browser = floor.staff(Role.PIT_BOSS, f"boss{number}"), Browser(url)
    browser.post("/sign-in/", browser.get("/sign-in/"), username=boss.username, password=floor.PASSWORD)
    return browser.cookies


# --- Processes of screens ----------------------------------------------------------------------------------------


def begin_all(plans: list[dict[str, Any]]) -> list[subprocess.Popen[str]]:
    """Screens by these plans: every page is open before any of them goes on, and all are warm before anybody counts."""
    processes = [begin(plan) for plan in plans]
    for process in processes:
        hear(process, "open")
    for process in processes:
        tell(process, "go")
    for process in processes:
        hear(process, "measuring")
    return processes


def begin(plan: dict[str, Any]) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.screens"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    tell(process, json.dumps(plan))
    return process


def tell(process: subprocess.Popen[str], word: str) -> None:
    assert process.stdin is not None
    process.stdin.write(f"{word}\n")
    process.stdin.flush()


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def hear(process: subprocess.Popen[str], word: str) -> None:
    if (said := line(process)) != word:
        raise RuntimeError(f"the screens said {said!r} and not {word!r}")
