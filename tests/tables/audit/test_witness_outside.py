"""The witness by itself: whatever a house hands it, it cosigns only what extends what it saw."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import settings as budget
from hypothesis import strategies as st

from ledger.proof import merkle, note, seals
from ledger.proof.checkpoint import Checkpoint, Submission
from ledger.proof.heads import Heads, HeadsLeaf, root_of
from ledger.proof.note import COSIGNATURE, ED25519, Note, VerifierKey, encoded, sign
from tables.audit.outside.witness import Witness, WitnessResponse
from tables.audit.outside.witness_file import BadFile, WitnessFile
from tests.pace import percent

pytestmark = pytest.mark.slow("grows trees by chance")

ORIGIN = "house.example/books"
HOUSE_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
WITNESS_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
NAME = "witness.example/w1"
VKEY = VerifierKey.of(NAME, COSIGNATURE, WITNESS_KEY)
LOGS = {ORIGIN: [VerifierKey.of(ORIGIN, ED25519, HOUSE_KEY)]}


def witness_of(path: Path) -> Witness:
    return Witness(NAME, WITNESS_KEY, LOGS, WitnessFile(path, VKEY))


@pytest.fixture
def witness(tmp_path: Path) -> Iterator[Witness]:
    witness = witness_of(tmp_path / "seen.jsonl")
    yield witness
    witness.file.close()


def signed(leaves: list[bytes], key: Ed25519PrivateKey = HOUSE_KEY, origin: str = ORIGIN) -> Note:
    text = Checkpoint(origin, len(leaves), merkle.root(leaves)).text
    return Note(text, (sign(key, origin, text),))


def submission(leaves: list[bytes], old: int) -> bytes:
    proof = merkle.consistency(old, leaves) if 0 < old <= len(leaves) else []
    return bytes(Submission(old, tuple(proof), signed(leaves)))


def hand_over(witness: Witness, leaves: list[bytes], old: int) -> WitnessResponse:
    return witness.add_checkpoint(submission(leaves, old))


def leaves_of(size: int, salt: str = "") -> list[bytes]:
    return [f"{salt}{number}".encode() for number in range(size)]


def test_it_cosigns_what_grows_and_says_when(witness: Witness) -> None:
    """Harm: an answer that no client of the protocol reads."""
    for old, size in ((0, 3), (3, 3), (3, 8), (8, 9)):
        answer = hand_over(witness, leaves_of(size), old)
        assert answer.status == HTTPStatus.OK
        checkpoint = Note(signed(leaves_of(size)).text, note.read_signatures(answer.body))
        assert checkpoint.signers([VKEY])[VKEY] > 1_700_000_000


def test_each_refusal_is_the_one_that_the_specification_has(witness: Witness) -> None:
    """Harm: a house that cannot tell a witness that is behind from one that saw another log."""
    assert hand_over(witness, leaves_of(5), 0).status == HTTPStatus.OK
    cases = [
        (b"old 05\n\n", HTTPStatus.BAD_REQUEST),
        (submission(leaves_of(4), 5), HTTPStatus.BAD_REQUEST),
        (bytes(Submission(5, (), signed(leaves_of(6), origin="other.example/log"))), HTTPStatus.NOT_FOUND),
        (bytes(Submission(5, (), signed(leaves_of(6), key=WITNESS_KEY))), HTTPStatus.FORBIDDEN),
        (submission(leaves_of(6), 4), HTTPStatus.CONFLICT),
        (submission(leaves_of(6), 0), HTTPStatus.CONFLICT),
        (submission(leaves_of(5, "x"), 5), HTTPStatus.CONFLICT),
        (submission(leaves_of(6, "x"), 5), HTTPStatus.UNPROCESSABLE_ENTITY),
        (bytes(Submission(5, (), signed(leaves_of(6)))), HTTPStatus.UNPROCESSABLE_ENTITY),
        (bytes(Submission(5, (bytes(32),), signed(leaves_of(5)))), HTTPStatus.UNPROCESSABLE_ENTITY),
    ]
    for body, status in cases:
        answer = witness.add_checkpoint(body)
        assert answer.status == status, body
        if status == HTTPStatus.CONFLICT:
            assert (answer.body, answer.content_type) == ("5\n", "text/x.tlog.size")
    forged = signed(leaves_of(6))
    broken = Note(forged.text, (note.NoteSignature(ORIGIN, forged.signatures[0].key_id, bytes(64)),))
    assert witness.add_checkpoint(bytes(Submission(5, (), broken))).status == HTTPStatus.FORBIDDEN
    assert witness.file.of(ORIGIN).size == 5


def test_a_second_tree_of_one_size_is_kept_as_evidence(tmp_path: Path) -> None:
    """Harm: a house shows its auditor another history than its witness, and nobody can prove it."""
    witness = witness_of(tmp_path / "seen.jsonl")
    hand_over(witness, leaves_of(5), 0)
    for _ in range(3):
        hand_over(witness, leaves_of(5, "x"), 5)
    witness.file.close()
    again = WitnessFile(tmp_path / "seen.jsonl", VKEY)
    assert again.of(ORIGIN).conflicts == {(5, merkle.root(leaves_of(5, "x")))}
    assert len((tmp_path / "seen.jsonl").read_bytes().splitlines()) == 2
    again.close()


@budget(max_examples=percent(40))
@given(seed=st.integers(0, 2**32))
def test_no_rewrite_no_fork_and_no_cut_is_ever_cosigned(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Harm: any way at all in which a log can be other than it was, and a witness that puts its name to it."""
    chance, leaves = random.Random(seed), [b"0"]
    path = tmp_path_factory.mktemp("witness") / "seen.jsonl"
    witness, old = witness_of(path), 0
    for _ in range(12):
        leaves += [chance.randbytes(4) for _ in range(chance.randint(0, 9))]
        assert hand_over(witness, leaves, old).status == HTTPStatus.OK
        old = len(leaves)
        forged = list(leaves)
        match chance.randrange(4):
            case 0:  # an older entry is another one
                forged[chance.randrange(old)] = b"forged"
            case 1:  # one is taken away, and others come
                del forged[chance.randrange(old)]
                forged += [b"more"] * 3
            case 2:  # the tail is cut off and grown anew
                forged = forged[: chance.randrange(old)] + [b"anew"] * chance.randint(old, 2 * old)
            case 3:  # cut off
                forged = forged[: chance.randrange(old)]
        claim = chance.choice([old, old, len(forged), 0])
        assert hand_over(witness, forged, min(claim, len(forged))).status != HTTPStatus.OK
        if chance.random() < 0.3:  # the witness is started anew
            witness.file.close()
            witness = witness_of(path)
        assert witness.file.of(ORIGIN).latest.checkpoint == Checkpoint(ORIGIN, old, merkle.root(leaves))  # type: ignore[union-attr]
    witness.file.close()


# --- The heads that it is shown ---------------------------------------------------------------------------------


def heads_body(leaves: list[bytes], leaf: HeadsLeaf, heads: Heads) -> bytes:
    path = [encoded(digest) for digest in merkle.inclusion(len(leaves) - 1, leaves)]
    rows = [[name, *head] for name, head in heads.items()]
    document = {"origin": ORIGIN, "size": len(leaves), "leaf": bytes(leaf).decode(), "path": path, "heads": rows}
    return json.dumps(document).encode()


def test_it_names_the_book_that_lost_something_though_the_tree_grew(witness: Witness) -> None:
    """Harm: a tree that only grows, over books that shrink."""
    digest, changed_digest = "aa" * 32, "bb" * 32
    leaves: list[bytes] = []

    def grow(heads: Heads, sealed: tuple[int, str] | None = None) -> WitnessResponse:
        leaf = HeadsLeaf(len(leaves), "2026-11-23T12:00:00.000000Z", len(heads), root_of(heads), sealed)
        leaves.append(bytes(leaf))
        assert hand_over(witness, leaves, len(leaves) - 1).status == HTTPStatus.OK
        return witness.add_heads(heads_body(leaves, leaf, heads))

    assert grow({"house": (5, digest), "Rocket 1": (9, digest)}, (3, digest)).status == HTTPStatus.OK
    lost = [
        (grow({"house": (6, changed_digest), "Rocket 1": (8, digest)}, (3, digest)), "Rocket 1 went up to entry 9"),
        (grow({"house": (6, changed_digest)}, (3, digest)), "Rocket 1 is missing"),
        (grow({"house": (6, digest)}, (3, digest)), "house, entry 6: it is another entry"),
        (grow({"house": (7, digest)}, (2, digest)), "day 3 was sealed, and is not any more"),
    ]
    for answer, sentence in lost:
        assert answer.status == HTTPStatus.UNPROCESSABLE_ENTITY
        assert sentence in answer.body
    leaf = HeadsLeaf(4, "2026-11-23T12:00:00.000000Z", 1, root_of({"house": (9, digest)}), None)
    assert witness.add_heads(heads_body(leaves, leaf, {"house": (9, digest)})).status == HTTPStatus.UNPROCESSABLE_ENTITY
    assert witness.add_heads(b"{}").status == HTTPStatus.BAD_REQUEST


# --- Its file ---------------------------------------------------------------------------------------------------


def test_one_file_has_one_witness(tmp_path: Path, witness: Witness) -> None:
    """Harm: two processes on one file, each of which cosigns another branch."""
    with pytest.raises(BadFile, match="Another process holds"):
        WitnessFile(tmp_path / "seen.jsonl", VKEY)


def test_a_half_written_line_is_dropped_and_a_changed_one_stops_it(tmp_path: Path) -> None:
    """Harm: a witness that does not start after a crash; or that goes on with a file that somebody edited."""
    path = tmp_path / "seen.jsonl"
    witness = witness_of(path)
    hand_over(witness, leaves_of(3), 0)
    whole = path.read_bytes()
    hand_over(witness, leaves_of(5), 3)
    witness.file.close()
    path.write_bytes(path.read_bytes()[:-20])
    witness = witness_of(path)
    assert witness.file.of(ORIGIN).size == 3
    assert path.read_bytes() == whole
    assert hand_over(witness, leaves_of(4), 3).status == HTTPStatus.OK
    witness.file.close()
    lines = path.read_bytes().splitlines(keepends=True)
    for changed in (lines[::-1], [lines[0].replace(b"\\n3\\n", b"\\n2\\n"), lines[1]], [b"{}\n"]):
        path.write_bytes(b"".join(changed))
        with pytest.raises(BadFile):
            WitnessFile(path, VKEY)


@pytest.mark.usefixtures("own_processes")
def test_it_survives_a_kill_between_the_disk_and_the_answer(tmp_path: Path) -> None:
    """Harm: a witness that forgets what it cosigned; or a house that can never hand over anything again, since the
    answer that the kill swallowed is not known to it."""
    seals.make_key(tmp_path / "witness.pem")
    key = seals.load_key(tmp_path / "witness.pem")
    vkey = VerifierKey.of(NAME, COSIGNATURE, key)
    arguments = ["witness", "serve", "--name", NAME, "--key", str(tmp_path / "witness.pem"), "--port", "0"]
    arguments += ["--file", str(tmp_path / "seen.jsonl"), "--log", str(LOGS[ORIGIN][0])]
    # The first is killed by itself, after the line is on the disk and before anybody is told.
    killed = (
        "import os, signal, sys; from tables.audit.outside import witness_file as f;"
        "add = f.WitnessFile.add_checkpoint;"
        "f.WitnessFile.add_checkpoint = lambda *a: (add(*a), os.kill(os.getpid(), signal.SIGKILL));"
        "from django.core.management import execute_from_command_line as go; go(['manage.py', *sys.argv[1:]])"
    )
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings"}
    with subprocess.Popen(
        [sys.executable, "-c", killed, *arguments], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        address = f"http://{process.stdout.readline().split(' at ')[1].strip()}"
        request = urllib.request.Request(f"{address}/add-checkpoint", submission(leaves_of(4), 0))
        with pytest.raises(OSError, match=r"closed|reset|Remote"):
            urllib.request.urlopen(request, timeout=10)
        assert process.wait(10) == -signal.SIGKILL
    file = WitnessFile(tmp_path / "seen.jsonl", vkey)
    witness = Witness(NAME, key, LOGS, file)
    assert hand_over(witness, leaves_of(6), 0).body == "4\n"
    assert hand_over(witness, leaves_of(6, "x"), 4).status == HTTPStatus.UNPROCESSABLE_ENTITY
    assert hand_over(witness, leaves_of(6), 4).status == HTTPStatus.OK
    file.close()
