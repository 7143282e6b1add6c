"""Lists and bundles as files over the API: the screens' own, by the same permission and within the same limits."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from django.test import Client
from django.utils import timezone
from openpyxl import load_workbook

from tables.audit import downloads, jobs
from tables.log import role_choices
from tables.models import ServiceAccount
from tables.reports import gaming_hours
from tables.roles import Role
from tables.setup import policies, service_accounts
from tables.setup.service_accounts import Access
from tables.staff import service_tokens
from tests import floor, load
from tests.api.conftest import Caller, Floor, problem
from tests.terms import read_again

pytestmark = pytest.mark.django_db


def rows(answer: Any) -> list[list[str]]:
    return list(csv.reader(io.StringIO(load.whole(answer).decode("utf-8-sig"))))


def dealt(house: Floor) -> None:
    house.dealer.bets(seat1=2_000)
    house.dealer.cards(8, 10, 8)
    house.dealer.pay()


def test_a_list_is_the_same_file_over_the_api_as_on_the_screen(house: Floor) -> None:
    """Harm: two files of the same table say two things, and an auditor has to ask which one counts."""
    dealt(house)
    caller, pk = house.as_(house.auditor), house.table.pk
    for name in ("rounds", "log"):
        ours = caller.get(f"tables/{pk}/{name}/file/", accept="text/csv")
        assert ours["Content-Type"] == "text/csv; charset=utf-8"
        theirs = floor.client(house.auditor).get(f"/pit/tables/{pk}/{name}.csv")
        assert ours["Content-Disposition"] == theirs["Content-Disposition"]
        assert rows(ours) == rows(theirs)
    book = caller.get(f"tables/{pk}/log/file/?form=xlsx&subject=round")
    assert load.whole(book).startswith(b"PK")
    problem(caller.get(f"tables/{pk}/log/file/?subject=nothing"), 400, "bad_input")


def test_a_file_takes_whoever_may_take_lists_out(house: Floor) -> None:
    """Harm: what a role may not take out on a page leaves by the API."""
    address = f"tables/{house.table.pk}/rounds/file/"
    problem(house.as_(house.dealer.by).get(address), 403, "not_permitted")
    [choice] = [choice for choice in role_choices.CHOICES if (choice.role, choice.permission) == PIT_BOSS_LISTS]
    policies.change({role_choices.PERMISSIONS_TERM: (choice.word,)}, by=house.operator)
    read_again()
    problem(house.as_(house.boss.by).get(address), 403, "permission_denied")


PIT_BOSS_LISTS: Final = (Role.PIT_BOSS, "tables.export_lists")


def test_downloads_of_both_doors_are_counted_together(house: Floor) -> None:
    """Harm: somebody holds all of a process by files that they read slowly, some by a page and some by the API."""
    caller, address = house.as_(house.auditor), f"tables/{house.table.pk}/rounds/file/"
    api_download = caller.get(address)
    page_download = floor.client(house.auditor).get(f"/pit/tables/{house.table.pk}/rounds.csv")
    refused = caller.get(address)
    assert problem(refused, 429, "downloads_under_way")["retry_after"] == downloads.WAIT
    assert refused["Retry-After"] == str(downloads.WAIT)
    load.whole(api_download)
    assert caller.get(address).status_code == 200
    load.whole(page_download)


def test_a_bundle_is_taken_whole_and_who_took_it_is_noted(house: Floor, settings: Any, tmp_path: Path) -> None:
    """Harm: a day's evidence leaves the house, and nobody can say by whom."""
    settings.AUDIT_FOLDER = str(tmp_path)
    day = gaming_hours.day_of(timezone.now()) - timedelta(days=1)
    problem(house.as_(house.auditor).get(f"days/{day}/bundle/"), 404, "no_bundle")
    jobs.bundle_of(day).write_bytes(b"a bundle" * 50_000)
    answer = house.as_(house.auditor).get(f"days/{day}/bundle/")
    assert (answer["Content-Type"], load.whole(answer)) == ("application/zip", b"a bundle" * 50_000)
    [taking] = jobs.takings(5)
    assert (taking.day, taking.by) == (str(day), house.auditor.signature)
    problem(house.as_(house.boss.by).get(f"days/{day}/bundle/"), 403, "not_permitted")


def program(house: Floor, *scopes: str) -> Caller:
    """An API client with these scopes at all tables, and its token."""
    access = Access(purpose="Archives", scopes=scopes, expires=timezone.now() + timedelta(days=1))
    account = service_accounts.set_account("Archive", access, by=house.operator)
    token = service_tokens.make(account, by=house.operator)
    return Caller(Client(headers={"Authorization": f"Bearer {token}"}), house.table)


def test_an_api_client_takes_out_what_its_scope_offers(house: Floor, settings: Any, tmp_path: Path) -> None:
    """Harm: an operator gives an API client a scope that opens nothing; or a bundle leaves the site and the list of
    takings does not name the API client."""
    settings.AUDIT_FOLDER = str(tmp_path)
    dealt(house)
    archive, auditor = program(house, "read:exports"), house.as_(house.auditor)
    for name in ("rounds", "log"):
        address = f"tables/{house.table.pk}/{name}/file/"
        assert rows(archive.get(address)) == rows(auditor.get(address))
    day = gaming_hours.day_of(timezone.now()) - timedelta(days=1)
    jobs.bundle_of(day).write_bytes(b"a bundle")
    assert load.whole(archive.get(f"days/{day}/bundle/")) == b"a bundle"
    assert [taking.by for taking in jobs.takings(5)] == ["program Archive"]
    assert archive.get("exports/").json() == {"items": [], "next": None}
    book = load_workbook(io.BytesIO(load.whole(archive.get(f"tables/{house.table.pk}/rounds/file/?form=xlsx"))))
    assert ("Taken out by", "program Archive") in list(book[book.sheetnames[-1]].iter_rows(values_only=True))


def test_an_api_client_without_the_scope_takes_out_nothing(house: Floor) -> None:
    """Harm: a display of boards takes the whole log of a table out of the site."""
    display = program(house, "read:board", "read:rounds", "read:events")
    for path in (f"tables/{house.table.pk}/rounds/file/", f"tables/{house.table.pk}/log/file/", "exports/"):
        problem(display.get(path), 403, "no_scope")
    problem(display.get("days/2026-01-31/bundle/"), 403, "no_scope")


def test_downloads_of_an_api_client_are_limited_and_counted_apart(house: Floor) -> None:
    """Harm: an API client holds all downloads of a process; or it uses up those of the employee whose row has the same
    number."""
    moment = timezone.now()
    ServiceAccount.objects.create(pk=house.auditor.pk, name="Archive", expires_at=moment, at=moment)
    archive, address = program(house, "read:exports"), f"tables/{house.table.pk}/rounds/file/"
    under_way = [archive.get(address) for _ in range(downloads.A_PERSON)]
    problem(archive.get(address), 429, "downloads_under_way")
    assert house.as_(house.auditor).get(address).status_code == 200
    for answer in under_way:
        load.whole(answer)
