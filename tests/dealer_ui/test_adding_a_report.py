"""The report of docs/adding-a-report.md, as its page shows it."""

from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.template.loader import render_to_string
from django.test import RequestFactory
from django.utils import timezone

import casino.urls
from casino.embedded.servers import BASE_DIR
from dealer_ui.exports import addresses
from tables.models import Staff, Table
from tables.roles import Role
from tests import floor, load
from tests.dealer_ui.example_report import RETIRED, read_since

pytestmark = pytest.mark.django_db
urlpatterns = [*casino.urls.urlpatterns, *addresses("retired", "retired", RETIRED, read_since)]


@pytest.fixture
def table() -> Table:
    table = floor.table("Rocket <1>")
    Table.objects.filter(pk=table.pk).update(retired_at=timezone.now())
    return Table.objects.get(pk=table.pk)


def download(rf: RequestFactory, viewer: Staff, **query: str) -> Any:
    *_, file = urlpatterns
    request = rf.get("/", query)
    request.user = viewer
    return file.callback(request)


def test_the_page_shows_what_is_tested() -> None:
    """Harm: the page explains a record of a report that has changed, and its reader gets nowhere."""
    example = Path(__file__).with_name("example_report.py").read_text().rstrip()
    assert example in (BASE_DIR / "docs" / "adding-a-report.md").read_text()


def test_a_report_has_its_file_its_filter_and_its_permission(rf: RequestFactory, table: Table) -> None:
    """Harm: a report by the page has a file with other columns, ignores a bad filter, or opens to every role."""
    boss = floor.staff(Role.PIT_BOSS, "bella")
    answer = download(rf, boss, since="2026-01-31")
    lines = load.whole(answer).decode("utf-8-sig").splitlines()
    assert lines[0] == "table,game,seats,most_cents,retired_at"
    assert lines[1].startswith(f"Rocket <1>,rocket,{table.seats},{table.seats * table.max_cents},")
    refused = download(rf, boss, since="last week")
    assert (refused.status_code, refused.content) == (422, b"Write the day as 2026-01-31.")
    with pytest.raises(PermissionDenied):
        download(rf, floor.staff(Role.CASHIER, "carl"))


def test_a_report_has_the_table_of_its_page(table: Table) -> None:
    """Harm: a page shows columns in another order than their headings, or runs a name as markup."""
    text = render_to_string("dealer_ui/_report.html", {"table": RETIRED.table(Table.objects.all())})
    assert text.count('<th scope="col"') == 4
    assert f'<a class="row-link" href="/pit/tables/{table.pk}/">Rocket &lt;1&gt;</a>' in text
    assert f'<td class="is-number">{table.seats}</td><td><time datetime="' in text


@pytest.mark.urls(__name__)
def test_a_report_has_a_page_with_its_files_and_its_refusals(table: Table) -> None:
    """Harm: a page links to a file without the filter that it shows, or hides why its list is empty."""
    client = floor.client(floor.staff(Role.PIT_BOSS, "bella"))
    page = client.get("/retired/?since=2026-01-31").content.decode()
    assert "Rocket &lt;1&gt;" in page
    assert '"/retired.csv?since=2026-01-31"' in page
    assert '"/retired.csv?since=2026-01-31&amp;as=xlsx"' in page
    refused = client.get("/retired/?since=last+week")
    assert (refused.status_code, 'data-code="bad_day"' in refused.content.decode()) == (422, True)
    assert "The list is empty." in refused.content.decode()
    assert floor.client(floor.staff(Role.CASHIER, "carl")).get("/retired/").status_code == 403
