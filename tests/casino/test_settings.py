"""Secure unless told otherwise: what the settings are when nobody set anything."""

import os
import re
import subprocess
import sys

import pytest

from casino import settings
from casino.embedded.servers import BASE_DIR
from tests.floor import hashed

PROBE = "from casino import settings as s; print([getattr(s, name) for name in {names!r}.split()])"


def read(names: str, **environment: str) -> str:
    probe = subprocess.run(
        [sys.executable, "-c", PROBE.format(names=names)],
        env={"PATH": os.environ["PATH"], **environment},
        cwd=BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )
    return probe.stdout.strip() or probe.stderr.strip().splitlines()[-1]


def test_nothing_set_is_production() -> None:
    names = "DEBUG SECRET_KEY ALLOWED_HOSTS SESSION_COOKIE_SECURE CSRF_COOKIE_SECURE SECURE_SSL_REDIRECT SET_IN_VAIN"
    assert read(f"{names} SECURE_HSTS_SECONDS") == "[False, '', [], True, True, True, [], 31536000]"


def test_the_demo_speaks_http_to_this_machine_and_still_does_not_debug() -> None:
    assert read("DEBUG TLS ALLOWED_HOSTS", CASINO_ENV="demo") == "[False, False, ['localhost', '127.0.0.1', '[::1]']]"


def test_an_unknown_house_is_refused() -> None:
    assert "it may be demo or production" in read("DEBUG", CASINO_ENV="prodution")


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("TLS", "yess", "yes, true, on, 1, or no, false, off, 0"),
        ("EMAIL_USE_TLS", "enabled", "yes, true, on, 1, or no, false, off, 0"),
        ("DEALING_WITHOUT_TERMINAL", "nein", "yes, true, on, 1, or no, false, off, 0"),
        ("CASINO_DB_ROLE", "Owner", "app or owner"),
        ("CASINO_ROLE", "headoffice", "house or head_office"),
        ("LOG_FORMAT", "JSON", "text or json"),
        ("LOG_LEVEL", "verbose", "DEBUG, INFO, WARNING, ERROR or CRITICAL"),
        ("WEB_PROCESSES", "0", "a whole number, 1 or more"),
        ("LOCKOUT_FAILURES_ADDRESS", "-1", "a whole number, 1 or more"),
        ("STAFF_IDLE_SECONDS", "15m", "a whole number, 1 or more"),
        ("DEALERS_LOCK_MS", "2s", "a whole number, 0 or more"),
        ("API_REQUESTS_A_MINUTE", "9" * 5_000, "a whole number, 1 or more"),
        ("TIME_ZONE", "Europe/Berlni", "the name of a time zone, such as UTC or Europe/Berlin"),
        ("TIME_ZONE", "Europe", "the name of a time zone, such as UTC or Europe/Berlin"),
        ("TIME_ZONE", "../etc/passwd", "the name of a time zone, such as UTC or Europe/Berlin"),
        ("CLOCK_DRIFT_SECONDS", "nan", "a number from 1 to 60"),
        ("READING_SECONDS", "ten", "a number from 0 to 1e+06"),
    ],
)
def test_a_value_that_cannot_be_read_is_refused(name: str, value: str, expected: str) -> None:
    """Harm: a misspelled TLS=yess is read as no, and passwords go over the network unencrypted."""
    assert read("DEBUG", **{name: value}).endswith(f"ImproperlyConfigured: {name} is {value!r}: it may be {expected}")


@pytest.mark.parametrize(("value", "tls"), [("", True), (" ", True), ("YES", True), ("on", True), ("Off", False)])
def test_a_switch_is_read_in_any_spelling_and_unset_when_empty(value: str, tls: bool) -> None:
    """Harm: a site with TLS= in its environment, set to nothing, sends cookies unencrypted."""
    assert read("TLS", TLS=value) == f"[{tls}]"


@pytest.mark.parametrize("secret", ["$ecret", r"\$ecret", r"a\$b$", "$", "$$DEBUG"])
def test_a_secret_with_a_dollar_is_read_as_written(secret: str) -> None:
    """Harm: a password that begins with a dollar is taken for the name of a variable, and no alert leaves the site."""
    assert read("EMAIL_HOST_PASSWORD DEBUG", EMAIL_HOST_PASSWORD=secret) == str([secret, False])


def test_an_empty_variable_counts_as_unset() -> None:
    """Harm: HOUSE_ADDRESS= in the environment, set to nothing, and doctor checks the certificate of no host."""
    empty = {"HOUSE_ADDRESS": "", "EMAIL_PORT": " ", "DATABASE_OWNER_URL": "", "LOG_FORMAT": "", "CLOCK_JUMP_HOURS": ""}
    names = "HOUSE_ADDRESS EMAIL_PORT DATABASE_OWNER_URL LOG_FORMAT CLOCK_JUMP"
    assert read(names, **empty) == read(names) != ""


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({}, "SECRET_KEY"),
        ({"SECRET_KEY": "x" * 50, "PEPPER_FILE": ""}, "PEPPER_FILE is not set"),
        ({"SECRET_KEY": "x" * 50, "PEPPER_FILE": "/nowhere/pepper"}, "PEPPER_FILE.*No such file"),
    ],
)
def test_without_a_secret_key_or_a_pepper_the_web_does_not_start(environment: dict[str, str], message: str) -> None:
    """Harm: sessions can be forged, or the stored hashes of four-digit PINs can be guessed by trying every PIN."""
    started = subprocess.run(
        [sys.executable, "-c", "import casino.asgi"],
        env={"PATH": os.environ["PATH"], **environment},
        cwd=BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )
    assert started.returncode != 0
    assert re.search(message, started.stderr.splitlines()[-1])


def test_what_is_set_in_vain_is_named() -> None:
    """Harm: after an upgrade the operator believes that limits hold which the environment alone still has."""
    in_vain = read("SET_IN_VAIN", CERTIFICATE_GAMES="rocket", PIN_DIGITS_MIN="8")
    assert in_vain == "[['CERTIFICATE_GAMES', 'PIN_DIGITS_MIN']]"


@pytest.mark.parametrize(("url", "is_set"), [("postgresql://casino_letters@h/letter_box", True), ("", False)])
def test_a_letter_box_of_an_earlier_release_is_noticed(url: str, is_set: bool) -> None:
    """Harm: after the upgrade the operator believes that days still go to the letter box."""
    assert read("LETTER_BOX_IS_SET", LETTER_BOX_URL=url) == f"[{is_set}]"


@pytest.mark.parametrize(
    ("redis", "broker"),
    [
        ("redis://host:6379/1", "redis://host:6379/1"),
        ("unix:///a/b.sock?db=2", "redis+socket:///a/b.sock?virtual_host=2"),
        ("unix:///a/b.sock", "redis+socket:///a/b.sock?virtual_host=0"),
    ],
)
def test_the_brokers_address(redis: str, broker: str) -> None:
    assert settings.broker(redis) == broker


HOSTS = "postgresql://app:p%40ss@h1:5432,h2:5433/casino?target_session_attrs=read-write&connect_timeout=3"


@pytest.mark.parametrize("role", ["", "owner"])
def test_a_database_with_a_standby_is_named_by_both_hosts(role: str) -> None:
    """Harm: a site cannot follow its database to the standby, or connects as the owner without being configured to."""
    urls = {"DATABASE_URL": HOSTS, "DATABASE_OWNER_URL": HOSTS.replace("app", "owner")}
    databases = read("DATABASES", CASINO_DB_ROLE=role, **urls)
    for part in ("'HOST': 'h1,h2'", "'PORT': '5432,5433'", "'PASSWORD': 'p@ss'", "'NAME': 'casino'",
                 f"'USER': '{role or 'app'}'", "'target_session_attrs': 'read-write'"):  # fmt: skip
        assert part in databases


@pytest.mark.parametrize(
    ("url", "host", "port"),
    [
        ("postgresql:///casino?host=/run/pg&user=app", "/run/pg", ""),
        ("postgresql://app@%2Frun%2Fpg/casino", "/run/pg", ""),
        ("host=/run/pg dbname=casino user=app", "/run/pg", ""),
        ("postgresql://app@h1,h2:5433/casino", "h1,h2", ",5433"),
    ],
)
def test_every_form_of_address_that_postgresql_reads_is_accepted(url: str, host: str, port: str) -> None:
    """Harm: after an upgrade a site whose address names a socket, or one port among several hosts, does not start."""
    databases = read("DATABASES", DATABASE_URL=url)
    for part in (f"'HOST': '{host}'", f"'PORT': '{port}'", "'NAME': 'casino'", "'USER': 'app'"):
        assert part in databases


@pytest.mark.parametrize("url", ["postgresql://app:hunter2@h:port:port/d?x", "mysql://app:hunter2@h/d", "hunter2"])
def test_an_address_that_cannot_be_read_is_refused_without_its_password(url: str) -> None:
    refused = read("DATABASES", DATABASE_URL=url)
    assert "DATABASE_URL is no address of a database: write postgresql://" in refused
    assert "hunter2" not in refused


def test_argon2_comes_first_and_passwords_are_long() -> None:
    assert settings.PASSWORD_HASHERS[0] == "tables.staff.secret_hashes.Argon2"
    assert hashed("a password").startswith("argon2$argon2id$")
    assert {"min_length": 12} in [validator.get("OPTIONS") for validator in settings.AUTH_PASSWORD_VALIDATORS]
