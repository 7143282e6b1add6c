"""Data are carried over: whatever a house wrote at a release is proved by every later one (docs/data-carried-over.md).

Each kept house is put back as its release wrote it and migrated to the present; then the commands that a real house has
are asked, in processes of their own.
"""

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from zipfile import ZipFile

import psycopg
import pytest

from casino.embedded.servers import OWNER, SUPERUSER, ServerSet
from ledger.findings import JOURNALS
from ledger.proof import seals
from tests.carried import day, kept
from tests.carried.kept import HOUSES, Carried
from tests.clock import Clock
from tests.tiers import Tier, belongs_to

KEPT = sorted(HOUSES.glob("*.jsonl.gz"))


BETWEEN = pytest.mark.trial("a saved site between the oldest and the newest")


@pytest.fixture(
    scope="module",
    params=[KEPT[0], *(pytest.param(path, marks=BETWEEN) for path in KEPT[1:-1]), KEPT[-1]],
    ids=lambda path: path.name.removesuffix(".jsonl.gz"),
)
@belongs_to(Tier.TEST)
def house(
    request: pytest.FixtureRequest, database_server: ServerSet, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Carried]:
    """A house that was kept, at the present schema."""
    with kept.put_back(request.param, tmp_path_factory.mktemp("carried")) as carried:
        yield carried


def proved_lines(answer: str) -> list[str]:
    """What ``verify`` proved; which terminals' first keys are to be held against paper, it only notes."""
    return [line for line in answer.splitlines() if not line.startswith("note  ")]


def _trees(house: Carried) -> int:
    """How many trees its witnesses saw grow; none before there were witnesses."""
    return list(_kinds(house.kept)).count((True, "checkpoint", "begun"))


@pytest.mark.timeout(900)  # with the setup of the saved site and a whole proof
def test_every_log_of_an_old_site_is_verified_and_continues(house: Carried) -> None:
    """Harm: after an upgrade, an old site can no longer prove its payouts, opens a variance for each past chip, or
    cannot sign people in, open a table, begin a slip or seal the day."""
    with house.copy() as copied:
        copied.output("-m", "tests.carried.going_on")
        with psycopg.connect(copied.url(OWNER)) as database:
            books = database.execute("SELECT name, head_seq FROM ledger_book").fetchall()
            [[transfers]] = database.execute("SELECT count(*) FROM ledger_transfer").fetchall()
        *proofs, rows = proved_lines(copied.tell("verify"))
    trees = [line for line in proofs if line.startswith("holds  the tree ")]
    assert len(trees) == _trees(house)
    sentences = [line for line in proofs if line not in trees]
    assert len(sentences) == len(books) > 20
    for name, entries in books:
        assert any(line.startswith(f"holds  {name}: {entries:,} entries re-hashed") for line in sentences), name
    assert rows.startswith("holds, beside the log: ")
    proved = sum(int(line.rsplit(", ", 1)[1].split()[0].replace(",", "")) for line in sentences)
    assert proved == transfers


def test_every_row_of_an_old_house_is_there_byte_for_byte(house: Carried) -> None:
    """Harm: a migration that loses or rewrites what was written once: it would be hashed, and still be wrong."""
    with psycopg.connect(house.url(OWNER)) as database:
        copy = kept.take(database, house.folder, house.kept.header["days"])
    for table in ("ledger_logentry", "ledger_transfer", "ledger_dayroot", "ledger_bookroot", "tables_houseshoe"):
        dropped_columns = GONE.get(table, set()) - set(copy.tables[table][0])
        columns = [name for name in house.kept.tables[table][0] if name not in dropped_columns]
        rows = {_picked(row, columns) for row in copy.rows(table)}
        before = {_picked(row, columns) for row in house.kept.rows(table)}
        assert before <= rows, table
        added = [dict(row) for row in rows - before]
        assert all(row["subject"] == "rows" and row["kind"] == "taken_over" for row in added)
        assert len(added) == (_taken_over(house) if table == "ledger_logentry" else 0)


GONE = {"ledger_logentry": {"id", "prev_seq", "prev_hash"}}
"""Columns that repeated what other rows had: nothing was hashed with them."""


def _picked(row: Mapping[str, kept.Value], columns: Iterable[str]) -> frozenset[tuple[str, str]]:
    return frozenset((name, str(row[name])) for name in columns)


def _taken_over(house: Carried) -> int:
    """How many entries an upgrade adds to the book of a house in which not every row was an entry yet."""
    if str(house.kept.header["migrations"]["tables"]) >= "0013":
        return 0
    journals = [journal for journal in JOURNALS if journal.table in house.kept.tables]
    return MUTABLE + sum(any(house.kept.rows(journal.table)) for journal in journals)


MUTABLE = 6
"""Staff, emergency codes, terminals, tables, chips and the pages of seats: each has an entry, whatever there is."""


def test_rows_of_an_old_house_are_held_from_the_upgrade_on(house: Carried) -> None:
    """Harm: whoever upgrades a house has no proof of what is beside the log until everybody was entered anew."""
    changes = {
        "UPDATE tables_staff SET role = 'operator', pin = password WHERE username = 'dora'": "staff dora: the log says",
        "UPDATE tables_denomination SET face = '#000000' WHERE value_cents = 100": "chip 100 cents: the log says face",
        "UPDATE tables_terminal SET is_active = NOT is_active WHERE name = 'Tablet'": "terminal Tablet: the log says",
        "UPDATE tables_table SET min_cents = 1 WHERE name = 'Rocket 1'": "table Rocket 1: the log says min_cents 1000",
        "DELETE FROM tables_emergencycode": "emergency code of omar: the log has it, and there is no row",
        "UPDATE ledger_alert SET message = 'nothing' WHERE id = 1": "alert 1",
        "UPDATE ledger_discrepancy SET kind = 'x' WHERE id = 1": "discrepancy 1",
    }
    with house.copy() as copied:
        with psycopg.connect(copied.url(SUPERUSER), autocommit=True) as intruder:
            intruder.execute("SET session_replication_role = replica")
            for change in changes:
                assert intruder.execute(change).rowcount == 1, change
        answer = copied.tell("shell", "--verbosity", "0", "-c", NAMES_DIFFERENCES)
    for sentence in changes.values():
        assert sentence in answer, answer


NAMES_DIFFERENCES = "from tables.audit import row_comparison as rows; print(*rows.compare().faults, sep=chr(10))"


def test_every_old_house_shoe_was_dealt_as_committed(house: Carried) -> None:
    """Harm: the order of a shoe that nobody can prove any more."""
    sentences = house.tell("shoe", "verify").splitlines()
    assert len(sentences) == len(list(house.kept.rows("tables_houseshoe"))) > 10
    assert all(line.startswith("holds") for line in sentences)


def test_the_same_days_make_the_same_bundle(house: Carried, tmp_path: Path) -> None:
    """Harm: the auditors get another history of a day than the one that they were given then."""
    days = house.kept.header["days"]
    house.tell("audit", "export", "--from", days[0], "--to", days[-1], "--out", str(tmp_path / "again.zip"))
    with ZipFile(house.bundle) as then, ZipFile(tmp_path / "again.zip") as again:
        assert then.namelist() == again.namelist()
        for name in then.namelist():
            assert then.read(name) == again.read(name), name


def test_an_old_bundle_is_judged_by_the_verifier_of_today(house: Carried, tmp_path: Path) -> None:
    """Harm: an auditor comes back with a file of years ago, and it does not hold."""
    key = seals.public_of(seals.load_key(house.folder / "audit.pem"))
    house.tell("audit", "verifier", str(tmp_path / "verifier.pyz"))
    answer = house.run(str(tmp_path / "verifier.pyz"), str(house.bundle), "--key", key)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert f"HOLDS  {house.bundle.name}" in answer.stdout
    assert "holds  the key that you trust" in answer.stdout


def test_one_byte_of_one_body_is_found(house: Carried) -> None:
    """Harm: a test that holds whatever the database has; or a database that lets an old entry be rewritten."""
    flip = (
        "UPDATE ledger_logentry SET body = set_byte(body, length(body) / 2, get_byte(body, length(body) / 2) # 1)"
        " FROM ledger_book AS b WHERE b.id = book_id AND b.name = 'Rocket 1' AND seq = b.head_seq / 2 RETURNING seq"
    )
    with psycopg.connect(house.url(OWNER)) as owner, pytest.raises(psycopg.errors.RestrictViolation):
        owner.execute(flip)
    with house.copy() as copied:
        with psycopg.connect(copied.url(SUPERUSER), autocommit=True) as intruder:
            intruder.execute(
                "ALTER TABLE ledger_logentry DISABLE TRIGGER ledger_logentry_stays,"
                " DROP CONSTRAINT ledger_logentry_format"
            )
            [[seq]] = intruder.execute(flip).fetchall()
        answer = copied.ask("verify", "--table", "Rocket 1")
    assert answer.returncode == 1
    assert f"DOES NOT HOLD  Rocket 1, entry {seq}:" in answer.stdout


def test_the_note_beside_the_old_key_is_read(house: Carried, tmp_path: Path) -> None:
    """Harm: an upgrade that forgets what was sealed, so that the past may be sealed anew."""
    for path in house.folder.iterdir():
        shutil.copy(path, tmp_path)
    note = tmp_path / "audit.pem.sealed"
    content = json.loads(note.read_bytes())
    content["note"]["days"].pop()
    note.write_text(json.dumps(content))
    answer = replace(house, folder=tmp_path).ask("verify")
    assert answer.returncode == 1
    assert "is no note of what was sealed, or was changed" in answer.stdout


# --- what is kept ------------------------------------------------------------------------------------------------


def test_the_kept_houses_have_everything_that_the_log_has_a_word_for() -> None:
    """Harm: a kind of entry that no kept house has, so that nobody notices when its old entries stop holding.

    Whoever adds a kind makes it happen in ``day.py``; the next release's house has it, and until then it is named.
    """
    houses = [kept.read(path) for path in KEPT]
    entries = chain.from_iterable(map(_kinds, houses))
    transfers = (str(row["kind"]) for house in houses for row in house.rows("ledger_transfer"))
    assert day.missing(entries, transfers) == day.named(day.SINCE_THE_LATEST_KEPT_HOUSE)


def _kinds(house: kept.Kept) -> Iterator[tuple[bool, str, str]]:
    for document in kept.documents(house):
        yield document["book"] == "house", document["subject"], document["kind"]


def test_what_is_missing_is_named() -> None:
    """Harm: a check that finds nothing because it looks at nothing."""
    lacks = day.missing([(True, "chips", "sold")], ["sale"])
    assert "chips issued in the house's book" in lacks
    assert "slip fill_voided at a table" in lacks
    assert "a reversal" in lacks
    assert not {"chips sold in the house's book", "a sale"} & set(lacks)


@pytest.mark.timeout(1500)  # four days of everything: two minutes on a machine that has nothing else to do
@pytest.mark.django_db(transaction=True)
@pytest.mark.trial(
    "simulates four days of everything and saves them",
    covered_by="tests/carried/test_chip_papers.py::test_both_days_hold",
)
def test_a_house_of_today_can_be_kept(clock: Clock, tmp_path: Path) -> None:
    """Harm: a release whose house cannot be kept, for the days that show everything cannot be dealt any more."""
    with day.by_seed(tmp_path):
        day.play(clock, day.EACH_MOVE)
        assert day.missing_here() == []
