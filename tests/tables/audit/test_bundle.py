"""Audit bundles: an honest one holds wherever it is verified, and whatever somebody changed in one is named."""

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.core.management import CommandError, call_command

from ledger.proof import seals
from tables.audit.outside import verifier, zipapp
from tables.audit.outside.bundle import MANIFEST, Wrong, book_part, leaves_part
from tests.tables.audit.sealed_days import refusal, verified
from tests.tables.bundles import (
    BOOKS,
    KEYED,
    OF_THE_HOUSE,
    ONE,
    POT,
    TWO,
    Evidence,
    Forger,
    document_of,
    line_of,
)

pytestmark = pytest.mark.django_db

DAY, NEXT = ONE.isoformat(), TWO.isoformat()


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("application") / "verifier.pyz"
    zipapp.build(path)
    return path


BLOCKED = """
import runpy, sys
class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"django", "celery", "psycopg", "redis", "rest_framework", "casino"}:
            raise ImportError(name + " is not to be had here")
sys.meta_path.insert(0, Nothing())
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def by_itself(application: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """The verifier as an auditor runs it: one file, isolated, where Django cannot be imported."""
    command = [sys.executable, "-I", "-c", BLOCKED, str(application), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=application.parent, env={}, check=False)


# --- honest bundles --------------------------------------------------------------------------------------------


def test_an_honest_day_holds_by_one_file_without_django(evidence: Evidence, application: Path) -> None:
    """Harm prevented: a proof that only the house's own machine can make."""
    run = by_itself(application, evidence.first, "--key", evidence.public)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "HOLDS" in run.stdout
    for name in BOOKS:
        assert f"holds  {name}: " in run.stdout
    assert "the key that you trust" in run.stdout


def test_a_day_is_proved_from_what_the_day_before_left(evidence: Evidence) -> None:
    """Harm prevented: a proof that needs all history, or that believes where a day began."""
    text = "\n".join(verified(evidence.second, key=evidence.public, others=[evidence.first]))

    assert "openings of a house shoe's order" in text
    assert "first.zip: its 1 days are the same ones" in text
    assert "trees of 2 days" in "\n".join(verified(evidence.both))


# --- forged bundles --------------------------------------------------------------------------------------------


@pytest.fixture
def forge(evidence: Evidence, tmp_path: Path) -> Callable[..., str]:
    """Forge a bundle, and say what the verifier finds in it."""

    def forged(change: Callable[[Forger, Evidence], None], bundle: str = "first", **options: Any) -> str:
        forger = Forger(getattr(evidence, bundle))
        change(forger, evidence)
        return str(refusal(forger.write(tmp_path / "forged.zip"), **options))

    return forged


Forgery = Callable[[Forger, Evidence], Any]


def change_leaves(change: Callable[[Any], Any]) -> Forgery:
    """Change a document of the day's first log."""

    def forge(forger: Forger, evidence: Evidence) -> None:
        leaves = forger.documents(leaves_part(DAY))
        change(leaves[0])
        forger.replace_part(leaves_part(DAY), leaves)

    return forge


def flip(forger: Forger, evidence: Evidence) -> None:
    lines = forger.part(KEYED, "entries")
    lines[9] = lines[9][:-20] + bytes([lines[9][-20] ^ 1]) + lines[9][-19:]


def amount(forger: Forger, evidence: Evidence) -> None:
    forger.move(KEYED, forger.moving(KEYED, "stake"), 1, lambda row: row.__setitem__(8, row[8] + 500))


def day_root(forger: Forger, evidence: Evidence) -> None:
    lines = forger.documents("roots.jsonl")
    lines[0]["document"]["root"] = "00" * 32
    forger.replace_part("roots.jsonl", lines)


def other_rules(forger: Forger, evidence: Evidence) -> None:
    name = book_part(1, "carried")
    lines = forger.documents(name)
    document = document_of(lines[0]["body"].encode())
    document["content"]["after"]["options"]["decks"] = 8
    lines[0]["body"] = line_of(document).decode()
    forger.replace_part(name, lines)


def book_gone(forger: Forger, evidence: Evidence) -> None:
    forger.parts = {name: lines for name, lines in forger.parts.items() if not name.startswith("books/0002")}


FORGERIES: dict[str, tuple[Forgery, str, str, str]] = {
    "a flipped bit": (flip, "first", book_part(1, "entries"), f"{KEYED}, entry 10: its hash is not the hash of what"),
    "an entry gone": (
        lambda forger, _: forger.part(POT, "entries").pop(7), "first", book_part(3, "entries"), f"{POT}, entry 8: ",
    ),
    "the last entry gone": (
        lambda forger, _: forger.part(KEYED, "entries").pop(),
        "first", book_part(1, "entries"), "is missing: the book knows",
    ),
    "another amount": (amount, "first", book_part(1, "entries"), "its transfer 1 is"),
    "a transfer gone": (
        lambda forger, _: forger.drop_move(KEYED, forger.moving(KEYED, "stake"), 1),
        "first", book_part(1, "entries"), "transfers, ",
    ),
    "another root of a book": (
        change_leaves(lambda leaf: leaf.update(root="00" * 32)),
        "first", leaves_part(DAY), "do not make the root that was signed",
    ),
    "another root of the day": (day_root, "first", "roots.jsonl", f"the day {DAY} is not signed"),
    "another day before": (
        lambda forger, evidence: forger.sign_day(1, evidence.key, lambda document: document.update(root="00" * 32)),
        "second", "roots.jsonl", f"the day {NEXT} does not name the day before it",
    ),
    "other rules": (other_rules, "second", book_part(1, "carried"), f"is not in the root that was signed for {DAY}"),
    "forgotten rules": (
        lambda forger, _: forger.part(KEYED, "carried").pop(0),
        "second", book_part(1, "carried"), "it is missing, and the day rests on it",
    ),
    "a book gone": (book_gone, "first", book_part(2, "proofs"), "is missing"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_whoever_does_not_hold_the_key_is_found_out(forge: Callable[..., str], name: str) -> None:
    """Harm prevented: a bundle that was changed on its way, with a manifest that fits."""
    change, bundle, part, sentence = FORGERIES[name]
    fault = forge(change, bundle)
    assert (fault.startswith(part), sentence in fault) == (True, True), fault


# --- the house itself forges, and signs it ---------------------------------------------------------------------


def rewriting(book: str, subject: str, kind: str, change: Callable[[dict[str, Any]], Any]) -> Forgery:
    """Rewrite the first entry of a kind."""
    return lambda forger, _: forger.rewrite(book, forger.find(book, subject, kind), change)


def moving_more(book: str, find: Callable[[Forger], int], cents: int, leg: int = 1) -> Forgery:
    """Move more chips or cash with an entry, in the log and in the ledger."""

    def forge(forger: Forger, evidence: Evidence) -> None:
        seq = find(forger)

        def move_more(document: dict[str, Any]) -> None:
            document["moves"][leg - 1][3] += cents

        forger.rewrite(book, seq, move_more)
        forger.move(book, seq, leg, lambda row: row.__setitem__(8, row[8] + cents))

    return forge


def impossible_card(forger: Forger, evidence: Evidence) -> None:
    seq = forger.find(KEYED, "round", "play", actions=[{"do": "close_bets"}]) + 1
    forger.rewrite(KEYED, seq, lambda document: document["content"]["actions"][0].update(rank=11))


def unheard_of(forger: Forger, evidence: Evidence) -> None:
    seq = forger.find(POT, "seats", "buy_in")
    forger.rewrite(POT, seq, lambda document: document["moves"][0].__setitem__(0, "tip"))
    forger.move(POT, seq, 1, lambda row: row.__setitem__(3, "tip"))


def stray_place(forger: Forger, evidence: Evidence) -> None:
    """The players of one table pay for another's."""
    seq, accounts = forger.moving(KEYED, "stake"), forger.leaf(DAY, OF_THE_HOUSE)["accounts"]
    foreign = next(account for account, place, _, _ in accounts if place == "players")
    forger.rewrite(KEYED, seq, lambda document: document["moves"][0].__setitem__(1, f"players#{foreign}"))
    forger.move(KEYED, seq, 1, lambda row: row.__setitem__(4, foreign))


def other_number(forger: Forger, evidence: Evidence) -> None:
    """An opener that was, under another number, so that one of them is gone."""
    bodies = forger.bodies(OF_THE_HOUSE)
    old = next(body for body in bodies if body["kind"] == "opener_counted")["content"]["slip"]
    series, year, number = old.split("/")
    text = json.dumps(bodies).replace(old, f"{series}/{year}/9")
    bodies = json.loads(text)
    for body in bodies:
        if body["subject"] == "slip":
            for slip in (body["content"]["now"], *body["content"]["open"]):
                slip["number"] = 9 if slip["series"] == series else slip["number"]
    assert number != "9"
    forger.chain(OF_THE_HOUSE, bodies)
    leaves = json.loads(json.dumps(forger.documents(leaves_part(DAY))).replace(old, f"{series}/{year}/9"))
    forger.replace_part(leaves_part(DAY), leaves)


def untold_slip(forger: Forger, evidence: Evidence) -> None:
    leaves = forger.documents(leaves_part(DAY))
    leaves[1]["slips"].pop(0)
    forger.replace_part(leaves_part(DAY), leaves)


def approved_alone(forger: Forger, evidence: Evidence) -> None:
    """Chips leave the vault by the cashier who asked for them."""
    seq = forger.find("house", "slip", "withdrawal_approved")
    request = forger.part("house", "carried")[-1]
    asker = document_of(json.loads(request)["body"].encode())["content"]

    def alone(document: dict[str, Any]) -> None:
        document["content"] |= {name: asker[name] for name in ("username", "name", "badge", "role")}
        document["by"] = f"{asker['badge']} {asker['name']}"

    forger.rewrite("house", seq, alone)


def more_in_the_rack(leaf: dict[str, Any]) -> None:
    account = next(row for row in leaf["accounts"] if row[1] == "rack")
    account[3] += 100


def rest_on_less(forger: Forger, evidence: Evidence) -> None:
    """The next day would not know that the limits were changed."""
    change_seq = forger.find(KEYED, "table", "settings_changed", after={"max_cents": 20_000})
    change_leaves(lambda leaf: leaf["carried"].remove(change_seq))(forger, evidence)


def dated_later(forger: Forger, evidence: Evidence) -> None:
    last_seq = forger.bodies(KEYED)[-1]["seq"]
    forger.rewrite(KEYED, last_seq, lambda document: document.update(at=f"{NEXT}T08:00:00.000000Z"))


def another_card(forger: Forger, evidence: Evidence) -> None:
    """Of the cards that the house shoe had left, one that was never dealt, in another place."""
    seq = forger.find(OF_THE_HOUSE, "shoe", "retired")

    def swap_two(document: dict[str, Any]) -> None:
        order = document["content"]["opened"]["order"]
        place = next(place for place in range(len(order) - 1, 0, -1) if order[place] != order[place - 1])
        order[place], order[place - 1] = order[place - 1], order[place]

    forger.rewrite(OF_THE_HOUSE, seq, swap_two)


SEALED_FORGERIES: dict[str, tuple[Forgery, str, str, str]] = {
    "a table left out of a count of the cage": (
        rewriting("house", "slip", "cage_recounted", lambda body: body["content"]["through"].update({OF_THE_HOUSE: 2})),
        "first", book_part(4, "entries"), "in the cage, the transfers of all books left",
    ),
    "less cash for chips that were sold": (
        moving_more("house", lambda forger: forger.find("house", "chips", "sold", amount_cents=30_000), -500, leg=2),
        "first", book_part(4, "entries"), "its transfer 2 is",
    ),
    "an impossible card": (impossible_card, "first", book_part(1, "entries"), "the rules do not allow it"),
    "other limits": (
        rewriting(KEYED, "table", "settings_changed", lambda body: body["content"]["after"].update(max_cents=99_000)),
        "first", book_part(1, "entries"), "the opening that its round pins are not those that were in force",
    ),
    "an unknown movement": (unheard_of, "first", book_part(3, "entries"), "not on the list of movements"),
    "a place of another book": (stray_place, "first", book_part(1, "entries"), f"is no players of {KEYED}"),
    "more paid from a pot": (
        moving_more(POT, lambda forger: forger.moving(POT, "pay_pot"), 100),
        "first", book_part(3, "entries"), "payouts make it",
    ),
    "another number of a slip": (other_number, "first", "roots.jsonl", "its slips are numbered up to"),
    "a slip that the leaf omits": (untold_slip, "first", book_part(2, "entries"), "it begins the slip fill/"),
    "more in the rack": (
        change_leaves(more_in_the_rack), "first", leaves_part(DAY), "the transfers make it",
    ),
    "an entry that is not carried": (
        rest_on_less, "first", leaves_part(DAY), "what the day after rests on tells it otherwise",
    ),
    "a later date": (dated_later, "first", book_part(1, "entries"), f"after the end of {DAY}"),
    "another order of a shoe": (another_card, "second", book_part(2, "entries"), "order and nonce are not those"),
    "a correction signed by its proposer": (
        rewriting(KEYED, "correction", "signed", lambda body: body["content"].update(
            username=body["content"]["correction"]["proposed_by"])),
        "second", book_part(1, "entries"), "its two signatures are not of two people",
    ),
    "a correction signed by another person than it names": (
        rewriting(KEYED, "correction", "signed", lambda body: body.update(by="999 Ghost")),
        "second", book_part(1, "entries"), "and 999 Ghost wrote it",
    ),
    "a correction signed by a cashier": (
        rewriting(KEYED, "correction", "signed", lambda body: body["content"].update(role="cashier")),
        "second", book_part(1, "entries"), "this step is signed by a pit boss, not by",
    ),
    "another correction than was proposed": (
        rewriting(KEYED, "correction", "signed", lambda body: body["content"]["correction"].update(reason="Another")),
        "second", book_part(1, "entries"), "could not be signed then",
    ),
    "a withdrawal approved by its cashier": (
        approved_alone, "second", book_part(4, "entries"), "it could not be signed then",
    ),
    "more reversed than was moved": (
        moving_more(OF_THE_HOUSE, lambda forger: forger.find(OF_THE_HOUSE, "slip", "credit_voided"), 500),
        "second", book_part(2, "entries"), "which is another, or was reversed before",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SEALED_FORGERIES)
def test_even_the_casino_cannot_sign_entries_that_break_the_rules(forge: Callable[..., str], name: str) -> None:
    """Harm: a casino forges its own log, hashes it again and seals it with its true key; or only a verifier that
    remembers the signatures of the day before names the forgery."""
    change, bundle, part, sentence = SEALED_FORGERIES[name]

    def sealed(forger: Forger, evidence: Evidence) -> None:
        change(forger, evidence)
        forger.seal(evidence.key)

    fault = forge(sealed, bundle)
    assert (fault.startswith(part), sentence in fault) == (True, True), fault


# --- keys and histories ----------------------------------------------------------------------------------------


def test_days_join_without_a_gap(evidence: Evidence, tmp_path: Path) -> None:
    """Harm prevented: an hour between two days, of which nobody has to show anything."""
    forger = Forger(evidence.second)
    forger.sign_day(2, evidence.key, lambda document: document.update(begins=document["ends"]))
    with pytest.raises(Wrong, match="does not begin where the day before it ended"):
        verified(forger.write(tmp_path / "gap.zip"))


def test_a_replaced_key_is_found_by_the_key_from_outside(
    forge: Callable[..., str], evidence: Evidence, tmp_path: Path
) -> None:
    """Harm: a whole new history has valid signatures under a new key; or an auditor without a key from outside trusts
    such a signature as proof."""
    stranger = seals.make_key(tmp_path / "other.pem")
    forger = Forger(evidence.first)
    forger.seal(stranger)
    path = forger.write(tmp_path / "replaced.zip")
    assert any(line.startswith("note   no key was given from outside") for line in verified(path))
    with pytest.raises(Wrong, match="is not among those that the house signed with"):
        verified(path, key=evidence.public)


def test_a_history_written_anew_with_the_true_key_is_found_by_an_older_bundle(
    evidence: Evidence, tmp_path: Path
) -> None:
    """Harm prevented: the house itself writes the past anew, consistently, and signs all of it again."""
    forger = Forger(evidence.first)
    notice = next(body for body in forger.bodies("house") if "message" in body["content"])
    forger.rewrite("house", notice["seq"], lambda document: document["content"].update(message="it was otherwise"))
    forger.seal(evidence.key)
    path = forger.write(tmp_path / "anew.zip")
    verified(path, key=evidence.public)
    with pytest.raises(Wrong, match=r"is not the one in second\.zip: history was written anew"):
        verified(path, key=evidence.public, others=[evidence.second])


def test_a_key_that_was_rotated_is_vouched_for_by_the_old_one(evidence: Evidence, tmp_path: Path) -> None:
    """Harm prevented: a change of keys after which nobody can tell the house from somebody else."""
    new, stranger = seals.make_key(tmp_path / "new.pem"), seals.make_key(tmp_path / "stranger.pem")
    statement = seals.rotation(evidence.public, seals.public_of(new))
    for signer, is_vouched in ((evidence.key, True), (stranger, False)):
        forger = Forger(evidence.first)
        rotated = {"key": seals.public_of(new), "rotation": statement, "signature": seals.sign(signer, statement).hex()}
        forger.replace_part("keys.jsonl", [{"key": evidence.public}, rotated])
        forger.sign_day(1, new, lambda document: document.update(key=seals.public_of(new)))
        path = forger.write(tmp_path / "rotated.zip")
        if is_vouched:
            assert any("2 keys" in line for line in verified(path, key=evidence.public))
        else:
            with pytest.raises(Wrong, match="is not signed by the one before it"):
                verified(path, key=evidence.public)


def test_a_key_that_was_lost_vouches_for_none_after_it(evidence: Evidence, tmp_path: Path) -> None:
    """Harm prevented: whoever says that the key was lost signs from then on, and nobody asks."""
    new = seals.make_key(tmp_path / "new.pem")
    forger = Forger(evidence.first)
    forger.replace_part(
        "keys.jsonl", [{"key": evidence.public}, {"key": seals.public_of(new), "reason": "the disk broke"}]
    )
    forger.sign_day(1, new, lambda document: document.update(key=seals.public_of(new)))
    path = forger.write(tmp_path / "lost.zip")
    with pytest.raises(Wrong, match="was lost and signed no later one"):
        verified(path, key=evidence.public)
    lines = verified(path, key=seals.public_of(new))
    assert any(line.startswith("note") and "the disk broke" in line for line in lines)


# --- broken files ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keep", [0, 0.99])
def test_a_truncated_file_is_named(evidence: Evidence, tmp_path: Path, keep: float) -> None:
    """Harm prevented: a transfer that broke off, taken for a proof or for a crash."""
    whole = evidence.first.read_bytes()
    path = tmp_path / "truncated.zip"
    path.write_bytes(whole[: int(keep * len(whole))])
    with pytest.raises(Wrong, match="it is no whole zip file"):
        verified(path)


def test_every_byte_counts(evidence: Evidence, tmp_path: Path) -> None:
    """Harm prevented: a place in the file that nothing looks at."""
    whole = bytearray(evidence.first.read_bytes())
    for offset in range(0, len(whole), len(whole) // 12):
        changed = whole.copy()
        changed[offset] ^= 0xFF
        path = tmp_path / "changed.zip"
        path.write_bytes(changed)
        try:
            verified(path)
        except Wrong:
            continue
        assert Forger(path).parts == Forger(evidence.first).parts


def test_a_part_that_the_manifest_does_not_list_is_named(evidence: Evidence, tmp_path: Path) -> None:
    """Harm: a part added to a bundle looks like evidence."""
    path = tmp_path / "more.zip"
    path.write_bytes(evidence.first.read_bytes())
    with ZipFile(path, "a") as bundle:
        bundle.writestr("books/0009/entries.jsonl", "")
    with pytest.raises(Wrong, match="is in the bundle, and not in its manifest"):
        verified(path)


def test_an_unreferenced_part_is_named(evidence: Evidence, tmp_path: Path) -> None:
    """Harm: a part that the manifest lists looks like evidence, although no proof reads it."""
    forger = Forger(evidence.first)
    forger.parts["books/0009/entries.jsonl"] = []
    with pytest.raises(Wrong, match="nothing in the bundle refers to it"):
        verified(forger.write(tmp_path / "more.zip"))


def test_a_newer_format_is_not_guessed_at(evidence: Evidence, tmp_path: Path) -> None:
    """Harm prevented: an old verifier that finds faults in a new bundle, or none."""
    path = tmp_path / "newer.zip"
    with ZipFile(path, "w") as bundle:
        bundle.writestr(MANIFEST, '{"format":"audit-bundle/9"}\n')
    with pytest.raises(Wrong, match="a newer one may be needed"):
        verified(path)


def test_the_exit_code_and_the_last_line_tell(evidence: Evidence, application: Path, tmp_path: Path) -> None:
    """Harm prevented: a script that takes a fault for a proof."""
    forger = Forger(evidence.first)
    flip(forger, evidence)
    forged = by_itself(application, forger.write(tmp_path / "forged.zip"))
    assert forged.returncode == 1
    assert forged.stdout.splitlines()[-1].startswith(f"DOES NOT HOLD  {book_part(1, 'entries')}: {KEYED}, entry 10: ")
    assert verifier.main([str(evidence.first), "--key", "nonsense"]) == 2
    assert "Traceback" not in forged.stderr


# --- the command -----------------------------------------------------------------------------------------------


def test_the_command_exports_and_verifies(
    evidence: Evidence, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Harm: a command writes half a bundle or exports an unsealed day; or two bundles of one day cannot be compared."""
    path = tmp_path / "day.zip"
    call_command("audit", "export", "--day", DAY, "--out", str(path))
    assert path.read_bytes() == evidence.first.read_bytes()
    call_command("audit", "verify", str(path), "--key", evidence.public)
    assert "HOLDS" in capsys.readouterr().out
    call_command("audit", "verifier", str(tmp_path / "verifier.pyz"))
    assert by_itself(tmp_path / "verifier.pyz", path).returncode == 0
    with pytest.raises(CommandError, match="those that are sealed are"):
        call_command("audit", "export", "--day", (TWO + timedelta(days=1)).isoformat(), "--out", str(tmp_path / "no"))
    assert not list(tmp_path.glob("no*"))
