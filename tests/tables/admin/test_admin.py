"""The admin through its forms: money typed as money, sentences where they belong, and who may do what."""

from datetime import timedelta
from typing import Any, Final

import pytest
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from ledger.models import LogEntry
from tables.admin.forms import MoneyField
from tables.admin.game_fields import option_fields
from tables.admin.pages import SetUp, number
from tables.admin.table_form import TableForm
from tables.form_fields import MOST_WHOLE, parse_whole
from tables.log.terms import Settings
from tables.models import ChipSeries, Denomination, HouseKey, Proposal, Staff, Table, Terminal
from tables.reports import gaming_hours
from tables.roles import Role
from tables.setup import table_settings
from tables.staff import terminals
from tests import floor

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


def signed_in(staff: Staff) -> Client:
    client = Client()
    client.force_login(staff, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def operator() -> Client:
    """An operator at the admin, in a house that has chips."""
    for value, colour, face in floor.CHIPS:
        Denomination.objects.create(value_cents=value, colour=colour, face=face)
    return signed_in(Staff.objects.create_staff("omar", name="Omar", role=Role.OPERATOR))


@pytest.fixture
def auditor() -> Client:
    return signed_in(Staff.objects.create_staff("ada", name="Ada", role=Role.AUDITOR))


def page(model: str, pk: int | None = None) -> str:
    return reverse(f"admin:tables_{model}_change", args=[pk]) if pk else reverse(f"admin:tables_{model}_add")


def table_form(**changed: Any) -> dict[str, Any]:
    """The form of a table as a browser sends it."""
    chips = [chip.pk for chip in Denomination.objects.all()]
    return {
        "name": "Rocket 1", "game": "rocket", "seats": "6", "source": "keyed", "unit": "1", "minimum": "10",
        "maximum": "100", "cap": "", "denominations": chips, "option_decks": "1", "option_burn": "5",
        "option_reshuffle_at": "0.2", "option_start": "dealer_left",
    } | changed  # fmt: skip


def as_shown(client: Client, address: str) -> dict[str, Any]:
    """The values in the fields of a table's form."""
    shown_form = client.get(address).context["adminform"].form
    typed_in = {name: shown_form[name].value() for name in shown_form.fields}
    typed_in |= {name: shown_form.fields[name].prepare_value(value) for name, value in typed_in.items()}
    return {name: value for name, value in typed_in.items() if value not in (None, False, "")}


def errors(answer: HttpResponse) -> dict[str, list[str]]:
    return dict(answer.context["adminform"].form.errors)


def newest(subject: str) -> dict[str, Any]:
    entry = LogEntry.objects.filter(subject=subject).latest("at")
    return {"by": entry.by, "kind": entry.kind, "content": entry.content}


# --- Money ----------------------------------------------------------------------------------------------------


AMOUNTS = {"2.5": 250, "2.50": 250, "0.01": 1, "1,000": 100_000, " 7 ": 700, "9007199254740.93": 900719925474093}


def test_money_is_read_digit_by_digit() -> None:
    """Harm: an amount passes through a float and changes, or a limit becomes another number than was typed."""
    assert {text: MoneyField().clean(text) for text in AMOUNTS} == AMOUNTS
    for text in ("-10", "1e3", "10.555", "ten", "10.", ".5", "٣", "1 0", "NaN", "Infinity", "9" * 40, "1,50", "1,0,0"):
        with pytest.raises(ValidationError, match="Write an amount as 10 or"):
            MoneyField().clean(text)


@given(st.integers(min_value=0, max_value=10**15 - 1))
def test_an_amount_comes_back_from_its_form_as_it_was(cents: int) -> None:
    """Else opening a form and saving it would change a limit."""
    field = MoneyField()
    assert field.to_python(field.prepare_value(cents)) == cents
    assert not field.has_changed(cents, field.prepare_value(cents))


# --- Tables ---------------------------------------------------------------------------------------------------


def test_an_operator_sets_up_a_table(operator: Client) -> None:
    """The whole way from the form to the log."""
    answer = operator.post(page("table"), table_form(minimum="20", cap="1,000.00", option_decks="4"))
    assert answer.status_code == 302, errors(answer)
    table = Table.objects.get()
    assert table_settings.settings_of(table) == Settings(
        options={"decks": 4, "burn": 5, "reshuffle_at": 0.2, "start": "dealer_left"},
        unit_cents=100, min_cents=2_000, max_cents=10_000, cap_cents=100_000, denominations=(10_000, 2_500, 500, 100),
    )  # fmt: skip
    assert newest("table")["by"] == "omar Omar"


def test_a_form_opened_earlier_does_not_undo_what_somebody_else_changed(operator: Client) -> None:
    """Only the fields that this operator touched are written."""
    table = floor.table()
    form = TableForm.for_game("rocket")(table_form(maximum="200"), instance=Table.objects.get(pk=table.pk))
    operator.post(page("table", table.pk), table_form(minimum="20"))
    assert form.is_valid(), form.errors
    form.write(by=Staff.objects.get(username="omar"))
    table.refresh_from_db()
    assert (table.min_cents, table.max_cents) == (2_000, 20_000)


def test_each_error_is_shown_at_its_field(operator: Client) -> None:
    """Harm: an operator who has to search for the wrong field changes another one."""
    answer = operator.post(page("table"), table_form(minimum="15", cap="1", option_decks="9", maximum=""))
    assert errors(answer) == {
        "maximum": ["This field is required."],
        "option_decks": ["Ensure this value is less than or equal to 8."],
    }
    answer = operator.post(page("table"), table_form(minimum="15", cap="1"))
    assert errors(answer) == {
        "minimum": ["The minimum is a multiple of 10, ten chip units: 10 or 20."],
        "cap": ["The cap is at least the minimum of 15 and at most 10,000,000,000,000; or there is none."],
    }
    assert not Table.objects.exists()
    assert set(errors(operator.post(page("staff"), staff_form(badge="x")))) == {"badge"}


def test_a_table_is_set_to_another_game_at_once_and_to_another_shoe_with_the_next(operator: Client) -> None:
    """Harm: setting a table to another game is a server error; or the proposal lacks what was changed."""
    operator.post(page("table"), table_form())
    table = Table.objects.get()
    form = table_form(source="house", takes="shoe", comment="a new machine")
    assert operator.post(page("table", table.pk), form).status_code == 302
    assert Proposal.objects.get().after == {"source": "house", "takes": "shoe"}
    answer = operator.post(page("table", table.pk), table_form(game="dragon_tiger"))
    assert answer.status_code == 302, errors(answer)
    table.refresh_from_db()
    assert (table.game, table.options["rounding"]) == ("dragon_tiger", "exact")


def test_the_form_has_a_field_for_every_option_of_every_game() -> None:
    """A new option would else be one that no operator can set."""
    from tables.games.catalog import GAMES

    for name, game in GAMES.items():
        options = {field.removeprefix("option_") for field in option_fields(name)}
        assert options == set(game.rules_type.__struct_fields__) - {"unit"}


def test_what_has_to_wait_says_so_in_the_form_and_limits_go_through(operator: Client) -> None:
    """The operator is told why, at the field, and what may change now does."""
    dealer, _ = floor.dealt()
    dealer.bets(seat1=1_000)
    url = page("table", dealer.table.pk)
    answer = operator.post(url, table_form(seats="4", option_decks="2", minimum="20"))
    sentences = errors(answer)
    assert "takes 30 minutes' notice. Let it hold from" in sentences.pop("minimum")[0]
    assert sentences == {
        "seats": ["Round 1 is open at Rocket 1: the number of seats can change when it is over."],
        "__all__": ["Round 1 is open at Rocket 1: the game's options can change when it is over."],
    }
    assert b"Round 1 is open at Rocket 1" in operator.get(url).content
    assert operator.post(url, table_form(maximum="200")).status_code == 302
    assert Table.objects.get().max_cents == 20_000


def test_a_round_that_opens_between_the_look_and_the_write_gets_a_sentence_not_an_error_page(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The dealer does not wait for the operator."""
    dealer, _ = floor.dealt()
    monkeypatch.setattr(TableForm, "faults", lambda form: {})
    dealer.bets(seat1=1_000)
    answer = operator.post(page("table", dealer.table.pk), table_form(seats="4"), follow=True)
    assert b"Round 1 is open at Rocket 1: the number of seats can change when it is over." in answer.content
    assert Table.objects.get().seats == 6


def test_the_name_of_a_table_is_for_good(operator: Client) -> None:
    """Its log bears it."""
    table = floor.table()
    operator.post(page("table", table.pk), table_form(name="Another"))
    assert Table.objects.get().name == "Rocket 1"


# --- Chips, staff, terminals ----------------------------------------------------------------------------------


def test_a_chip_is_added_and_keeps_its_worth(operator: Client) -> None:
    """A chip that changes its worth changes every rack that holds it."""
    operator.post(page("denomination"), {"value": "2.50", "colour": "pink", "face": "#ffaacc"})
    chip = Denomination.objects.get(colour="pink")
    assert chip.value_cents == 250
    operator.post(page("denomination", chip.pk), {"value": "5", "colour": "rose", "face": "#ffaacc"})
    chip.refresh_from_db()
    assert (chip.value_cents, chip.colour) == (250, "rose")


def staff_form(**changed: str) -> dict[str, str]:
    return {"username": "dan", "name": "Dan", "role": "dealer", "badge": "102", "is_active": "on"} | changed


def test_somebody_is_taken_on_without_a_secret(operator: Client) -> None:
    """An operator who sets a PIN signs with it; and neither it nor its hash is shown."""
    secrets = {"new_password": "a password of some length", "new_pin": "2580"}
    assert operator.post(page("staff"), staff_form(**secrets)).status_code == 302
    dan = Staff.objects.get(username="dan")
    assert not dan.has("pin")
    assert not dan.has("password")
    for url in (page("staff", dan.pk), reverse("admin:tables_staff_changelist")):
        text = operator.get(url).content.decode()
        assert "argon2" not in text
        assert "Has no PIN yet: make a code." in text


def test_changing_a_name_leaves_secrets_as_they_are(operator: Client) -> None:
    """Changing a name must not lock anybody out."""
    dan = floor.staff(Role.DEALER, "dan", "102")
    answer = operator.post(page("staff", dan.pk), staff_form(name="Daniel"))
    assert answer.status_code == 302
    dan.refresh_from_db()
    assert (dan.name, dan.check_pin(floor.PIN)) == ("Daniel", True)
    assert newest("staff")["content"]["after"] == {"name": "Daniel"}


def test_a_lock_out_is_lifted_by_a_form_and_by_no_link(operator: Client) -> None:
    """A link that does something can be planted on another page."""
    dora = Staff.objects.create_staff("dora", name="Dora", role=Role.DEALER)
    url = reverse("admin:tables_staff_lift_lock_out", args=[dora.pk])
    assert operator.get(url).status_code == 200
    assert not LogEntry.objects.filter(kind="lock_out_lifted").exists()
    operator.post(url)
    assert newest("staff")["kind"] == "lock_out_lifted"


def test_the_device_in_the_operators_hands_becomes_a_terminal(operator: Client) -> None:
    """And stays no operator's desk."""
    answer = operator.post(reverse("admin:tables_terminal_enrol_here"), {"name": "Tablet 1", "table": ""}, follow=True)
    assert answer.redirect_chain[-1][0] == reverse("terminal"), "where the browser makes its key"
    assert b"Badge number" in operator.get("/sign-in/").content
    assert operator.get("/admin/").status_code == 302
    assert Terminal.objects.get().is_active


def test_another_device_becomes_one_by_the_link_shown(operator: Client) -> None:
    """As a link and as a code to scan; each moves the terminal once."""
    answer = operator.post(reverse("admin:tables_terminal_enrol_elsewhere"), {"name": "Tablet 1", "table": ""})
    assert b"<svg" in answer.content
    tablet = Client()
    assert tablet.post(answer.context["link"].removeprefix("http://testserver")).status_code == 302
    terminal = Terminal.objects.get()
    again = operator.post(reverse("admin:tables_terminal_link", args=[terminal.pk]))
    assert again.context["link"] != answer.context["link"]
    operator.post(reverse("admin:tables_terminal_revoke", args=[terminal.pk]))
    assert b"Badge number" not in tablet.get("/sign-in/").content


def test_a_terminals_name_that_is_taken_gets_a_sentence(operator: Client) -> None:
    """Not an error page."""
    terminals.add("Tablet 1", None, by=Staff.objects.get(username="omar"))
    for action in ("enrol_here", "enrol_elsewhere"):
        answer = operator.post(reverse(f"admin:tables_terminal_{action}"), {"name": "tablet 1", "table": ""})
        assert b"There is a terminal tablet 1 already." in answer.content
        assert operator.get("/admin/").status_code == 200


def test_a_terminal_is_bound_to_a_table_and_the_log_says_so(operator: Client) -> None:
    """Which tables could be dealt from which device is part of every dispute."""
    table, by = floor.table(), Staff.objects.get(username="omar")
    terminal = terminals.add("Tablet 1", None, by=by)
    operator.post(page("terminal", terminal.pk), {"table": table.pk})
    assert newest("terminal")["content"]["after"] == {"table": "Rocket 1"}


# --- Who may --------------------------------------------------------------------------------------------------


def everything() -> dict[str, int]:
    """One of each thing that is set up."""
    by = Staff.objects.create_staff("omar", name="Omar", role=Role.OPERATOR)
    table = floor.table()
    terminal = terminals.add("Tablet 1", None, by=by)
    return {
        "table": table.pk,
        "denomination": Denomination.objects.all()[0].pk,
        "staff": by.pk,
        "terminal": terminal.pk,
    }


def test_an_auditor_sees_everything_and_is_offered_no_change(auditor: Client) -> None:
    """Harm: an auditor sees a form that changes the audited data, or the hash of a secret."""
    for model, pk in everything().items():
        text = auditor.get(page(model, pk)).content.decode()
        assert 'name="_save"' not in text
        assert "argon2" not in text
    table = auditor.get(page("table", Table.objects.get().pk)).content.decode()
    for value in ("10", "100", "none", "decks: 1"):
        assert value in table


@pytest.mark.slow("opens every page of the side bar")
def test_the_side_bar_links_only_permitted_pages(operator: Client) -> None:
    """Harm: a link of the side bar leads to a page that its user may not open."""
    context = operator.get("/admin/").context
    links = [item["link"] for group in context["sidebar_navigation"] for item in group["items"]]
    assert len(links) >= 10
    for link in links:
        assert operator.get(str(link)).status_code == 200, link


def test_every_form_of_the_set_up_takes_what_is_right(operator: Client) -> None:
    """Harm: a form that refuses everything, because a field of it has the name of a column that judges it too."""
    floor.table("Rocket 1")
    hook = {"tells": "alerts", "name": "Pit", "means": "webhook", "address": "https://pit.example/alerts"}
    forms: dict[str, dict[str, Any]] = {
        "chipseries": {
            "name": "First", "manufacturer": "Chips & Co", "year": "2026",
            "kinds": [chip.pk for chip in Denomination.objects.all()],
        },
        "housekey": {"name": "Drop 1", "lock": "count_room", "dual": "on", "in_use": "on"},
        "dropschedule": {
            "name": "Early", "from_day": f"{gaming_hours.day_of(timezone.now()) + timedelta(days=1)}",
            "weekdays": ["0", "5"], "due_at": "05:30", "who": "Security and a counter",
        },
        "pitsection": {"pit": "Pit 1", "section": "A", "tables": ["Rocket 1"]},
        "alertchannel": hook | {"is_on": "on", "level": "1", "signed_with": "x" * 40, "kinds": ["large_bet"]},
    }  # fmt: skip
    for again in (False, True):
        for model, typed in forms.items():
            answer = operator.post(page(model), typed)
            if again and model == "chipseries":
                assert list(errors(answer)) == ["name"]
            else:
                assert answer.status_code == 302, (model, errors(answer))
    assert ChipSeries.objects.get().values == sorted((value for value, _, _ in floor.CHIPS), reverse=True)
    assert HouseKey.objects.filter(name="Drop 1").count() == 2


# --- A table without rounds -------------------------------------------------------------------------------------


def wheel_form(**changed: Any) -> dict[str, Any]:
    chips = [chip.pk for chip in Denomination.objects.all()]
    return {
        "name": "Roulette 1", "game": "counted", "seats": "8", "unit": "1", "minimum": "5", "maximum": "200",
        "denominations": chips, "option_called": "Roulette", "option_hold_from_permille": "18",
        "option_hold_to_permille": "26.5",
        "option_wagers": "Straight up; 35 to 1; 2.70 %; 5 to 50\nRed or black; 1 to 1",
    } | changed  # fmt: skip


def test_a_table_without_rounds_is_added_with_its_wagers(operator: Client) -> None:
    """Harm: the operator finds no way to a roulette table, or loses the wagers' limits on the way."""
    address = f"{page('table')}?game=counted"
    text = operator.get(address).content.decode()
    assert 'name="option_called"' in text
    assert 'name="source"' not in text, "nothing is dealt there"
    answer = operator.post(address, wheel_form())
    assert answer.status_code == 302, errors(answer)
    table = Table.objects.get()
    assert (table.game, table.options["called"]) == ("counted", "Roulette")
    assert (table.options["hold_from_permille"], table.options["hold_to_permille"]) == (180, 265)
    assert [wager["name"] for wager in table.options["wagers"]] == ["Straight up", "Red or black"]
    assert table.wager_limits == {"Straight up": [500, 5_000]}
    again = operator.get(page("table", table.pk)).content.decode()
    assert "Straight up; 35 to 1; 2.70 %; 5 to 50\nRed or black; 1 to 1" in again
    wagers = "Straight up; 35 to 1; 2.70 %; 5 to 100"
    assert operator.post(page("table", table.pk), wheel_form(option_wagers=wagers)).status_code == 302
    table.refresh_from_db()
    assert table.wager_limits == {"Straight up": [500, 10_000]}


def test_a_wrong_word_about_a_table_without_rounds_is_named(operator: Client) -> None:
    """Harm: bad input ends in a server error, or nobody is told which line of the wagers is wrong."""
    for name, text, field, sentence in (
        ("option_wagers", "; 35 to 1", "option_wagers", "Line 1: write it as"),
        ("option_wagers", "Split\nCorner; 8 to 1; ; 5", "option_wagers", "Line 2: Write the limits as 5 to 100."),
        ("option_wagers", "Split\nsplit", "__all__", "There are two wagers called split: name each once."),
        ("option_wagers", "Split;;;5 to 2", "__all__", "the lower one first"),
        ("option_hold_to_permille", "", "__all__", "usual hold is from a lower to a higher part of the drop"),
        ("option_called", "", "option_called", "required"),
        ("cap", "500", "cap", "leave the cap empty"),
    ):
        wrong = errors(operator.post(f"{page('table')}?game=counted", wheel_form(**{name: text})))
        assert sentence in " ".join(wrong.get(field, [])), wrong
    assert not Table.objects.exists()


# --- Addresses of rows ------------------------------------------------------------------------------------------

ACTIONS: Final = [
    (model, name)
    for model, pages in admin.site._registry.items()
    for name in getattr(pages, "actions_detail", ())
    if isinstance(pages, SetUp)
]


def test_an_id_that_no_row_has_is_not_found(operator: Client) -> None:
    """Harm: an address with a mistyped id is a server error: an operator sees a fault of the site, and is woken by its
    alert, for a slip of the keyboard."""
    assert len(ACTIONS) >= 11
    addresses = [f"admin:{model._meta.app_label}_{model._meta.model_name}_{name}" for model, name in ACTIONS]
    addresses += ["admin:tables_limitplan_change", "admin:tables_proposal_change"]
    for ident in ("abc", "0", "-1", "1.5", "²", "9" * 30, "9" * 5000):
        answers = {name: operator.get(reverse(name, args=[ident])).status_code for name in addresses}
        assert answers == dict.fromkeys(addresses, 404), ident[:30]


def test_a_number_of_any_length_is_read() -> None:
    """Harm: five thousand digits in the field of a hidden version are a server error in place of a sentence."""
    assert {text: number(text) for text in ("7", "0", "²", "x", "", "9" * 5000)} == {
        "7": 7, "0": 0, "²": 0, "x": 0, "": 0, "9" * 5000: 0,
    }  # fmt: skip
    assert parse_whole("9" * 5000) == MOST_WHOLE
