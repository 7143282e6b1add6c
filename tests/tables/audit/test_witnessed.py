"""A house and its witness: the books are seen to grow from outside, and what is taken away is named."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from casino.ops import metrics
from ledger.alerts import last_message
from ledger.models import Alert, Book, Cosignature, HeadsRow
from ledger.proof import merkle
from ledger.proof.note import COSIGNATURE, VerifierKey
from tables.audit import checkpoints, condition, day_seals, tree_proof, witness_delivery
from tables.audit.condition import Urgency
from tables.audit.outside.witness import Server, Witness
from tables.audit.outside.witness_file import WitnessFile
from tables.log.policies import TERMS, fault
from tables.models import Staff
from tables.roles import Role
from tables.setup import policies
from tests import floor
from tests.clock import Clock
from tests.floor import Hand
from tests.intruder import Intruder, at_work
from tests.ledger.proof.test_seals import later
from tests.tables.at_once import at_once

pytestmark = pytest.mark.django_db(transaction=True)

ORIGIN = "house.example/books"
NAME = "witness.example/w1"


class Outside:
    """A witness on a port of its own, with its file."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "seen.jsonl"
        self.key = Ed25519PrivateKey.generate()
        self.vkey = VerifierKey.of(NAME, COSIGNATURE, self.key)
        self.logs: dict[str, list[VerifierKey]] = {}
        self.file = WitnessFile(self.path, self.vkey)
        self.server = Server(("127.0.0.1", 0), Witness(NAME, self.key, self.logs, self.file))
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        self._thread = threading.Thread(target=self.server.serve_forever, args=(0.02,))
        self._thread.start()

    def stop(self) -> None:
        self.server.shutdown()
        self._thread.join()
        self.server.server_close()
        self.file.close()


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Outside]:
    witness = Outside(tmp_path)
    yield witness
    with suppress(Exception):
        witness.stop()


@pytest.fixture
def house(outside: Outside, settings: Any, tmp_path: Path, clock: Clock) -> Hand:
    """A house with a table that is dealt on; its witness is named, and knows its key."""
    settings.CHECKPOINT_KEY_FILE = str(tmp_path / "checkpoint.pem")
    settings.AUDIT_KEY_FILE = str(tmp_path / "audit.pem")
    call_command("audit", "key", stdout=StringIO())
    clock.stand(timezone.now())
    hand, _ = floor.dealt()
    olga = floor.staff(Role.OPERATOR, "olga", "301")
    tree = checkpoints.begin(ORIGIN)
    outside.logs[ORIGIN] = [tree.key]
    policies.change({"witness_first": f"{outside.vkey} {outside.address} heads"}, by=olga)
    policies.forget()
    return hand


@pytest.fixture
def minute(clock: Clock) -> Callable[[], int]:
    """A minute passes, and the worker comes by; how many witnesses cosigned."""

    def passes() -> int:
        clock.stand(timezone.now() + timedelta(minutes=1))
        return witness_delivery.have_witnessed()

    return passes


def verified(*arguments: str) -> str:
    """What `manage.py verify` says."""
    output = StringIO()
    with suppress(SystemExit):
        call_command("verify", *arguments, stdout=output, no_color=True)
    return output.getvalue()


# --- Growing ----------------------------------------------------------------------------------------------------


def test_each_minute_is_witnessed_and_verify_says_by_whom(
    house: Hand, minute: Callable[[], int], outside: Outside
) -> None:
    """Harm: a witness that saw nothing, and nobody notices."""
    for _ in range(5):
        assert minute() == 1
    assert HeadsRow.objects.count() == Cosignature.objects.count() == 5
    assert checkpoints.root_at(ORIGIN, 5) == merkle.root(bytes(row.leaf) for row in HeadsRow.objects.order_by("number"))
    for place in (str(outside.path), outside.address):
        verdict = verified("--witness", place, "--witness-key", str(outside.vkey))
        assert f"holds  witnessed by {NAME} at " in verdict
        assert "5 leaves of house.example/books" in verdict
        head = Book.objects.get(name="Rocket 1").head_seq
        assert f"Rocket 1 up to entry {head}" in verdict
        assert "5 leaves, each with the heads of all books, and 5 cosignatures" in verdict
        assert "DOES NOT HOLD" not in verdict
    part = next(part for part in condition.parts() if part.name == "Witnesses")
    assert (part.state, part.says) == (Urgency.WELL, f"{NAME} cosigned the books recently.")
    assert b'casino_witness_age_seconds{witness="witness.example/w1"}' in metrics.text()


def test_two_workers_at_once_make_one_leaf(house: Hand, minute: Callable[[], int], clock: Clock) -> None:
    """Harm: two leaves of one number, of which the witness sees either."""
    minute()
    clock.stand(timezone.now() + timedelta(minutes=1))
    rows = at_once(*[checkpoints.grow] * 4)
    assert [row for row in rows if isinstance(row, Exception)] == []
    assert [row.number for row in rows if row is not None] == [1]
    assert HeadsRow.objects.count() == 2


def test_any_two_leaves_are_proved_by_few_rows(house: Hand, clock: Clock, django_assert_num_queries: Any) -> None:
    """Harm: a proof that reads the whole tree, and takes longer each day; or one that proves nothing."""
    for _ in range(70):  # beyond the leaf that has all heads again
        clock.stand(timezone.now() + timedelta(minutes=1))
        checkpoints.grow()
    rows = list(HeadsRow.objects.order_by("number"))
    leaves = [bytes(row.leaf) for row in rows]
    for old, size in ((1, 70), (13, 64), (63, 65), (64, 70)):
        with django_assert_num_queries(1):
            proof = checkpoints.make_proof(ORIGIN, size, lambda proofs, old=old: proofs.consistency(old))
        assert proof == merkle.consistency(old, leaves[:size])
    with django_assert_num_queries(1):
        heads = checkpoints.heads_at(rows[69])
    assert heads == checkpoints.present_heads()
    assert tree_proof.prove(ORIGIN).fault is None


def test_a_witness_at_a_clouds_metadata_is_not_asked(house: Hand, minute: Callable[[], int], outside: Outside) -> None:
    """Harm: an operator names a witness by the address of the cloud host's credentials, and an alert quotes what
    answers there."""
    address = "http://169.254.169.254/latest"
    policies.change({"witness_first": f"{outside.vkey} {address}"}, by=Staff.objects.get(username="olga"))
    policies.forget()
    with pytest.raises(witness_delivery.Silent, match=r"169\.254\.169\.254 is not an address that this site sends to"):
        witness_delivery._post(witness_delivery.witnesses()[0], "add-checkpoint", b"")
    assert minute() == 0


# --- What is taken away -----------------------------------------------------------------------------------------


def cut_tail(intruder: Intruder, name: str, entries: int) -> int:
    """Take a book's last entries away, as if they had never been written; the last that is left."""
    book = Book.objects.get(name=name)
    last_seq = book.head_seq - entries
    for table in ("ledger_recount", "tables_verification"):
        with connection.cursor() as cursor:
            cursor.execute(f"DELETE FROM {table} WHERE book_id = %s AND through_seq > %s", [book.pk, last_seq])
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM ledger_transfer WHERE book_id = %s AND seq > %s", [book.pk, last_seq])
    intruder("DELETE FROM ledger_logentry WHERE book_id = %s AND seq > %s", book.pk, last_seq)
    intruder(
        "UPDATE ledger_book SET head_seq = %s, head_hash ="
        " (SELECT hash FROM ledger_logentry WHERE book_id = %s AND seq = %s) WHERE id = %s",
        last_seq, book.pk, last_seq, book.pk,
    )  # fmt: skip
    return last_seq


def erase_leaves(intruder: Intruder, since: int) -> None:
    intruder("DELETE FROM ledger_headsrow WHERE number >= %s", since)
    intruder("DELETE FROM ledger_cosignature WHERE size > %s", since)


@pytest.mark.parametrize("covered", [False, True])
def test_a_tail_that_was_cut_off_is_named(
    house: Hand, minute: Callable[[], int], outside: Outside, covered: bool
) -> None:
    """Harm: the last hour at a table never happened. The chain of what is left is whole; nothing inside remembers."""
    minute()
    house.bets(**{"1": 1_000})
    minute()
    head = Book.objects.get(name="Rocket 1").head_seq
    with at_work() as intruder:
        last_seq = cut_tail(intruder, "Rocket 1", 1)
        if covered:
            erase_leaves(intruder, 1)
        inside = tree_proof.prove(ORIGIN).fault or ""
        verdict = verified("--witness", str(outside.path))
    cut = f"Rocket 1 went up to entry {head}, and goes up to {last_seq} now: its tail was cut off"
    assert cut in verdict
    assert ("it saw 2 leaves of house.example/books" in verdict) is covered
    assert (cut in inside) is not covered


def test_a_table_that_was_deleted_is_named(house: Hand, minute: Callable[[], int], clock: Clock) -> None:
    """Harm: a table that never was, and its drop with it. The worker signs no further leaf over such a log."""
    minute()
    head = Book.objects.get(name="Rocket 1").head_seq
    with at_work() as intruder:
        book = Book.objects.get(name="Rocket 1").pk
        intruder("DELETE FROM ledger_logentry WHERE book_id = %s", book)
        intruder("DELETE FROM ledger_book WHERE id = %s", book)
        clock.stand(timezone.now() + timedelta(minutes=1))
        with pytest.raises(checkpoints.Lost, match=f"Rocket 1 is missing: it went up to entry {head}"):
            checkpoints.grow()


def test_the_newest_seal_that_was_erased_is_named(
    house: Hand, minute: Callable[[], int], outside: Outside, clock: Clock
) -> None:
    """Harm: a sealed day is dealt with anew, for no later one names it."""
    clock.pass_until(later(1))
    assert day_seals.seal_finished()
    minute()
    with at_work() as intruder:
        intruder("DELETE FROM ledger_dayroot")
        assert "the seal of day 1 is gone" in (tree_proof.prove(ORIGIN).fault or "")
        erase_leaves(intruder, 0)
        assert "the seal of day 1 is gone" in verified("--witness", str(outside.path))


def test_a_house_that_was_set_back_is_refused_by_its_witness(
    house: Hand, minute: Callable[[], int], outside: Outside
) -> None:
    """Harm: an older database is put back and the house deals on: every signature fits, and a day is lost."""
    for _ in range(3):
        minute()
    rows = list(HeadsRow.objects.order_by("number"))
    with at_work() as intruder:
        erase_leaves(intruder, 2)
        house.bets(**{"1": 1_000})
        assert minute() == 0  # one leaf again, as the witness saw three: another one
        alert = Alert.objects.get(kind="witness_refuses")
        assert "the tree is not the one that it saw grow (409" in alert.message
        assert minute() == 0
        assert "422" in last_message(Alert.objects.get(kind="witness_refuses"))
        assert "history was written anew" in verified("--witness", outside.address)
        erase_leaves(intruder, 1)
        row = checkpoints.newest(ORIGIN)
        assert row is not None
        with pytest.raises(witness_delivery.Refusing, match=r"it saw 3 leaves, the house has 1"):
            witness_delivery.submit(witness_delivery.witnesses()[0], row)
    assert outside.file.of(ORIGIN).latest.checkpoint.root == checkpoints.root_at(ORIGIN, len(rows))  # type: ignore[union-attr]
    assert outside.file.of(ORIGIN).conflicts


def test_an_answer_that_was_lost_is_no_fork(house: Hand, minute: Callable[[], int], outside: Outside) -> None:
    """Harm: a worker is killed before it notes the cosignature, and its witness refuses it for ever."""
    minute()
    with at_work() as intruder:
        intruder("DELETE FROM ledger_cosignature")
        assert minute() == 1
    assert not Alert.objects.filter(kind="witness_refuses").exists()


# --- A witness that is away -------------------------------------------------------------------------------------


def test_a_witness_that_is_away_is_an_alert_after_its_grace(
    house: Hand, minute: Callable[[], int], outside: Outside
) -> None:
    """Harm: for a month nobody outside saw the books, and nobody inside was told."""
    minute()
    outside.stop()
    for _ in range(10):
        assert minute() == 0
    assert not Alert.objects.filter(kind="witness_silent").exists()
    for _ in range(2):
        minute()
    alert = Alert.objects.get(kind="witness_silent")
    assert NAME in alert.message
    part = next(part for part in condition.parts() if part.name == "Witnesses")
    assert part.state == Urgency.WRONG
    assert f"{NAME} has not cosigned the books since" in part.says
    assert HeadsRow.objects.count() == 13, "the tree grows all the same, and nothing is lost"


def test_without_its_key_no_checkpoint_is_made_and_the_house_says_so(
    house: Hand, minute: Callable[[], int], settings: Any, tmp_path: Path
) -> None:
    """Harm: the key is gone, or is another's, and the books grow unseen."""
    os.rename(tmp_path / "checkpoint.pem", tmp_path / "away.pem")
    assert minute() == 0
    assert "cannot be read" in Alert.objects.get(kind="not_witnessed").message
    assert not HeadsRow.objects.exists()


# --- Setting it up ----------------------------------------------------------------------------------------------


def test_an_older_tree_is_left_by_two_people_with_a_reason_and_never_taken_up_again(
    house: Hand, minute: Callable[[], int], outside: Outside
) -> None:
    """Harm: one person begins another history beside the one that the witness holds."""
    minute()
    with pytest.raises(CommandError, match="needs a reason and two people"):
        call_command("audit", "checkpoints", "other.example/books", stdout=StringIO())
    people = [floor.staff(Role.OPERATOR, "omar"), Staff.objects.get(username="olga")]
    by = [person.signature for person in people]
    checkpoints.begin("house.example/books-2", reason="An older copy was put back", by=by)
    with pytest.raises(Exception, match="was left before"):
        checkpoints.begin(ORIGIN, reason="Again", by=by)
    outside.logs["house.example/books-2"] = [checkpoints.trees()[-1].key]
    assert minute() == 1
    assert verified("--witness", str(outside.path)).count("holds  witnessed by") == 2


def test_a_witness_that_cannot_be_one_is_refused_where_it_is_named() -> None:
    """Harm: a witness is named, believed to watch, and never asked."""
    vkey = VerifierKey.of(NAME, COSIGNATURE, Ed25519PrivateKey.generate())
    wrong_addresses = ("", " ftp://witness.example", " https://a@witness.example", " https://a b c")
    for text in ("witness.example", *(f"{vkey}{address}" for address in wrong_addresses)):
        assert fault(TERMS["witness_first"], text) != "", text
    assert fault(TERMS["witness_first"], f"{vkey} https://witness.example/house heads") == ""


def test_a_house_without_a_tree_says_what_it_lacks(db: None) -> None:
    """Harm: a house that believes it is watched."""
    part = next(part for part in condition.parts() if part.name == "Witnesses")
    assert part.state == Urgency.WATCH
    assert witness_delivery.have_witnessed() == 0
