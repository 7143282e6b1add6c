"""The page where a pay table is made: what it shows is what comes into force, and nothing is saved unseen."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from msgspec import structs, to_builtins

from ledger.models import LogEntry
from tables.admin.pay_tables import previews
from tables.games.catalog import GAMES
from tables.maths import providers
from tables.models import PayTable, Staff
from tables.roles import Role
from tables.setup import pay_tables
from tests import floor
from tests.tables.admin.test_admin import as_shown, page, signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

LINES = {"tie.tie": "9 to 1", "panda_8.panda_8": "26:1"}


@pytest.fixture
def olga() -> Staff:
    return floor.staff(Role.OPERATOR, "olga")


@pytest.fixture
def operator(olga: Staff) -> Client:
    return signed_in(olga)


def address(game: str, **query: Any) -> str:
    arguments = "&".join(f"{name}={value}" for name, value in query.items())
    return f"{reverse('admin:tables_paytable_add')}?game={game}&{arguments}"


def answer_to(client: Client, game: str, *, save: str | None = None, **typed: Any) -> Any:
    """The form as a browser sends it: to be shown, or to be saved with the digest of what was shown."""
    buttons = {"preview": ""} if save is None else {"save": "", "seen": save}
    return client.post(address(game), {"name": "Sides", **typed, **buttons})


def errors(answer: Any) -> dict[str, list[str]]:
    return dict(answer.context["form"].errors)


# --- What is shown ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", pay_tables.games())
def test_the_numbers_shown_are_those_of_a_table_that_pays_so(game: str) -> None:
    """Harm: an operator decides by the numbers of other lines, of another commission, or of another number of decks."""
    form = GAMES[game].pay_form
    lines = {paid.name: {line.name: line.most.spelled for line in paid.lines} for paid in form.wagers}
    table = form.table_of("Most", 1, lines)
    wager_previews = previews(game, table)
    assert [preview.title for preview in wager_previews] == [paid.title for paid in form.wagers]
    for paid, preview in zip(form.wagers, wager_previews, strict=True):
        spread = {} if paid.on else {"spread": (paid.name,)}
        rules = GAMES[game].rules_type(**paid.needs, **spread)
        decks = getattr(rules, "decks", 1)
        [row] = [row for row in preview.rows if row.decks == decks]
        values = providers.provider(game)
        assert values is not None
        of = paid.on or paid.name
        assert row.own == providers.quick(game, structs.replace(rules, pays=table))[of]
        chosen = [getattr(rules, paid.option)] if paid.option else [""]
        place = list(paid.shipped).index(str(chosen[0]))
        assert row.shipped[place] == providers.quick(game, rules)[of]
        assert len(row.shipped) == len(paid.shipped)
        assert row.own.house_edge < min(worth.house_edge for worth in row.shipped)
        assert len(preview.rows) == (8 if "decks" in rules.__struct_fields__ else 1)


def test_wagers_that_a_table_has_not_are_not_shown(operator: Client) -> None:
    """Harm: somebody looks for what a table changes among what it leaves."""
    answer = answer_to(operator, "baccarat", **LINES)
    assert [preview.title for preview in answer.context["previews"]] == ["Tie", "Panda 8"]
    text = answer.content.decode()
    assert "4.8440%" in text  # what a tie at 9 to 1 is worth of eight decks, as published
    assert "14.3596%" in text  # and at 8 to 1, as it ships
    assert not PayTable.objects.exists()


# --- What is saved ---------------------------------------------------------------------------------------------


def test_what_was_shown_is_saved_and_nothing_else(operator: Client) -> None:
    """Harm: the lines are changed between the look and the press, and nobody saw what they are worth."""
    digest = answer_to(operator, "baccarat", **LINES).context["digest"]
    refusal = answer_to(operator, "baccarat", save=digest, **LINES | {"tie.tie": "8:1"})
    assert errors(refusal)["__all__"] == ["These lines were not shown yet: look at what they are worth, then save."]
    assert not PayTable.objects.exists()
    assert errors(answer_to(operator, "baccarat", save="", **LINES)) != {}
    answer = answer_to(operator, "baccarat", save=digest, **LINES)
    row = PayTable.objects.get()
    assert answer.headers["Location"] == page("paytable", row.pk)
    assert (row.game, row.name, row.version, row.sha256) == ("baccarat", "Sides", 1, digest)
    assert row.wagers == {"tie": {"tie": "9:1"}, "panda_8": {"panda_8": "26:1"}}
    assert LogEntry.objects.filter(subject="pay_table").count() == 1


def test_a_wager_on_which_the_house_loses_takes_one_more_word(operator: Client) -> None:
    """Harm: a tie at 11 to 1 is one key away from one at 10 to 1, and the house pays for it for a month."""
    lines = {"tie.tie": "11:1"}
    digest = answer_to(operator, "baccarat", **lines).context["digest"]
    answer = answer_to(operator, "baccarat", save=digest, **lines)
    assert [*errors(answer)] == ["confirmed"]
    assert not PayTable.objects.exists()
    assert answer_to(operator, "baccarat", save=digest, confirmed="on", **lines).status_code == 302
    assert PayTable.objects.get().wagers == {"tie": {"tie": "11:1"}}


def test_each_sentence_stands_at_its_line(operator: Client) -> None:
    """Harm: of eight lines one is wrong, and nobody says which."""
    lines = {"ante_bonus.straight": "4:1", "ante_bonus.three_of_a_kind": "four", "pair_plus.pair": ""}
    assert errors(answer_to(operator, "three_card_poker", **lines, name="")) == {
        "name": ["This field is required."],
        "ante_bonus.straight": ["Ante bonus, straight: pays 1:1 to 3:1, or 0:1, not 4:1."],
        "ante_bonus.three_of_a_kind": ["Odds are written as 9:1 or 3:2, not 'four'."],
        "ante_bonus.straight_flush": ["Odds are missing: a table has all lines of a wager, or none."],
    }
    assert errors(answer_to(operator, "casino_war"))["__all__"] == ["Fill in the lines of a wager at least."]


def test_another_version_begins_with_the_lines_of_the_last(operator: Client, olga: Staff) -> None:
    """Harm: one line is to change, and another is typed anew wrongly."""
    row = pay_tables.make("baccarat", "Sides", {"tie": {"tie": "17:2"}}, by=olga)
    move = operator.get(reverse("admin:tables_paytable_new_version", args=[row.pk]))
    form = operator.get(move.headers["Location"]).context["form"]
    assert (form["name"].value(), form["tie.tie"].value(), form["dragon_7.dragon_7"].value()) == ("Sides", "17:2", None)
    for junk in ("9" * 30, "x", "-1", ""):
        assert operator.get(address("baccarat", **{"from": junk})).status_code == 200


# --- A table that pays by it -----------------------------------------------------------------------------------


def test_a_table_is_set_to_a_pay_table_by_name_and_version(operator: Client, olga: Staff) -> None:
    """Harm: the form names one pay table and the entry has the lines of another; or saving an unchanged form makes an
    entry."""
    pay_tables.make("baccarat", "Sides", {"tie": {"tie": "17:2"}}, by=olga)
    row = pay_tables.make("baccarat", "Sides", {"tie": {"tie": "9:1"}}, by=olga)
    foreign = pay_tables.make("casino_war", "Tie", {"tie": {"tie": "11:1"}}, by=olga)
    table = floor.table("Table 1", game="baccarat", options={"decks": 8}, seats=3)
    form = as_shown(operator, page("table", table.pk))
    refusal = operator.post(page("table", table.pk), form | {"option_pays": foreign.pk})
    assert [*refusal.context["adminform"].form.errors] == ["option_pays"]
    assert operator.post(page("table", table.pk), form | {"option_pays": row.pk}).status_code == 302
    table.refresh_from_db()
    assert table.options["pays"] == to_builtins(pay_tables.read(row))
    text = operator.get(page("table", table.pk)).content.decode()
    assert "Sides version 2" in text
    assert "Tie: 9 to 1" in text
    entry_count = LogEntry.objects.filter(book=table.book, subject="table").count()
    form = as_shown(operator, page("table", table.pk))
    operator.post(page("table", table.pk), form)
    assert LogEntry.objects.filter(book=table.book, subject="table").count() == entry_count, "nothing was changed"
    assert operator.post(page("table", table.pk), form | {"option_pays": ""}).status_code == 302
    table.refresh_from_db()
    assert "pays" not in table.options
