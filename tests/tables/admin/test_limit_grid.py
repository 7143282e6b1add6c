"""The grid of limits: many tables at once, two editors, files from spreadsheets; all of it or nothing."""

import codecs
import csv
import html
import io
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from ledger import site_log as house_book
from ledger.models import LogEntry
from tables.approvals import proposals
from tables.limits import cell_texts, enforcement, plans
from tables.limits.cell_texts import CellError
from tables.log.entries.limit_plans import LimitPlanSet
from tables.log.entries.pits import PitSectionSet
from tables.log.limit_plans import Always
from tables.models import LimitPlan, Proposal, Staff, Table
from tables.roles import Role
from tables.setup import pits, policies, table_settings
from tests import floor
from tests.clock import Clock
from tests.floor import Hand
from tests.ready import ready_made
from tests.tables import wheel
from tests.tables.admin.test_admin import signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

GRID = "/admin/tables/table/grid/"


@ready_made
def two_tables() -> tuple[Staff, Table, Table]:
    """An operator and two tables of 10 to 100."""
    table, operator = floor.table(), floor.staff(Role.OPERATOR, "omar")
    return operator, table, table_settings.create_table("Rocket 2", table_settings.settings_of(table), by=operator)


@pytest.fixture
def house() -> tuple[Client, Table, Table]:
    """An operator's browser and two tables of 10 to 100."""
    operator, rocket1, rocket2 = two_tables()
    return signed_in(operator), rocket1, rocket2


@pytest.fixture
def operator(house: tuple[Client, Table, Table]) -> Staff:
    return Staff.objects.get(username="omar")


@pytest.fixture
def dealer() -> Hand:
    """A table of six decks that is ready for bets."""
    return floor.dealt(options={"decks": 6})[0]


def fields(browser: Client) -> dict[str, str]:
    """The grid's form as a browser would send it."""
    return fields_of(browser.get(GRID).content.decode())


def fields_of(page: str) -> dict[str, str]:
    matches = re.findall(r'<input(?: type="hidden")? name="([cs]-[^"]+)" value="([^"]*)"', page)
    return {name: value.replace("&quot;", '"') for name, value in matches}


def preview_digest(browser: Client, form: dict[str, Any]) -> str:
    """Preview the changes of a form, and return the digest on that page."""
    page = browser.post(GRID, form | {"do": "preview"}).content.decode()
    digest = re.search(r'name="digest" value="(\w+)"', page)
    assert digest, page[-3000:]
    return digest[1]


def form_of_file(page: str) -> dict[str, str]:
    """The form that saves the previewed changes of an imported file."""
    hidden_fields = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page)
    return {name: html.unescape(value) for name, value in hidden_fields} | {"do": "save"}


def faults_of(page: HttpResponse) -> str:
    assert page.status_code == 422
    return html.unescape(page.content.decode())


def saved(browser: Client, form: dict[str, Any]) -> HttpResponse:
    """Before and after, and then the button that saves it."""
    return browser.post(GRID, form | {"do": "save", "digest": preview_digest(browser, form)})


def limits(table: Table) -> tuple[int, int]:
    table.refresh_from_db()
    return table.min_cents, table.max_cents


def entries() -> int:
    return LogEntry.objects.count()


def test_one_wrong_cell_and_nothing_is_saved_and_nothing_typed_is_lost(house: tuple[Client, Table, Table]) -> None:
    """Harm: of forty rows thirty-nine are saved, and nobody knows which one is not."""
    browser, rocket1, rocket2 = house
    before = entries()
    form = fields(browser) | {f"c-{rocket1.pk}-min_cents": "20", f"c-{rocket2.pk}-min_cents": "15"}
    text = faults_of(browser.post(GRID, form | {"do": "preview"}))
    assert "The minimum is a multiple of 10, ten chip units: 10 or 20." in text
    assert f'name="c-{rocket1.pk}-min_cents" value="20"' in text
    assert f'name="c-{rocket2.pk}-min_cents" value="15"' in text
    assert browser.post(GRID, form | {"do": "save", "digest": "x"}).status_code == 409
    assert entries() == before


def test_the_second_of_two_editors_sees_each_conflicting_cell(house: tuple[Client, Table, Table]) -> None:
    """Harm: the second save reverts the first without a message to either operator; or saving one cell writes back all
    others as they were when the page was opened."""
    browser, rocket1, rocket2 = house
    rival = signed_in(floor.staff(Role.OPERATOR, "olga"))
    form, second_form = fields(browser), fields(rival)
    first_form = form | {f"c-{rocket1.pk}-max_cents": "500", f"c-{rocket2.pk}-max_cents": "500"}
    digest = preview_digest(browser, first_form)
    second_form |= {f"c-{rocket1.pk}-max_cents": "300", f"c-{rocket2.pk}-min_cents": "20"}
    assert saved(rival, second_form).status_code == 302
    page = browser.post(GRID, first_form | {"do": "save", "digest": digest})
    assert page.status_code == 409
    text = page.content.decode()
    assert "Somebody changed it meanwhile, from 100 to 300." in text
    assert text.count('value="500"') == 2
    assert (limits(rocket1)[1], limits(rocket2)) == (30_000, (2_000, 10_000))
    again = fields_of(text) | {f"c-{rocket1.pk}-max_cents": "500"}
    assert saved(browser, again).status_code == 302
    assert (limits(rocket1)[1], limits(rocket2)) == (50_000, (2_000, 50_000))


def test_several_tables_are_changed_together_and_once(house: tuple[Client, Table, Table]) -> None:
    """Harm: one evening's minimum takes forty forms, or half of them are saved; or a second press of the button enters
    the changes again."""
    browser, rocket1, rocket2 = house
    form = fields(browser) | {f"c-{rocket1.pk}-min_cents": "20", f"c-{rocket2.pk}-max_cents": "1,000"}
    form |= {"do": "save", "digest": preview_digest(browser, form)}
    before = entries()
    assert [browser.post(GRID, form).status_code for _ in range(2)] == [302, 409]
    assert (limits(rocket1), limits(rocket2)) == ((2_000, 10_000), (1_000, 100_000))
    assert entries() == before + 2


def test_what_takes_two_is_proposed_all_or_nothing(house: tuple[Client, Table, Table], operator: Staff) -> None:
    """Harm: one operator raises the maxima of the whole floor alone; or a second proposal leaves the rest half done."""
    browser, rocket1, rocket2 = house
    floor.staff(Role.OPERATOR, "olga")
    policies.change({"two_people": True, "two_people_for": ("limits",)}, None, by=operator)
    form = fields(browser) | {f"c-{rocket1.pk}-max_cents": "90000", f"c-{rocket2.pk}-min_cents": "20"}
    assert saved(browser, form).status_code == 302
    assert Proposal.objects.get().about == rocket1.name
    assert (limits(rocket1)[1], limits(rocket2)[0]) == (10_000, 2_000)
    form = fields(browser) | {f"c-{rocket1.pk}-max_cents": "80000", f"c-{rocket2.pk}-min_cents": "30"}
    page = saved(browser, form)
    assert page.status_code == 409
    assert "waits already" in page.content.decode()
    assert limits(rocket2)[0] == 2_000


def test_rows_that_are_ticked_are_filled(house: tuple[Client, Table, Table]) -> None:
    """Harm: the one who raises every minimum by 10 works it out by hand, table by table."""
    browser, rocket1, rocket2 = house
    form = fields(browser) | {"row": [rocket1.pk], "column": "min_cents", "way": "up", "amount": "10", "do": "fill"}
    after = fields_of(browser.post(GRID, form).content.decode())
    assert (after[f"c-{rocket1.pk}-min_cents"], after[f"c-{rocket2.pk}-min_cents"]) == ("20", "10")
    down = form | {"way": "down", "amount": "50"}
    assert "leaves nothing" in browser.post(GRID, down).content.decode()


def test_what_a_plan_sets_says_why_and_is_changed_there(house: tuple[Client, Table, Table], operator: Staff) -> None:
    """Harm: an amount that is typed here is set back by the plan, and the operator thinks that it holds."""
    browser, rocket1, _ = house
    plan = LimitPlanSet(
        name="Nights", schedule=Always(), version=0, scope="table", of=rocket1.name, values={"min_cents": 3_000},
        effective="", note="<b>busy",
    )  # fmt: skip
    plans.set_plan(plan, expected_version=0, by=operator)
    page = browser.get(GRID).content.decode()
    assert "30 by plan Nights (&lt;b&gt;busy): table Rocket 1, always" in page
    answer = browser.post(GRID, fields(browser) | {f"c-{rocket1.pk}-min_cents": "40", "do": "preview"})
    assert "change the plan" in answer.content.decode()


def test_it_costs_the_same_for_more_tables(house: tuple[Client, Table, Table], operator: Staff) -> None:
    """Harm: a page of forty tables that asks the database for each."""
    browser, rocket1, _ = house
    counts = []
    for number in (3, 4):
        table_settings.create_table(f"Rocket {number}", table_settings.settings_of(rocket1), by=operator)
        browser.get(GRID)
        with CaptureQueriesContext(connection) as captured:
            assert browser.get(GRID).status_code == 200
        counts.append(len(captured))
    assert counts[0] == counts[1]


def test_it_shows_a_pit_or_a_game_and_names_are_only_text(house: tuple[Client, Table, Table], operator: Staff) -> None:
    """Harm: what is hidden by the filter is changed; or a pit's name runs as a script."""
    browser, rocket1, rocket2 = house
    pits.set_section(PitSectionSet(pit="<script>1", tables=(rocket1.name,)), by=operator)
    page = browser.get(GRID, {"pit": "<script>1"}).content.decode()
    assert f"c-{rocket1.pk}-min_cents" in page
    assert f"c-{rocket2.pk}-min_cents" not in page
    assert "<script>1" not in page
    assert f"c-{rocket2.pk}-min_cents" in browser.get(GRID, {"pit": "none"}).content.decode()


def test_tables_of_every_sort_are_in_it_and_can_be_set(house: tuple[Client, Table, Table]) -> None:
    """Harm: one roulette table takes the grid of the whole floor away."""
    browser, *_ = house
    roulette = wheel.wheel()
    floor.table("Starboard 1", game="starboard", options={})
    form = fields(browser) | {f"c-{roulette.pk}-max_cents": "1000"}
    assert saved(browser, form).status_code == 302
    assert limits(roulette)[1] == 100_000
    assert "Roulette" in browser.get("/admin/").content.decode()


# --- From when it holds ------------------------------------------------------------------------------------------


def test_an_edit_holds_from_a_moment(house: tuple[Client, Table, Table], clock: Clock) -> None:
    """Harm: whoever sets tonight's limits has to come back at eight; or what they date holds at once."""
    browser, rocket1, rocket2 = house
    evening = timezone.localtime(timezone.now() + timedelta(hours=3))
    form = fields(browser) | {f"c-{rocket1.pk}-max_cents": "500", f"c-{rocket2.pk}-min_cents": "20"}
    form |= {"effective": f"{evening:%Y-%m-%d %H:%M}", "takes": "round"}
    page = browser.post(GRID, form | {"do": "preview"}).content.decode()
    assert f"from {evening:%Y-%m-%d %H:%M}" in page
    assert f'name="effective" value="{evening:%Y-%m-%d %H:%M}"' in page
    assert saved(browser, form).status_code == 302
    assert (limits(rocket1), limits(rocket2)) == ((1_000, 10_000), (1_000, 10_000))
    assert [proposal.end.outcome for proposal in proposals.to_come()] == ["decided", "decided"]
    clock.stand(evening + timedelta(minutes=1))
    assert proposals.bring_into_force() == 2
    assert (limits(rocket1), limits(rocket2)) == ((1_000, 50_000), (2_000, 10_000))


def test_an_edit_ends_and_the_layers_below_apply_again(house: tuple[Client, Table, Table], clock: Clock) -> None:
    """Harm: tonight's minimum is still in force tomorrow, or the operator has to come back at two to lower it."""
    browser, rocket1, rocket2 = house
    now = timezone.localtime(timezone.now())
    end = now + timedelta(hours=3)
    form = fields(browser) | {f"c-{key}-min_cents": "20" for key in (rocket1.pk, rocket2.pk)}
    early = form | {"ends": f"{now - timedelta(hours=1):%Y-%m-%d %H:%M}"}
    for step in ("preview", "save"):
        assert "It would end before it holds" in faults_of(browser.post(GRID, early | {"do": step}))
    form["ends"] = f"{end:%Y-%m-%d %H:%M}"
    page = browser.post(GRID, form | {"do": "preview"}).content.decode()
    assert f"with the next round, until {end:%Y-%m-%d %H:%M}" in page
    assert f'name="ends" value="{end:%Y-%m-%d %H:%M}"' in page
    assert "on their placards" in page
    assert saved(browser, form | {"why": "Full house"}).status_code == 302
    plan = LimitPlan.objects.get()
    assert (plan.tables, plan.note) == ([rocket1.name, rocket2.name], "Full house")
    enforcement.bring_into_force()
    assert (limits(rocket1)[0], limits(rocket2)[0]) == (2_000, 2_000)
    clock.stand(end + timedelta(minutes=1))
    enforcement.bring_into_force()
    assert (limits(rocket1)[0], limits(rocket2)[0]) == (1_000, 1_000)


def test_options_and_penetration_hold_with_the_next_shoe(dealer: Hand) -> None:
    """Harm: a shoe half dealt gets another cut card; or the grid shows what it cannot change."""
    browser = signed_in(floor.staff(Role.OPERATOR, "omar"))
    dealer.bets(seat1=1_000)
    dealer.cards(5, 3)
    dealer.pay()
    key = dealer.table.pk
    page = browser.get(GRID).content.decode()
    assert f'name="c-{key}-penetration" value="80"' in page
    assert "decks: 6; burn: 5; start: dealer left" in page
    form = fields(browser) | {
        f"c-{key}-penetration": "75 %", f"c-{key}-options": "decks: 8", f"c-{key}-max_cents": "200",
    }  # fmt: skip
    preview = browser.post(GRID, form | {"do": "preview"}).content.decode()
    assert preview.count("with the next shoe") >= 2
    assert saved(browser, form).status_code == 302
    dealer.table.refresh_from_db()
    assert (dealer.table.max_cents, dealer.table.options["decks"]) == (20_000, 6)  # limits with the next round
    Hand(dealer.table, Staff.objects.get(username="bella"))("retire_shoe")
    dealer.table.refresh_from_db()
    assert (dealer.table.options["decks"], dealer.table.options["reshuffle_at"]) == (8, 0.25)
    assert dealer.table.options["burn"] == 5


def test_new_options_are_valued_before_the_books_are_locked(dealer: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: signatures, proposals and closings wait half a minute while an operator saves a game's options."""
    steps: list[str] = []
    browser, lock = signed_in(floor.staff(Role.OPERATOR, "omar")), house_book.lock
    seen = fields(browser) | {f"c-{dealer.table.pk}-options": "decks: 4"}
    form = seen | {"do": "save", "digest": preview_digest(browser, seen)}
    monkeypatch.setattr(table_settings, "_edges", lambda game, rules: steps.append("valued") or {})
    monkeypatch.setattr(house_book, "lock", lambda: steps.append("locked") or lock())
    browser.post(GRID, form)
    assert steps[:2] == ["valued", "locked"]


def test_an_invalid_option_is_refused_with_the_valid_values(house: tuple[Client, Table, Table]) -> None:
    """Harm: a cell of six options is refused with "invalid" and no valid value."""
    browser, rocket1, _ = house
    for column, text, sentence in (
        ("penetration", "most", "write how much of it is dealt, in per cent: 80"),
        ("penetration", "120", "in per cent: 80"),
        ("options", "decks: many", "Write a whole number from 1 to 8."),
        ("options", "start: dealer", "Write dealer left or low card."),
        ("options", "packs: 8", "There is decks, burn, start; write them as decks: 1; burn: 5; start: dealer left."),
        ("options", "decks: 6; decks: 8", "name an option once"),
        ("options", "decks: 99", "Write a whole number from 1 to 8."),
    ):
        page = browser.post(GRID, fields(browser) | {f"c-{rocket1.pk}-{column}": text, "do": "preview"})
        assert sentence in faults_of(page).partition('class="grid__faults"')[2].partition("</ul>")[0]


def test_a_part_of_a_shoe_that_the_game_does_not_permit_is_refused(house: tuple[Client, Table, Table]) -> None:
    """Harm: an operator types 95, and the page of forty edited tables is replaced by a server error."""
    browser, rocket1, _ = house
    form = fields(browser) | {f"c-{rocket1.pk}-penetration": "95"}
    for step in ("preview", "save"):
        page = browser.post(GRID, form | {"do": step, "digest": "x"})
        assert page.status_code == (422 if step == "preview" else 409)
        assert f'name="c-{rocket1.pk}-penetration" value="95"' in page.content.decode()
        assert "eshuffle_at: expected float" in page.content.decode()


@pytest.mark.parametrize("field", ["do", "why", "digest", "amount", "s-"])
def test_a_null_character_in_a_field_is_no_server_error(house: tuple[Client, Table, Table], field: str) -> None:
    """Harm: a request that no browser sends fills the log of errors, and hides a failure that matters."""
    browser, rocket1, _ = house
    change = {f"c-{rocket1.pk}-min_cents": "20"}
    for step in ("fill", "preview", "save"):
        form = fields(browser) | change | {"row": [rocket1.pk], "column": "min_cents", "way": "up", "do": step}
        name = f"s-{rocket1.pk}" if field == "s-" else field
        assert browser.post(GRID, form | {name: "\x00"}).status_code < 500


def test_a_table_without_a_shoe_waits_for_none(house: tuple[Client, Table, Table]) -> None:
    """Harm: a roulette's maximum waits for a shoe that never comes."""
    browser, *_ = house
    roulette = wheel.wheel()
    form = fields(browser) | {f"c-{roulette.pk}-max_cents": "1000", "takes": "shoe"}
    text = faults_of(browser.post(GRID, form | {"do": "preview"}))
    assert f"No shoe is dealt at {roulette.name}: let it hold from the next round" in text


def test_a_moment_that_is_none_is_refused_and_nothing_typed_is_lost(house: tuple[Client, Table, Table]) -> None:
    """Harm: a slip of the year, and it holds at once."""
    browser, rocket1, _ = house
    for moment, step in (("tonight", "preview"), ("2020-01-01 00:00", "save"), ("2099-01-01 00:00", "preview")):
        form = fields(browser) | {f"c-{rocket1.pk}-max_cents": "500", "effective": moment}
        text = faults_of(browser.post(GRID, form | {"do": step, "digest": "x"}))
        assert f'value="{moment}" aria-invalid="true"' in text
        assert 'value="500"' in text
    assert not Proposal.objects.exists()


def test_a_file_holds_from_a_moment_too(house: tuple[Client, Table, Table]) -> None:
    """Harm: whoever works in a spreadsheet cannot date what they change."""
    browser, rocket1, _ = house
    evening = f"{timezone.localtime(timezone.now() + timedelta(hours=3)):%Y-%m-%d %H:%M}"
    file = SimpleUploadedFile("limits.csv", b"Table,Maximum\nRocket 1,500\n")
    page = browser.post(f"{GRID}import/", {"file": file, "effective": evening}).content.decode()
    assert browser.post(GRID, form_of_file(page)).status_code == 302
    assert (limits(rocket1)[1], proposals.to_come()[0].about) == (10_000, "Rocket 1")


def test_over_players_the_cell_says_from_when_a_minimum_may_hold(dealer: Hand) -> None:
    """Harm: the whole save is refused at the end, and nobody knows which table has players."""
    browser = signed_in(floor.staff(Role.OPERATOR, "omar"))
    dealer.bets(seat1=1_000)
    form = fields(browser) | {f"c-{dealer.table.pk}-min_cents": "20"}
    assert "Players are seated" in faults_of(browser.post(GRID, form | {"do": "preview"}))
    later = f"{timezone.localtime(timezone.now() + timedelta(hours=1)):%Y-%m-%d %H:%M}"
    assert saved(browser, form | {"effective": later}).status_code == 302


# --- Amounts ---------------------------------------------------------------------------------------------------


AMOUNTS = {"25": 2_500, "2.5": 250, "2,50": 250, "1,000": 100_000, "1 000.50": 100_050, "1000,5": 100_050}


def test_amounts_are_read_as_spreadsheets_write_them() -> None:
    """Harm: an import reads a minimum of 2.50 with a decimal comma as 250, or 1.000 as 1."""
    assert {text: cell_texts.parse_amount(text) for text in AMOUNTS} == AMOUNTS
    for text in ("", "1.000", "1.000,50", "1e3", "-5", "£5", "5 to 10", "=1+1", "1,00,0", "٣", "9" * 30):
        with pytest.raises(CellError, match=r"[Ww]rite"):
            cell_texts.parse_amount(text)


# --- Files -----------------------------------------------------------------------------------------------------


def taken_in(browser: Client, content: str | bytes) -> HttpResponse:
    content = content.encode() if isinstance(content, str) else content
    return browser.post(f"{GRID}import/", {"file": SimpleUploadedFile("limits.csv", content)})


def test_a_file_goes_out_and_comes_back_as_it_was(house: tuple[Client, Table, Table], operator: Staff) -> None:
    """Harm: a name begins a formula on somebody's desk; or a file that nobody changed changes limits."""
    browser, rocket1, _ = house
    table_settings.create_table("=cmd|'/C calc'!A0", table_settings.settings_of(rocket1), by=operator)
    file = browser.get("/admin/tables/table/grid.csv")
    assert file.content.startswith(b"\xef\xbb\xbfTable,Pit,Game,Minimum")
    assert b"\n'=cmd" in file.content
    before = entries()
    assert "Nothing is to be changed" in taken_in(browser, file.content).content.decode()
    assert file.content.startswith(codecs.BOM_UTF8 + b"Table,")
    lines = list(csv.reader(io.StringIO(file.content.decode("utf-8-sig"))))
    lines[1 + [line[0] for line in lines[1:]].index("Rocket 1")][3] = "20"
    sheet = io.StringIO()
    csv.writer(sheet, delimiter=";").writerows(lines)
    page = taken_in(browser, sheet.getvalue().encode()).content.decode()
    assert entries() == before
    form = form_of_file(page)
    assert json.loads(form[f"s-{rocket1.pk}"])["min_cents"] == "10"
    assert browser.post(GRID, form).status_code == 302
    assert limits(rocket1) == (2_000, 10_000)


WRONG_FILES: list[tuple[str | bytes, int, str]] = [
    ("Table,Minimum\nRocket 1,15\n", 2, "multiple of 10"),
    ("Table,Minimum\nRocket 1,20\nRocket 1,30\n", 3, "stands in row 2 already"),
    ("Table,Minimum\nrocket 1,20\n", 2, "Write Rocket 1."),
    ("Table,Minimum\nRocket 9,20\n", 2, "There is no table"),
    ("Table,Minimum\nRocket 1,1.000\n", 2, "write 1000, or 1000.00"),
    ("Table,Minimum\nRocket 1,1,000\n", 2, "The row has 3 cells"),
    ("Table,Min\nRocket 1,20\n", 1, "There is no column"),
    ("Table,Minimum,Minimum\nRocket 1,20,30\n", 1, "stands there twice"),
    ("Minimum\n20\n", 1, "The column Table is missing"),
    ("Table,Pit\nRocket 1,x\n", 1, "No column has limits"),
    ("Table,Per wager\nRocket 1,tie 5\n", 2, "is no wager with its limits"),
    ("Table,Minimum\nRocket 1,\n", 2, "cannot be empty"),
    ("", 1, "The file is empty"),
    (b"\xff\xfeT\x00", 1, "not in UTF-8"),
    ('Table,Minimum\n"Rocket 1,20\n', 1, "is no list of cells"),
    ("Table,Minimum\n" + "Rocket 1,20\n" * 1_001, 1_001, "more than 1,000 rows"),
]


def test_a_dry_run_names_each_wrong_cell(house: tuple[Client, Table, Table]) -> None:
    """Harm: "the file is wrong" for a thousand cells; or some of it is done all the same."""
    browser, *_ = house
    before = entries()
    for content, row, sentence in WRONG_FILES:
        text = faults_of(taken_in(browser, content))
        assert f"<td>{row}</td>" in text, sentence
        assert sentence in text
    assert entries() == before


# --- History ---------------------------------------------------------------------------------------------------


def test_the_history_says_who_when_from_and_to(house: tuple[Client, Table, Table], operator: Staff) -> None:
    """Harm: nobody can say what the limits were when a bet was refused."""
    browser, rocket1, rocket2 = house
    saved(browser, fields(browser) | {f"c-{rocket1.pk}-min_cents": "20"})
    page = browser.get("/admin/tables/table/limits/history/", {"table": rocket1.name}).content.decode()
    line = re.search(r"<td>Minimum</td><td>10</td><td><strong>20</strong></td><td>([^<]+)", page)
    assert line
    assert line[1] == operator.signature
    assert f'<th scope="row">{rocket2.name}' not in page
    for nonsense in ("x", "~~", "2026-01-01T00:00:00~1~2", "2026-01-01T00:00:00+00:00~1~99999999999999999999"):
        answer = browser.get("/admin/tables/table/limits/history/", {"before": nonsense})
        assert answer.status_code == 200
    file = browser.get("/admin/tables/table/limits/history.csv", {"table": rocket1.name}).content
    assert file.startswith(codecs.BOM_UTF8 + b"When,")
    assert b"Minimum,10,20" in file
    assert timezone.localtime().strftime("%Y-%m-%d").encode() in file
