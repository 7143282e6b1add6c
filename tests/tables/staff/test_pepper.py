"""A stolen database tells nobody's PIN: its hashes open with keys that are kept elsewhere, and that can be changed."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.auth.hashers import check_password
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from tables import pepper
from tables.models import Staff
from tables.roles import Role
from tests import floor

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def keys(tmp_path: Path, settings: Any) -> Path:
    """A file of keys for this test alone."""
    settings.PEPPER_FILE = str(tmp_path / "pepper")
    pepper.add_key()
    return tmp_path / "pepper"


@pytest.fixture
def dora() -> Staff:
    return floor.staff(Role.DEALER, "dora", "101")


def run(*options: str) -> None:
    call_command("pepper", *options, verbosity=0, stdout=io.StringIO())


def everything() -> str:
    """The whole database, as a thief has it."""
    rows = []
    with connection.cursor() as cursor:
        for model in apps.get_models():
            cursor.execute(f'SELECT json_agg(kept) FROM "{model._meta.db_table}" AS kept')
            rows.append(json.dumps(cursor.fetchone()[0]))
    return "\n".join(rows)


def test_a_stolen_database_and_everything_else_but_the_pepper_tells_no_pin(dora: Staff, keys: Path) -> None:
    """The attack: ten thousand PINs, each tried against the stolen hash. Here the thief even knows which is right."""
    Client().force_login(dora, backend="django.contrib.auth.backends.ModelBackend")
    stolen = everything()
    assert "dora" in stolen
    for hasher in settings.PASSWORD_HASHERS:
        name = hasher.rsplit(".")[-1].removesuffix("PasswordHasher").lower()
        assert name not in stolen
    for column in ("pin", "password"):
        assert not check_password(floor.PIN, getattr(dora, column))
    keys.unlink()
    pepper._known.clear()
    pepper.add_key()  # one of the thief's own
    thief = Staff.objects.get(username="dora")
    assert not thief.check_pin(floor.PIN)
    assert not thief.check_password(floor.PASSWORD)


def test_a_hash_opens_nothing_in_another_row_or_column(dora: Staff) -> None:
    """Whoever may write to the database puts their own PIN in a pit boss's place."""
    bella = floor.staff(Role.PIT_BOSS, "bella", "201")
    dora.set_pin("7391")
    bella.pin = dora.pin
    assert not bella.check_pin("7391")
    dora.password = dora.pin
    assert not dora.check_password("7391")


def test_a_new_pepper_signs_nobody_out_and_needs_nobodys_pin(dora: Staff, keys: Path) -> None:
    """Keys are changed in the middle of a shift."""
    screen = Client()
    screen.force_login(dora, backend="django.contrib.auth.backends.ModelBackend")
    before = dora.pin
    run("--rotate")
    dora.refresh_from_db()
    assert dora.pin != before
    assert dora.check_pin(floor.PIN)
    assert dora.check_password(floor.PASSWORD)
    assert screen.get("/password/").status_code == 200
    run("--check")
    new, _ = keys.read_text().splitlines()
    keys.write_text(new)
    assert Staff.objects.get(username="dora").check_pin(floor.PIN)
    assert not check_password(floor.PIN, before)
    assert not Staff(username="dora", pin=before).check_pin(floor.PIN)


def test_a_house_from_before_there_was_a_pepper_is_carried_over(dora: Staff) -> None:
    """Nobody is locked out by the upgrade, and no bare hash is forgotten."""
    Staff.objects.update(pin=floor.hashed(floor.PIN), password=floor.hashed(floor.PASSWORD))
    with pytest.raises(CommandError, match="the password of dora, the pin of dora"):
        run("--check")
    screen = Client()
    screen.force_login(Staff.objects.get(), backend="django.contrib.auth.backends.ModelBackend")
    run()
    run("--check")
    assert screen.get("/password/").status_code == 200
    assert Staff.objects.get().check_pin(floor.PIN)
    assert Staff.objects.get().check_password(floor.PASSWORD)


def test_a_bare_hash_is_sealed_at_the_next_success_and_by_no_failure(dora: Staff) -> None:
    """Also where nobody runs the command."""
    Staff.objects.update(pin=floor.hashed(floor.PIN))
    assert not Staff.objects.get().check_pin("9999")
    assert not pepper.is_sealed(Staff.objects.get().pin)
    assert Staff.objects.get().check_pin(floor.PIN)
    assert pepper.is_sealed(Staff.objects.get().pin)
    assert Staff.objects.get().check_pin(floor.PIN)


def test_sealing_anew_does_not_bring_back_a_pin_that_was_changed_meanwhile(dora: Staff) -> None:
    """Two at once: somebody signs with an old PIN while it is taken from them."""
    Staff.objects.update(pin=floor.hashed(floor.PIN))
    signing = Staff.objects.get()
    changed = Staff.objects.get()
    changed.set_pin("8642")
    changed.save()
    signing.reseal("pin")
    assert Staff.objects.get().check_pin("8642")


def test_a_key_that_is_missing_stops_the_command_before_it_changes_anything(dora: Staff, keys: Path) -> None:
    """Else a rotation with the wrong file would lock everybody out for good."""
    key_text = keys.read_text()
    pepper.add_key()
    keys.write_text(keys.read_text().splitlines()[0])
    with pytest.raises(CommandError, match=r"Nothing was changed: the password of dora .*Put the old key"):
        run("--rotate")
    assert len(keys.read_text().splitlines()) == 1
    keys.unlink()
    with pytest.raises(CommandError, match="put the file back"):
        run()
    assert not keys.exists()
    keys.write_text(key_text)
    assert Staff.objects.get().check_pin(floor.PIN)


def test_a_running_house_outlives_its_file(dora: Staff, keys: Path) -> None:
    """A secret that a volume loses, or that is half typed, must not stop tables that are dealing."""
    assert dora.check_pin(floor.PIN)
    keys.write_text("half a k")
    assert dora.check_pin(floor.PIN)
    keys.unlink()
    assert dora.check_pin(floor.PIN)
    pepper._known.clear()
    with pytest.raises(ImproperlyConfigured, match="has no keys that can be read"):
        dora.check_pin(floor.PIN)


def test_the_deployment_check_names_what_is_wrong_with_the_file(keys: Path, settings: Any) -> None:
    """Before the first person who cannot sign in does."""
    assert pepper.check() == []
    keys.chmod(0o644)
    assert "chmod 600" in pepper.check()[0].msg
    settings.PEPPER_FILE = ""
    assert "PEPPER_FILE is not set" in pepper.check()[0].msg
