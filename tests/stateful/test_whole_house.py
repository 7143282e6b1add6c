"""A whole house, driven by what its people can do: the forms on their screens, and the API.

The machine knows none of the house's rules. It opens pages as some person, fills in a form, well or badly, and presses
a button; sometimes two people do so at once, or a process loses its caches. After every step it checks the invariants.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from http.cookies import SimpleCookie
from random import Random
from typing import Any, ClassVar, Final
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from ledger import cage
from ledger.log import read_head
from ledger.models import HOUSE, Account, Assignment, Book, Discrepancy, LogEntry, Slip, SlipSignature, Transfer
from ledger.proof.chips import CASH_PLACES, CHIP_PLACES
from tables.audit import proofs, row_comparison, watch
from tables.cage import cage_desk
from tables.floor import recorder
from tables.floor.handlers import SLIPS_AND_WORDS
from tables.log.entries.pits import PitSectionSet
from tables.log.irregularities import MISHAPS
from tables.log.slip_types import SLIPS
from tables.log.slip_workflow import Slip as OpenSlip
from tables.models import PitCover, Post, Staff, Table
from tables.roles import Role
from tables.setup import pit_assignments, pits
from tables.setup.pit_assignments import AssignmentChange
from tables.state import table_state
from tests import floor
from tests.floor import Hand
from tests.load import whole
from tests.pace import by_pace, percent
from tests.stateful.filling import Filling
from tests.stateful.paper import Form, Paper
from tests.tables.wheel import wheel

PEOPLE: Final = {
    Role.DEALER: ("dora", "dan", "dot", "dee", "dirk"),
    Role.PIT_BOSS: ("bella", "pat", "pip"),
    Role.CASHIER: ("cas", "cat"),
    Role.CAGE_MANAGER: ("cam",),
    Role.SECURITY: ("sal", "sid", "sue"),
    Role.COUNTER: ("con", "cyd", "cal"),
    Role.OPERATOR: ("ora", "oli"),
    Role.AUDITOR: ("aud",),
}
CHANCE: Final = st.integers(0, 2**32)
NUMBER: Final = st.integers(0, 3)
PERSON: Final = st.sampled_from(sorted(name for names in PEOPLE.values() for name in names))
WATCHERS: Final = ("bella", "ora", "aud")
"""A pit boss, an operator and an auditor: they read the floor's pages."""
FLOOR: Final = [
    "floor",
    "plan",
    "posts",
    "restored",
    "alerts",
    "disputes",
    "reports",
    "discrepancies",
    "runs",
    "inventory",
    "exceptions",
    "search",
    "find",
]
OF_A_TABLE: Final = ("table", "more", "log", "mispays", "float", "limits")
AT_THE_TABLE: Final = ("screen", "cash", "relief", "mishaps", "dispute", "reopen", "papers", "seats")
DEEDS: Final = [
    "take-back",
    "retire-shoe",
    "abandon",
    "lock-rack",
    "unlock-rack",
    "void",
    "cash-out",
    "forgive",
    "sign-out",
]
API: Final = [
    "tables/",
    "tables/{pk}/",
    "tables/{pk}/rounds/",
    "tables/{pk}/settings/",
    "tables/{pk}/limits/",
    "disputes/",
    "corrections/",
    "slips/",
    "limit-plans/",
    "posts/",
    "proposals/",
    "alerts/",
    "figures/",
    "days/",
    "staff/on-duty/",
    "log/",
    "exports/",
    "house/holdings/",
    "reference/",
]
NOT_WALKED: Final = re.compile(r"/(sign-out|admin|account|password|terminal|live|practice|start|clock|work-as|sign-in)")
"""Pages that lead out of the house, and parts that have tests of their own."""
SEAT: Final = re.compile(r"/seat/([\w-]{16,})/")
REPORTED: Final = frozenset({"refused", "called"})
"""Kinds of entries that report a refusal, such as of a card that the shoe cannot hold."""


@dataclass(frozen=True)
class House:
    """Four tables in two pits, and all staff, each with a screen."""

    staff: dict[str, Staff]
    tables: tuple[Table, ...]
    screens: dict[str, Client]
    cookies: dict[str, str]


@pytest.fixture
def beginning(db: None) -> House:
    """A house with three tables in play and one without rounds. One pit boss runs only one pit."""
    badges = iter(range(101, 200))
    people = {name: floor.staff(role, name, str(next(badges))) for role, names in PEOPLE.items() for name in names}
    tables = (
        floor.table("Rocket 1", options={"decks": 6}, seats=3),
        floor.table("Blackjack 1", game="blackjack", source="house", options={"decks": 6}, seats=3),
        floor.table("Port 1", game="port", source="house", min_cents=100, max_cents=100_000, options={}, seats=4),
        wheel(),
    )
    for table, name in zip(tables, PEOPLE[Role.DEALER], strict=False):
        Hand(table, people["bella"])("open_table")
        recorder.sign_in(table, people[name])
    Hand(tables[0], people["dora"]).ready_shoe()
    Hand(tables[1], people["dan"]).ready_shoe()
    for pit, pit_tables in (("Pit 1", tables[:2]), ("Pit 2", tables[2:])):
        names = tuple(table.name for table in pit_tables)
        pits.set_section(PitSectionSet(pit=pit, tables=names), by=people["ora"])
    pit_assignments.set_post(AssignmentChange("pip", pits=("Pit 1",)), by=people["ora"])
    screens = {name: floor.client(somebody) for name, somebody in people.items()}
    return House(people, tables, screens, {name: screen.cookies.output() for name, screen in screens.items()})


class WholeHouse(RuleBasedStateMachine):
    """The state machine: its rules are what people do."""

    house: ClassVar[House]
    tally: ClassVar[Counter[str]] = Counter()
    """The number of answers by address and status, over all runs."""

    def __init__(self) -> None:
        super().__init__()
        self.undo = transaction.atomic()
        self.undo.__enter__()
        table_state.cache.clear()
        self.seats: list[str] = []
        self.proposals = [1]
        self.turn = 0
        for name, cookies in self.house.cookies.items():
            self.house.screens[name].cookies = SimpleCookie(cookies.replace("Set-Cookie: ", ""))

    def teardown(self) -> None:
        """At the end every page can be read, and everything is proved, from the log alone and against the rows."""
        try:
            for name in WATCHERS:
                for address in self.pages():
                    self.reads(name, address)
            for book in Book.objects.filter(head_seq__gt=0):
                fault = proofs.verify(book).fault
                assert fault is None, fault
            assert row_comparison.compare().faults == []
            assert watch.reconcile() == watch.prove_sums() == 0
        finally:
            transaction.set_rollback(True)
            self.undo.__exit__(None, None, None)

    # --- reading ---

    def opened(self, name: str, address: str) -> Any:
        """The page at an address, after all redirects."""
        answer = self.house.screens[name].get(address, follow=True)
        assert answer.status_code < 500, (name, address, answer.status_code)
        self.tally[f"GET {answer.status_code}"] += 1
        return answer

    def reads(self, name: str, address: str) -> None:
        answer = self.house.screens[name].get(address)
        assert answer.status_code == 200, (name, address, answer.status_code, answer.content[:300])

    def pages(self) -> list[str]:
        """The pages that the watchers of the floor may read."""
        own = [reverse(f"pit:{page}", args=[table.pk]) for page in OF_A_TABLE for table in self.house.tables]
        return [*(reverse(f"pit:{page}") for page in FLOOR), *own, reverse("slips:book")]

    @staticmethod
    def paper_of(answer: Any) -> Paper:
        body = whole(answer) if answer.streaming else answer.content
        return Paper(body.decode() if answer["Content-Type"].startswith("text/html") else "")

    # --- sending ---

    def sends(self, client: Client, address: str, form: Form, values: dict[str, list[str]], *, again: bool) -> int:
        """Send a form; returns the status. A refused form must change nothing; one sent twice must count once."""
        target = form.action or address
        if form.method == "get":
            answer = client.get(target, values)
            assert answer.status_code < 500
            return int(answer.status_code)
        before = rows()
        answer = client.post(target, values)
        status = int(answer.status_code)
        self.tally[f"{_kind_of(target)} {status}"] += 1
        assert status < 500, (target, values)
        if status >= 400:
            assert rows() == before or _only_reported(before), (target, values, status, _since(before))
        elif again and "key" in values:
            after = rows()
            client.post(target, values)
            assert rows() == after, ("twice", target, values, _since(after))
        if not answer.streaming:
            self.seats += SEAT.findall(answer.content.decode(errors="replace"))
        return status

    def fills_in(self, name: str, address: str, chance: Random, filling: Filling) -> int:
        """A person opens a page, perhaps follows some links, and sends a form."""
        answer = self.opened(name, address)
        for _ in range(chance.choice((0, 0, 1, 2))):
            links = [
                link for link in self.paper_of(answer).links if link.startswith("/") and not NOT_WALKED.match(link)
            ]
            if links:
                address = chance.choice(links[-12:])
                answer = self.opened(name, address)
        if answer.redirect_chain:
            address = answer.redirect_chain[-1][0]
        forms = [
            form
            for form in self.paper_of(answer).forms
            if form.method != "dialog" and not NOT_WALKED.match(form.action or address)
        ]
        if not forms:
            return 0
        form = chance.choice(forms)
        client = self.house.screens[name]
        return self.sends(client, address, form, filling.of(form), again=chance.random() < 0.2)

    def dealer_of(self, table: Table) -> str:
        dealer = table_state.of(table).dealer
        return dealer.username if dealer else ""

    # --- dealing ---

    @rule(number=NUMBER, chance=CHANCE, presses=st.integers(1, 15), careful=st.booleans())
    def deal(self, number: int, chance: int, presses: int, careful: bool) -> None:
        """A dealer presses what the screen offers."""
        table, draw = self.house.tables[number], Random(chance)
        for _ in range(presses):
            if name := self.dealer_of(table):
                self._presses(name, table, draw, careful)

    def _presses(self, name: str, table: Table, draw: Random, careful: bool) -> None:
        address = reverse("dealer:screen", args=[table.pk])
        forms = self.inputs_at(name, table, draw)
        if forms:
            form = draw.choice(forms)
            values = Filling(draw, is_careful=careful or draw.random() < 0.8).of(form)
            self.sends(self.house.screens[name], address, form, values, again=draw.random() < 0.1)

    def inputs_at(self, name: str, table: Table, draw: Random) -> list[Form]:
        """The input forms of a dealer's screen; seldom with the buttons that end a shoe or take back."""
        paper = self.paper_of(self.opened(name, reverse("dealer:screen", args=[table.pk])))
        forms = [form for form in paper.forms if form.action.endswith("/input")]
        for form in forms:
            usual = [
                button for button in form.buttons if not re.search("retire_shoe|cut_card_out|take_back", button[1])
            ]
            if draw.random() < 0.95:
                form.buttons = usual
        return [form for form in forms if form.buttons]

    @rule(number=NUMBER, chance=CHANCE)
    def two_tablets_at_the_same_prompt(self, number: int, chance: int) -> None:
        """Two tablets show the same table. The second's input, made before it saw the first's, is refused."""
        table, draw = self.house.tables[number], Random(chance)
        name = self.dealer_of(table)
        first, second = (self.inputs_at(name, table, draw), self.inputs_at(name, table, draw)) if name else ([], [])
        if not (first and second):
            return
        client, address, filling = self.house.screens[name], reverse("dealer:screen", args=[table.pk]), Filling(draw)
        head = read_head(table.book_id).seq
        self.sends(client, address, form := draw.choice(first), filling.of(form), again=False)
        entries = LogEntry.objects.filter(book=table.book_id, seq__gt=head)
        has_moved = entries.exclude(subject__in=SLIPS_AND_WORDS).exists()
        status = self.sends(client, address, form := draw.choice(second), filling.of(form), again=False)
        assert not has_moved or status >= 400, (address, status)
        self.tally["a tablet was too late"] += has_moved

    @rule(number=NUMBER, name=st.sampled_from(PEOPLE[Role.DEALER]), chance=CHANCE)
    def take(self, number: int, name: str, chance: int) -> None:
        """A dealer takes a table, or relieves its dealer."""
        table, draw = self.house.tables[number], Random(chance)
        client, address = self.house.screens[name], reverse("dealer:take", args=[table.pk])
        answer = client.post(address)
        assert answer.status_code < 500
        forms = [form for form in self.paper_of(answer).forms if any(entry.name == "pin" for entry in form.fields)]
        if forms:
            badges = self.badges((self.dealer_of(table), "bella", "pip"))
            self.sends(client, address, forms[0], Filling(draw, badges).of(forms[0]), again=False)

    @rule(chance=CHANCE)
    def choose_at_a_seat(self, chance: int) -> None:
        """A player chooses on the page of a seat."""
        draw = Random(chance)
        for token in draw.sample(self.seats, min(1, len(self.seats))):
            client, address = Client(), f"/seat/{token}/"
            forms = self.paper_of(client.get(address)).forms
            if forms:
                form = draw.choice(forms)
                self.sends(client, address, form, Filling(draw, is_careful=False).of(form), again=True)

    # --- papers ---

    def badges(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(str(self.house.staff[name].badge) for name in names if name in self.house.staff)

    @rule(chance=CHANCE, series=st.sampled_from(sorted(SLIPS)), number=NUMBER, careful=st.booleans())
    def begin(self, chance: int, series: str, number: int, careful: bool) -> None:
        """Somebody begins a paper of a series."""
        draw, stage = Random(chance), SLIPS[series].first
        names = [name for role in stage.roles for name in PEOPLE.get(Role(role), ())] or ["bella"]
        table = self.house.tables[number] if not SLIPS[series].in_house else None
        self._signs("bella", self._new(series, table), draw, names, careful, self._rack(table))

    @staticmethod
    def _new(series: str, table: Table | None) -> str:
        return reverse("slips:begin", args=[table.pk if table else 0, series])

    @staticmethod
    def _rack(table: Table | None) -> dict[str, str]:
        """The count of a table's rack, all of it in the smallest chips."""
        if table is None:
            return {}
        cents = cage.balance(Account.objects.get(book_id=table.book_id, place="rack"))
        return {"n10000": "", "n2500": "", "n500": "", "n100": str(max(0, cents) // 100)}

    def _signs(
        self, screen: str, address: str, draw: Random, names: list[str], careful: bool, counts: dict[str, str]
    ) -> None:
        forms = [form for form in self.paper_of(self.opened(screen, address)).forms if "key" in str(form.fields)]
        if forms:
            form = forms[0] if careful else draw.choice(forms)
            filling = Filling(draw, self.badges(names), counts if draw.random() < 0.8 else {}, careful)
            self.sends(self.house.screens[screen], address, form, filling.of(form), again=draw.random() < 0.3)

    @rule(chance=CHANCE, steps=st.integers(1, 5), careful=st.booleans())
    def sign(self, chance: int, steps: int, careful: bool) -> None:
        """The next signatures on a paper, by the people who should give them."""
        draw = Random(chance)
        waiting = [(table, slip) for table in self.house.tables for slip in table_state.of(table).slips]
        own = Book.objects.get(name=HOUSE).pk
        waiting += [(None, slip) for slip in cage_desk.in_progress(own)]
        if not waiting:
            return
        table, chosen = draw.choice(waiting)
        for _ in range(steps):
            slips: Iterable[OpenSlip] = table_state.of(table).slips if table else cage_desk.in_progress(own)
            slip = next((slip for slip in slips if slip.name == chosen.name), None)
            if slip is None or slip.due is None:
                return
            signed = {signature.username for signature in slip.signed}
            names = [name for role in slip.due.roles for name in PEOPLE.get(Role(role), ()) if name not in signed]
            if slip.due.at_table_only and table:
                names = [self.dealer_of(table)]
            first = slip.counts[0] if slip.counts else ()
            counts = {f"n{value}": "" for value, *_ in floor.CHIPS} | {f"n{value}": str(n) for value, n in first}
            address = reverse("slips:slip", args=[table.pk if table else 0, *slip.name.split("/")])
            self._signs("bella", address, draw, names, careful, counts if first else self._rack(table))

    # --- other pages ---

    @rule(name=PERSON, chance=CHANCE, careful=st.booleans())
    def walk(self, name: str, chance: int, careful: bool) -> None:
        """A person follows links from a page, and sends a form."""
        draw = Random(chance)
        badges = self.badges(draw.sample(sorted(self.house.staff), 4))
        address = draw.choice(self.doors(self.house.staff[name].role, draw))
        self.fills_in(name, address, draw, Filling(draw, badges, is_careful=careful))

    @rule(name=st.sampled_from(PEOPLE[Role.PIT_BOSS]), number=NUMBER, deed=st.sampled_from(DEEDS), chance=CHANCE)
    def act(self, name: str, number: int, deed: str, chance: int) -> None:
        """A pit boss does something at a table."""
        table, draw = self.house.tables[number], Random(chance)
        badges = self.badges(draw.sample(PEOPLE[Role.PIT_BOSS] + PEOPLE[Role.OPERATOR], 2))
        self.fills_in(name, f"/pit/tables/{table.pk}/do/{deed}/", Random(1), Filling(draw, badges))

    @rule(name=st.sampled_from(PEOPLE[Role.DEALER]), number=NUMBER, page=st.sampled_from(AT_THE_TABLE), chance=CHANCE)
    def at_the_table(self, name: str, number: int, page: str, chance: int) -> None:
        """A dealer opens one of the pages beside the screen."""
        table, draw = self.house.tables[number], Random(chance)
        name = self.dealer_of(table) or name
        badges = self.badges(draw.sample(sorted(self.house.staff), 3))
        self.fills_in(name, reverse(f"dealer:{page}", args=[table.pk]), draw, Filling(draw, badges))

    def doors(self, role: str, draw: Random) -> list[str]:
        """The pages from which a person with a role may start."""
        table = draw.choice(self.house.tables)
        number = max(1, table_state.of(table).next_number - draw.choice((1, 1, 2)))
        if role == Role.DEALER:
            mishap = reverse("dealer:mishap", args=[table.pk, draw.choice(list(MISHAPS))])
            return [reverse("home"), reverse("dealer:tables"), mishap]
        papers = [reverse(page) for page in ("home", "slips:book", "slips:papers", "slips:custody")]
        if role in (Role.CASHIER, Role.CAGE_MANAGER, Role.SECURITY, Role.COUNTER):
            return [*papers, reverse("cage"), reverse("cage")]
        rounds = [reverse(f"pit:{page}", args=[table.pk, number]) for page in ("round", "open-dispute", "correct")]
        return [*self.pages(), *rounds, *rounds, *papers, reverse("codes"), reverse("pit:bookmarks")]

    # --- programs ---

    @rule(name=PERSON, number=NUMBER, path=st.sampled_from(API))
    def ask(self, name: str, number: int, path: str) -> None:
        """A program reads the API as some person."""
        answer = self.house.screens[name].get(f"/api/{path.format(pk=self.house.tables[number].pk)}")
        assert answer.status_code in (200, 403), (name, path, answer.content)
        self.tally[f"API {answer.status_code}"] += 1

    @rule(name=PERSON, number=NUMBER, chance=CHANCE)
    def tell(self, name: str, number: int, chance: int) -> None:
        """A program sends a message, valid or not; mostly as somebody who may send it."""
        table, draw = self.house.tables[number], Random(chance)
        role, path, body = draw.choice(self.messages(table, draw))
        if draw.random() < 0.9:
            name = (role == Role.DEALER and self.dealer_of(table)) or draw.choice(PEOPLE[role])
        self.posts(name, path, body, draw)

    def posts(self, name: str, path: str, body: dict[str, Any], draw: Random) -> int:
        before, client = rows(), self.house.screens[name]
        message = json.dumps({"key": str(uuid4())} | body)
        answer = client.post(f"/api/{path}", message, content_type="application/json")
        self.tally[f"API {path.split('/')[0]} {answer.status_code}"] += 1
        assert answer.status_code < 500, (path, body)
        if answer.status_code >= 400:
            assert rows() == before or _only_reported(before), (path, body, _since(before))
        elif draw.random() < 0.3:
            after = rows()
            client.post(f"/api/{path}", message, content_type="application/json")
            assert rows() == after, ("twice", path, body, _since(after))
        if answer.status_code < 300 and path.endswith("proposals/"):
            self.proposals.append(answer.json()["number"])
        return int(answer.status_code)

    def messages(self, table: Table, draw: Random) -> list[tuple[Role, str, dict[str, Any]]]:
        """The messages about a table and about the house, each with the role that may send it."""
        state, own = table_state.of(table), f"tables/{table.pk}/"
        number, seat, cents = max(1, state.next_number - 1), draw.choice((1, 2, 3, 9)), draw.choice((1_000, 2_000, 150))
        seq = state.seq - draw.choice((0, 0, 0, 1, 5))
        inputs: list[dict[str, Any]] = [
            {"do": "bet", "seat": seat, "amount_cents": cents},
            {"do": "close_bets"},
            {"do": "take_back"},
            {"do": "card", "rank": draw.randint(0, 11)},
            {"do": "sell_chips", "amount_cents": cents},
            {"do": "buy_in", "seat": seat, "amount_cents": cents},
            {"do": "cash_out", "seat": seat},
            {"do": "deal"},
            {"do": "paid_all"},
        ]
        claim = {"round": number, "seat": seat, "claim": "No", "claimant": "A", "claim_cents": cents}
        paid = {"round": number, "seat": seat, "handed_cents": cents, "reason": "Seen"}
        signed = {"badge": self.house.staff[draw.choice(("bella", "pat", "cas", "sal"))].badge, "pin": floor.PIN}
        version = draw.choice((self.house.screens["bella"].get(f"/api/{own}settings/").json()["version"],) * 2 + ("1",))
        change = {"expected": version, "changes": {"max_cents": draw.choice((20_000, 9_000, 500))}}
        post = {"username": draw.choice(PEOPLE[Role.PIT_BOSS])}
        until = (timezone.now() + timedelta(hours=draw.choice((1, 11, 13)))).isoformat()
        pit, proposal = draw.choice(("Pit 1", "Pit 2", "Pit 3")), f"proposals/{draw.choice(self.proposals)}"
        dealer, boss, operator = Role.DEALER, Role.PIT_BOSS, Role.OPERATOR
        return [
            *((dealer, f"{own}inputs/", {"expected_seq": seq, "input": entry}) for entry in inputs),
            (boss, f"{own}disputes/", claim),
            (boss, f"{own}disputes/1/notes/", {"heard": "Dora", "text": "Nothing"}),
            (boss, f"{own}disputes/1/ruling/", {"ruling": draw.choice(("player", "house")), "reason": "Seen"}),
            (boss, f"{own}disputes/1/closing/", {"text": "Done"}),
            (boss, f"{own}corrections/", paid),
            (boss, f"{own}corrections/{timezone.localdate().year}/{draw.randint(1, 2)}/signatures/", signed),
            (boss, f"{own}proposals/", change | {"comment": "A guest"}),
            (operator, f"{own}settings/", change),
            (operator, f"{proposal}/approval/", {}),
            (operator, f"{proposal}/refusal/", {"reason": "No"}),
            (boss, f"{proposal}/withdrawal/", {"reason": "No"}),
            (operator, "posts/", post | {"pits": draw.sample(["Pit 1", "Pit 2"], draw.randint(0, 2))}),
            (operator, "posts/", post | {"whole_floor": True}),
            (boss, "covers/", {"pit": pit, "until": until, "reason": "Called away"}),
            (boss, "covers/ends/", {"pit": pit}),
            (boss, "slips/", {"table": table.pk, "series": "fill", "chips": [[100, draw.choice((0, 90))]]} | signed),
            (boss, "slips/", {"table": table.pk, "series": "credit", "chips": [[100, 90]]} | signed),
        ]

    @rule()
    def restart(self) -> None:
        """From here on another process answers, with empty caches."""
        table_state.cache.clear()

    # --- invariants after every step ---

    @invariant()
    def chips_and_cash_sum_to_zero(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")
        sums: Counter[str] = Counter()
        net = cage.net_effect(cage.all_books())
        for account, place in Account.objects.values_list("pk", "place"):
            sums[place] += net.get(account, 0)
        assert sum(sums[place] for place in CHIP_PLACES) == 0
        assert sum(sums[place] for place in CASH_PLACES) == 0
        assert min(sums[place] for place in ("vault", "cage", "layout", "pot", "transit")) >= 0, sums

    @invariant()
    def cached_states_match_the_log(self) -> None:
        for table in self.house.tables:
            head = read_head(table.book_id)
            assert table_state.at(head) == table_state.read_anew([head])[head.book_id], table.name

    @invariant()
    def the_floor_can_be_read(self) -> None:
        """Read two pages after each step, in turn; at the end all of them are read."""
        addresses = self.pages()
        for _ in range(2):
            self.turn += 1
            self.reads(WATCHERS[self.turn % len(WATCHERS)], addresses[self.turn % len(addresses)])


def rows() -> tuple[int, ...]:
    """The number of rows in books and registers."""
    models = (LogEntry, Transfer, Slip, SlipSignature, Discrepancy, Assignment, Post, PitCover)
    return tuple(model.objects.count() for model in models)


def _since(before: tuple[int, ...]) -> list[tuple[str, str]]:
    newest = LogEntry.objects.order_by("-pk")[: max(0, LogEntry.objects.count() - before[0])]
    return [(entry.subject, entry.kind) for entry in newest]


def _only_reported(before: tuple[int, ...]) -> bool:
    """Whether a refusal left only its report."""
    return rows()[1:] == before[1:] and all(kind in REPORTED for _, kind in _since(before))


def _kind_of(address: str) -> str:
    return re.sub(r"\d+", "N", address.partition("?")[0])


@pytest.fixture
def machine(beginning: House) -> type[WholeHouse]:
    WholeHouse.house, WholeHouse.tally = beginning, Counter()
    return WholeHouse


SEVERAL: Final = settings(
    max_examples=percent(4),
    stateful_step_count=by_pace(15, 25, 50),
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.trial("drives the site at random", covered_by="tests/stateful/test_whole_house.py::test_an_hour_by_hand")
@pytest.mark.timeout(by_pace(300, 300, 7_200))
def test_whatever_people_do_the_house_stays_whole(machine: type[WholeHouse]) -> None:
    """Harm: some sequence of actions that people can really take at their screens breaks a page, loses a chip, records
    a refused input, or leaves a log that cannot be proved."""
    run_state_machine_as_test(machine, settings=SEVERAL)


@pytest.mark.slow("drives the site for hundreds of inputs")
def test_an_hour_by_hand(machine: type[WholeHouse]) -> None:
    """Harm: everything that the machine sends is refused, and it proves nothing."""
    hour = machine()
    try:
        for chance in range(6):
            hour.deal(0, chance, presses=4, careful=True)
            hour.two_tablets_at_the_same_prompt(0, chance)
            hour.begin(chance, "fill", 0, careful=True)
            hour.cached_states_match_the_log()
            hour.chips_and_cash_sum_to_zero()
    finally:
        hour.teardown()
    expected = {"/tables/N/input 302", "/slips/N/new/fill/ 302", "a tablet was too late"}
    assert expected <= set(+machine.tally), machine.tally
