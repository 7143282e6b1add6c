"""Days that come by PostgreSQL's logical replication, on real servers: two letter boxes and a head office.

The same verifier checks them against the same keys as days that come otherwise. A bad house harms only itself.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest

from casino.embedded.keeper import postgres_program
from casino.embedded.servers import APPLICATION, BASE_DIR, SUPERUSER
from casino.office import houses, receiving, replication
from casino.office.houses import Registration
from casino.office.models import MOST_PIECE_BYTES, Arrival, Day, House, Piece, Refusal
from ledger import shape
from ledger.models import Alert
from tables.audit import condition, export_database
from tables.audit.outside.verifier import Outline
from tables.roles import Role
from tests import letter_boxes
from tests.database import database_url
from tests.floor import staff
from tests.letter_boxes import FETCHER, WRITER, LetterBox, subscribe, unsubscribe
from tests.patience import eventually
from tests.tables.bundles import Evidence, Forger, kept_for_a_module, two_days
from tests.tiers import Tier, belongs_to

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(300)]

NAMES: Final = ("north", "south-east")
SHIPPED_PIECE: Final = export_database.PIECE_BYTES


@pytest.fixture(scope="module")
def evidence(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Mapping[str, Evidence]:
    """Each house's bundles of two days and its key: only files, the houses' rows are gone."""
    evidence: dict[str, Evidence] = {}
    for name in NAMES:
        with kept_for_a_module(django_db_blocker):
            evidence[name] = two_days(tmp_path_factory.mktemp(name))
    return evidence


@pytest.fixture(scope="module")
@belongs_to(Tier.TRIALS)
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, LetterBox]]:
    boxes = {name: LetterBox(tmp_path_factory.mktemp(f"box-{name}")) for name in NAMES}
    for box in boxes.values():
        box.make()
    with boxes["south-east"].as_role(SUPERUSER) as admin:  # makes a parallel worker apply its days, as with large ones
        admin.execute("ALTER SYSTEM SET debug_logical_replication_streaming = immediate")
        admin.execute("SELECT pg_reload_conf()")
    yield boxes
    for box in boxes.values():
        box.stop()


@pytest.fixture
def office(transactional_db: None) -> Iterator[psycopg.Connection]:
    """The superuser's connection to the head office's database."""
    with psycopg.connect(database_url(SUPERUSER), autocommit=True) as admin:
        yield admin
        unsubscribe(admin)
        admin.execute("DROP OWNED BY casino_subscriber")


@pytest.fixture
def boxes(servers: Mapping[str, LetterBox], office: psycopg.Connection) -> Iterator[Mapping[str, LetterBox]]:
    """The letter boxes, empty and subscribed to by the head office."""
    for name, box in servers.items():
        box.let_in()
        subscribe(database_url(SUPERUSER), name, box)
    yield servers
    unsubscribe(office)
    for box in servers.values():
        with box.as_role(SUPERUSER) as admin:
            admin.execute("TRUNCATE office_piece")
            admin.execute("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE NOT active")


@pytest.fixture
def company(
    boxes: Mapping[str, LetterBox], evidence: Mapping[str, Evidence], settings: Any, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Mapping[str, House]:  # fmt: skip
    settings.OFFICE_FOLDER = str(tmp_path / "office")
    monkeypatch.setattr(receiving, "queue_verification", receiving.verify_waiting)
    monkeypatch.setattr(export_database, "PIECE_BYTES", 5_000)
    otto = staff(Role.OPERATOR, "otto")
    return {
        name: houses.register(Registration(name, name.title(), "EUR", evidence[name].public), by=otto) for name in NAMES
    }


def put_in(box: LetterBox, number: int, bundle: Path) -> None:
    with box.as_role(WRITER) as house, bundle.open("rb") as file:
        export_database.put_in(house, number, file)


def is_here(house: House, bundle: Path) -> bool:
    """Whether a bundle has arrived to the last byte."""
    digest = sha256(bundle.read_bytes()).hexdigest()
    pieces = Piece.objects.filter(line=replication.subscription_of(house), bundle=digest)
    return sum(len(piece.content) for piece in pieces) == bundle.stat().st_size


def numbers(house: House) -> list[int]:
    return list(Day.objects.filter(house=house).order_by("number").values_list("number", flat=True))


def test_days_of_two_houses_come_by_replication_and_hold(
    company: Mapping[str, House], boxes: Mapping[str, LetterBox], evidence: Mapping[str, Evidence]
) -> None:
    """Harm: a figure that no house proved, or one house's day under another's name."""
    for name in NAMES:
        put_in(boxes[name], 1, evidence[name].first)
        put_in(boxes[name], 2, evidence[name].second)
    for name, house in company.items():
        eventually(partial(is_here, house, evidence[name].second))
    assert replication.take_all() == 4
    assert [numbers(house) for house in company.values()] == [[1, 2], [1, 2]]
    assert set(Arrival.objects.values_list("by", flat=True)) == {"replication"}
    assert replication.take_all() == 0
    assert not Piece.objects.exists(), "pieces are deleted once their days hold"
    for name, house in company.items():
        assert {path.suffix for path in receiving.folder(house).iterdir()} == {".zip"}, name
    assert list(shape.faults()) == [], "the rights of the subscription's role are expected"
    assert not Alert.objects.exists()
    assert condition.CHECKS["Replication"]().says == "The letter boxes of 2 houses are read."


def test_a_lost_slot_costs_a_command_and_no_day(
    company: Mapping[str, House], boxes: Mapping[str, LetterBox], evidence: Mapping[str, Evidence],
    office: psycopg.Connection, settings: Any, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Harm: an absent head office fills the house's disk; or the days it missed have to be carried there by hand."""
    north, box = company["north"], boxes["north"]
    settings.LETTER_BOX_URL = box.url(WRITER)
    monkeypatch.setattr(export_database, "_of_days", lambda last: None)  # this database has no days of the house
    put_in(box, 1, evidence["north"].first)
    eventually(lambda: is_here(north, evidence["north"].first))
    office.execute("ALTER SUBSCRIPTION house_north DISABLE")
    put_in(box, 2, evidence["north"].second)
    with box.as_role(SUPERUSER) as admin:
        admin.execute("ALTER SYSTEM SET max_slot_wal_keep_size = '1MB'")
        admin.execute("SELECT pg_reload_conf()")
        eventually(lambda: not _is_active(admin))
        for _ in range(6):
            admin.execute("SELECT pg_logical_emit_message(false, 'test', 'a segment')")
            admin.execute("SELECT pg_switch_wal()")
        admin.execute("CHECKPOINT")
        assert admin.execute("SELECT wal_status FROM pg_replication_slots").fetchall() == [("lost",)]
        admin.execute("ALTER SYSTEM RESET max_slot_wal_keep_size")
        admin.execute("SELECT pg_reload_conf()")
    office.execute("ALTER SUBSCRIPTION house_north ENABLE")
    assert "so long that its replication slot is lost" in condition.CHECKS["Replication"]().says
    settings.LETTER_BOX_URL = ""
    eventually(lambda: condition.CHECKS["Replication"]().says == "These subscriptions read nothing: house_north.")
    subscribe(database_url(SUPERUSER), "north", box)
    eventually(lambda: is_here(north, evidence["north"].second))
    assert is_here(north, evidence["north"].first), "the pieces that were there already stay"
    replication.take_all()
    assert numbers(north) == [1, 2]


def test_a_new_box_or_password_costs_a_command(
    company: Mapping[str, House], boxes: Mapping[str, LetterBox], evidence: Mapping[str, Evidence],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Harm: after a box was lost or a secret was changed, no day arrives any more."""
    north, box = company["north"], boxes["north"]
    for day, bundle in enumerate((evidence["north"].first, evidence["north"].second), 1):
        monkeypatch.setattr(letter_boxes, "PASSWORD", f"password number {day}")
        with box.as_role(SUPERUSER) as admin:
            box.let_in()
            admin.execute("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE active")
            if day == 2:
                eventually(partial(_slot_goes, admin))
                admin.execute("TRUNCATE office_piece")
        put_in(box, day, bundle)
        subscribe(database_url(SUPERUSER), "north", box)
        eventually(partial(is_here, north, bundle))
    replication.take_all()
    assert numbers(north) == [1, 2]


def _slot_goes(admin: psycopg.Connection) -> bool:
    drop = "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE NOT active"
    return bool(admin.execute(drop).fetchall())


def _is_active(admin: psycopg.Connection) -> bool:
    return bool(admin.execute("SELECT FROM pg_replication_slots WHERE active").fetchall())


def test_a_bundle_that_does_not_hold_raises_an_alert_and_blocks_nobody(
    company: Mapping[str, House], boxes: Mapping[str, LetterBox], evidence: Mapping[str, Evidence], tmp_path: Path
) -> None:
    """Harm: a house sends days in another's name, or blocks another's real day."""
    north, south = company.values()
    own, others = evidence["north"], evidence["south-east"]
    forger = Forger(own.first)
    forger.move("Rocket 1", forger.moving("Rocket 1", "loss"), 1, lambda row: row.__setitem__(8, row[8] + 100))
    tampered = forger.write(tmp_path / "tampered.zip")
    put_in(boxes["north"], 1, tampered)
    put_in(boxes["north"], 1, others.first)
    with boxes["north"].as_role(WRITER) as house:  # the digest of the other house's day, with other bytes
        digest, size = sha256(others.second.read_bytes()).hexdigest(), others.second.stat().st_size
        house.execute(
            "INSERT INTO office_piece (bundle, start, number, size, content) VALUES (%s, 0, 2, %s, '\\x00'),"
            " (repeat('a', 64), 0, 2, 1, '\\x00')",
            (digest, size),
        )
    put_in(boxes["south-east"], 1, others.first)
    put_in(boxes["south-east"], 2, others.second)
    eventually(lambda: is_here(south, others.second))
    eventually(lambda: Piece.objects.filter(line="house_north", bundle="a" * 64).exists())
    replication.take_all()
    assert (numbers(north), numbers(south)) == ([], [1, 2])
    messages = " ".join(Alert.objects.filter(kind="day_refused").values_list("message", flat=True))
    assert "its transfer 1 is" in messages
    assert "is not among those that the house signed with" in messages
    assert replication.DAMAGED in messages
    assert set(Refusal.objects.values_list("house__code", flat=True)) == {"north"}
    alerts = Alert.objects.count()
    assert replication.take_all() == 0
    assert Alert.objects.count() == alerts, "a refused bundle is not tried each minute"
    put_in(boxes["north"], 1, own.first)
    eventually(lambda: is_here(north, own.first))
    replication.take_all()
    assert numbers(north) == [1]
    replication.take_all(again=True)
    bundles = set(Piece.objects.filter(line="house_north").values_list("bundle", flat=True))
    assert bundles == {digest}, "a refused bundle is deleted once its day is here; half a bundle waits"


def test_a_bundles_name_is_never_used_as_a_path(
    company: Mapping[str, House], boxes: Mapping[str, LetterBox], evidence: Mapping[str, Evidence], tmp_path: Path
) -> None:
    """Harm: a house names its bundle like a path, and the office writes there, or fails before the other's day."""
    names = [f"../../{'stolen' * 9}", str(tmp_path / "stolen")[:64], "nowhere/" * 8]
    with boxes["north"].as_role(WRITER) as house:
        for name in names:
            house.execute(
                "INSERT INTO office_piece (bundle, start, number, size, content) VALUES (%s, 0, 1, 1, '\\x00')", (name,)
            )
    put_in(boxes["south-east"], 1, evidence["south-east"].first)
    eventually(lambda: is_here(company["south-east"], evidence["south-east"].first))
    eventually(lambda: Piece.objects.filter(line="house_north").count() == len(names))
    replication.take_all()
    assert numbers(company["south-east"]) == [1]
    assert set(Refusal.objects.values_list("sha256", "says")) == {(name, replication.DAMAGED) for name in names}


def test_an_unexpected_error_in_a_bundle_stops_no_other_house(
    company: Mapping[str, House], boxes: Mapping[str, LetterBox], evidence: Mapping[str, Evidence],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Harm: the worker fails at one house's bundle each minute, and the next houses' days are never taken."""
    for name in NAMES:
        put_in(boxes[name], 1, evidence[name].first)
        eventually(partial(is_here, company[name], evidence[name].first))
    outline = receiving.verifier.outline

    def fails(path: Path, *, key: str) -> Outline:
        if key == evidence["north"].public:
            raise MemoryError
        return outline(path, key=key)

    monkeypatch.setattr(receiving.verifier, "outline", fails)
    replication.take_all()
    assert [numbers(house) for house in company.values()] == [[], [1]]


def test_after_an_operator_pins_the_right_key_a_refused_day_is_taken(
    company: Mapping[str, House], boxes: Mapping[str, LetterBox], evidence: Mapping[str, Evidence]
) -> None:
    """Harm: a refused day is deleted, and the house, which gets no answer, never sends it again."""
    north = company["north"]
    put_in(boxes["north"], 1, evidence["south-east"].first)
    eventually(lambda: is_here(north, evidence["south-east"].first))
    replication.take_all()
    assert numbers(north) == []
    houses.pin(north, by=staff(Role.OPERATOR, "olga"), reason="told by phone", key=evidence["south-east"].public)
    assert replication.take_all(again=True) == 1
    assert numbers(north) == [1]


PIECE: Final = "office_piece (bundle, start, number, size, content)"


@contextmanager
def published(box: LetterBox, tables: str) -> Iterator[psycopg.Connection]:
    """The superuser's connection to a house's box that publishes what it likes."""
    with box.as_role(SUPERUSER) as admin:
        admin.execute("CREATE TABLE office_refusal AS SELECT 1::bigint AS id, 'x' AS sha256, 'x' AS says, 'x' AS by")
        admin.execute("ALTER TABLE office_piece ADD line text DEFAULT 'house_south_east'")
        admin.execute("DROP PUBLICATION sealed_days")
        admin.execute(f"CREATE PUBLICATION sealed_days FOR TABLE {tables}")
        admin.execute(f"GRANT SELECT ON office_piece, office_refusal TO {FETCHER}")
        try:
            subscribe(database_url(SUPERUSER), "north", box)
            yield admin
        finally:
            admin.execute("DROP PUBLICATION sealed_days")
            admin.execute("DROP TABLE office_refusal")
            admin.execute("ALTER TABLE office_piece DROP COLUMN line")
            admin.execute(f"REVOKE SELECT ON office_piece FROM {FETCHER}")
            admin.execute(f"GRANT SELECT {PIECE.removeprefix('office_piece ')} ON office_piece TO {FETCHER}")
            admin.execute(f"CREATE PUBLICATION sealed_days FOR TABLE {PIECE} WITH (publish = 'insert')")


def test_a_house_can_write_to_no_other_table_of_the_head_office(
    company: Mapping[str, House], boxes: Mapping[str, LetterBox], office: psycopg.Connection
) -> None:
    """Harm: a house publishes a table named like one here, and writes unverified rows."""
    with published(boxes["north"], f"office_refusal, {PIECE}"):
        eventually(lambda: _failures(office) > 0)
        assert not Refusal.objects.exists()
        unsubscribe(office)


def test_a_house_cannot_write_pieces_in_anothers_name(
    company: Mapping[str, House], boxes: Mapping[str, LetterBox], office: psycopg.Connection
) -> None:
    """Harm: a house publishes the column that says whose a piece is, and spoils another's days."""
    with published(boxes["north"], PIECE.replace("content", "content, line")) as admin:
        admin.execute("INSERT INTO office_piece (bundle, start, number, size, content) VALUES ('b', 0, 1, 9, '\\x00')")
        eventually(lambda: Piece.objects.exists())
        assert list(Piece.objects.values_list("line", flat=True)) == ["house_north"]
        unsubscribe(office)


def test_a_subscription_leaves_no_slot_behind_and_changes_nothing_where_the_line_fails(
    company: Mapping[str, House], boxes: Mapping[str, LetterBox], evidence: Mapping[str, Evidence],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Harm: a slot that nobody reads takes the box's room, or its name, so that nobody can subscribe any more; or a
    mistyped password ends the replication that was there."""
    box = boxes["north"]
    with box.as_role(SUPERUSER) as admin:
        admin.execute("SELECT pg_create_logical_replication_slot('house_north_1700000000', 'pgoutput')")
        subscribe(database_url(SUPERUSER), "north", box)
        [(slot,)] = admin.execute("SELECT slot_name FROM pg_replication_slots WHERE slot_name !~ '_sync_'").fetchall()
    assert abs(int(slot.removeprefix("house_north_")) - time.time()) < 300
    with monkeypatch.context() as patch:
        patch.setattr(letter_boxes, "PASSWORD", "mistyped")
        with pytest.raises(subprocess.CalledProcessError):
            subscribe(database_url(SUPERUSER), "north", box)
    put_in(box, 1, evidence["north"].first)
    eventually(lambda: is_here(company["north"], evidence["north"].first))


def test_a_house_puts_in_no_larger_pieces_than_a_head_office_and_a_box_take() -> None:
    """Harm: pieces become larger in a release, and no day arrives any more."""
    box = Path(BASE_DIR, "deploy", "letter-box", "letter-box.sql").read_text()
    assert SHIPPED_PIECE <= MOST_PIECE_BYTES
    assert f"octet_length(content) BETWEEN 1 AND {MOST_PIECE_BYTES}" in box


def _failures(office: psycopg.Connection) -> int:
    row = office.execute(
        "SELECT apply_error_count + sync_error_count FROM pg_stat_subscription_stats WHERE subname = 'house_north'"
    ).fetchone()
    return int(row[0]) if row else 0


KILLED: Final = """
import os, signal
import django; django.setup()
from casino.office import replication, receiving
from casino.office.models import Arrival, House
receiving.queue_verification = lambda house: None
Arrival.objects.bulk_create = lambda *rows, **options: os.kill(os.getpid(), signal.SIGKILL)
replication.take_all()
"""


def test_a_killed_worker_loses_no_day(
    company: Mapping[str, House], boxes: Mapping[str, LetterBox], evidence: Mapping[str, Evidence], settings: Any
) -> None:
    """Harm: a bundle whose file was moved but not recorded is never verified."""
    north = company["north"]
    put_in(boxes["north"], 1, evidence["north"].first)
    eventually(lambda: is_here(north, evidence["north"].first))
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "casino.settings",
        "CASINO_DB_ROLE": "",
        "DATABASE_URL": database_url(APPLICATION),
        "OFFICE_FOLDER": settings.OFFICE_FOLDER,
    }
    process = subprocess.run(
        [sys.executable, "-c", KILLED], cwd=BASE_DIR, env=environment, capture_output=True, text=True, check=False
    )
    assert process.returncode == -9, process.stderr
    assert not Arrival.objects.exists()
    assert replication.take_all() == 1
    assert numbers(north) == [1]


def test_the_fetching_role_reads_only_pieces_but_could_copy_a_whole_server(
    boxes: Mapping[str, LetterBox], tmp_path: Path
) -> None:
    """Harm: the head office's role reads more than bundles; or somebody saves a server by publishing from the house's
    own, where the same role could copy the orders of live shoes."""
    with boxes["north"].as_role(FETCHER) as fetcher:
        fetcher.execute("SELECT bundle, start, number, size, content FROM office_piece")
        for deed in (
            "SELECT written FROM office_piece", "DELETE FROM office_piece", "SELECT * FROM pg_authid",
            "INSERT INTO office_piece (bundle, start, number, size, content) VALUES ('b', 0, 1, 9, '')",
            "CREATE TABLE public.own ()",
        ):  # fmt: skip
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                fetcher.execute(deed)
    copy = subprocess.run(
        [postgres_program("psql"), f"{boxes['north'].url(FETCHER)}?replication=database", "--command=BASE_BACKUP"],
        env=os.environ | {"PGPASSWORD": letter_boxes.PASSWORD}, capture_output=True, check=False,
    )  # fmt: skip
    assert b"global/pg_control" in copy.stdout, copy.stderr
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(boxes["north"].url(FETCHER), password="another")  # pragma: allowlist secret
