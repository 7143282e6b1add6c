"""NOTICE names the licence of every package and file that others wrote."""

import pytest

from casino.embedded.servers import BASE_DIR
from tests import notice

TEXT = (BASE_DIR / notice.NOTICE).read_text()


@pytest.fixture(autouse=True)
def _in_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(BASE_DIR)


def test_the_notice_names_every_licence() -> None:
    """Harm: a casino passes on an image without the licence of a library that demands it, because nothing named it."""
    assert list(notice.problems(TEXT)) == [], "python -m tests.notice --write"
    assert "psycopg                                      LGPL-3.0-only" in TEXT


@pytest.mark.parametrize(
    ("without", "says"),
    [
        ("psycopg-pool ", "NOTICE does not say that psycopg-pool is under LGPL-3.0-only."),
        ("patroni ", "The licence of patroni is unknown: install it, or enter it in NOTICE."),
        (
            "dealer_ui/static/dealer_ui/archivo.woff2",
            "NOTICE does not say that dealer_ui/static/dealer_ui/archivo.woff2",
        ),
    ],
)
def test_a_licence_that_is_missing_is_named(without: str, says: str) -> None:
    """Harm: a dependency is added, and NOTICE is believed to be complete."""
    kept = "".join(line for line in TEXT.splitlines(keepends=True) if not line.startswith(without))
    [problem] = notice.problems(kept)
    assert problem.startswith(says)


def test_a_changed_licence_and_a_former_package_are_named() -> None:
    """Harm: a library changes to a licence that forbids commercial use, and an upgrade takes it over unseen."""
    changed = TEXT.replace(
        "\ndjango                                       BSD-3-Clause\n", "\ndjango SSPL-1.0\ngone MIT\n"
    )
    assert list(notice.problems(changed)) == [
        "NOTICE does not say that django is under BSD-3-Clause.", "NOTICE names gone, which is not required any more.",
    ]  # fmt: skip


def test_code_of_others_is_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a minified library or a font is copied into the static files, and its author is named nowhere."""
    monkeypatch.setattr(notice, "vendored", dict)
    unnamed = [problem.split(" ")[0] for problem in notice.problems(TEXT)]
    assert {path.rpartition("/")[2] for path in unnamed} == {"htmx.min.js", "sse.js", "archivo.woff2"}
