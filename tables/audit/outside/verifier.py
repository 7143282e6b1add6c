"""Verifies an audit bundle: signatures, the chain of days, each entry, each round, each sum. Pure.

Needs no database and no Django: `manage.py audit verifier` packs it into one file that runs with Python, msgspec and
cryptography alone. The checks and their order are in docs/audit-bundle.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import msgspec

from ledger.proof import merkle, p256, seals
from ledger.proof.chips import called, short_places
from ledger.proof.note import BadNote, VerifierKey
from ledger.proof.seals import BadKey
from ledger.proof.spelling import canonical, timestamp
from tables.audit.outside.book_proof import HOUSE, Act, BookProof, Document, Say, SignedParts, short
from tables.audit.outside.bundle import KEYS, ROOTS, Bundle, Wrong, leaves_part, printable
from tables.audit.outside.cage_counts import SLACK, SecondCount, TablePart
from tables.audit.outside.witnessed import Witnessed
from tables.log import moments
from tables.log import pit_assignments as posts_rule
from tables.log.event import AuditFailure
from tables.log.pit_assignments import Posts
from tables.log.state import UNREADABLE
from tables.log.trusted_keys import Counters


def verify(
    path: Path,
    *,
    key: str | None = None,
    others: Sequence[Path] = (),
    terminal_roots: Sequence[str] = (),
    witnesses: Sequence[str] = (),
    witness_keys: Sequence[VerifierKey] = (),
    say: Say = print,
) -> None:
    """Verify a bundle completely and report each check through ``say``. Raises Wrong at the first fault.

    ``key``: the site's public key, known independently. ``others``: bundles received before. ``terminal_roots``:
    fingerprints of root keys on paper. ``witnesses``: files or addresses of witnesses; ``witness_keys``: their keys.
    """
    with Bundle(path) as bundle:
        damage = bundle.damaged()
        try:
            house = _Verifier(bundle, lambda sentence: say(printable(sentence)))
            house.run(key, others, terminal_roots)
            house.check_witnesses(witnesses, witness_keys)
        except Wrong as wrong:
            # The first fault may be a consequence of a damaged part, so both are named.
            if damage and damage[0].part != wrong.part:
                raise Wrong(wrong.part, f"{wrong.what}; and {damage[0]}") from None
            raise
        except UNREADABLE as error:
            raise Wrong(path.name, f"it is no bundle that a house can write: {short(error)}") from None
        if damage := damage or bundle.unread():
            raise damage[0]
        say(f"holds  the manifest: {len(bundle.manifest['parts'])} parts, each as it was written")


@dataclass(frozen=True, slots=True)
class Outline:
    """The days that a bundle claims, verified by signatures alone: its entries are not verified yet."""

    first: str
    last: str
    chain: Sequence[Document]
    """The documents of all days from the site's first to the bundle's last."""

    @property
    def days(self) -> list[Document]:
        """The documents of the bundle's own days."""
        return [document for document in self.chain if self.first <= document["day"] <= self.last]


def outline(path: Path, *, key: str) -> Outline:
    """The days of a bundle, signed by a site whose key is trusted. Raises Wrong.

    It costs one signature check per day and reads no entries.
    """
    with Bundle(path) as bundle:
        try:
            chain = _Verifier(bundle, lambda _: None).signed_days(key)
        except UNREADABLE as error:
            raise Wrong(path.name, f"it is no bundle that a house can write: {short(error)}") from None
        first, last = bundle.days
        days = [document["day"] for document in chain if first <= document["day"] <= last]
        if not days or (days[0], days[-1], chain[-1]["day"]) != (first, last, last):
            raise Wrong(ROOTS, f"its days do not reach from {first} to {last}, as the manifest says")
        return Outline(first, last, chain)


class _Verifier:
    """One verification of one bundle."""

    def __init__(self, bundle: Bundle, say: Say) -> None:
        self.bundle = bundle
        self.say = say
        self.days: dict[str, Document] = {}
        self.keys: list[Document] = []
        self.leaves: dict[str, dict[str, Document]] = {}

    def run(self, key: str | None, others: Sequence[Path], terminal_roots: Sequence[str]) -> None:
        chain = self.signed_days(key)
        for other in others:
            self._compare(chain, other)
        self._take_leaves(chain)
        last = list(self.leaves[self.bundle.days[1]])
        signed = SignedParts(self.bundle, self.say, self.keys, self.days, self.leaves)
        books = {name: BookProof(signed, number, name) for number, name in enumerate(last, 1)}
        for book in books.values():
            book.run()
        self._cage(books)
        self._terminals(books, terminal_roots)
        self._posts(books)
        for day in self._range(chain):
            for place, cents in _shortfalls(self.leaves[day].values()):
                self.say(f"note   {day}: all books leave {cents} cents in {place}: what came there is not told")
            self._slips(chain, day)
        self.say(f"holds  the whole house: the chips and the cash of {len(last)} books add up to nothing, each day")

    def signed_days(self, key: str | None) -> list[Document]:
        """The documents of all days since the first, each signed and chained to the one before. Raises Wrong."""
        self.keys = _keys(self.bundle)
        chain = _chain(self.bundle, [document["key"] for document in self.keys])
        self.days = {document["day"]: document for document in chain}
        self._trust(key, chain)
        return chain

    def check_witnesses(self, witnesses: Sequence[str], keys: Sequence[VerifierKey]) -> None:
        """Compare these days with the records of outside witnesses. Raises Wrong."""
        before, last = next(iter(self.leaves.values())), self.leaves[self.bundle.days[1]]
        chain = list(self.days.values())
        Witnessed(self.bundle, chain, last, before, keys, self.say).run(witnesses)

    # --- who signed

    def _trust(self, key: str | None, chain: Sequence[Document]) -> None:
        keys = [document["key"] for document in self.keys]
        count = len(keys)
        names = f"{count} key{'s' * (count > 1)}"
        self.say(f"holds  the chain of days: {len(chain)} from {chain[0]['day']} to {chain[-1]['day']}, {names}")
        replacements = [place for place, document in enumerate(self.keys) if document.get("reason")]
        for place in replacements:
            self.say(f"note   the key {keys[place]} is not signed by the one before it: {self.keys[place]['reason']}")
        if key is None:
            self.say(f"note   no key was given from outside: all that follows is as good as the key {keys[-1]}")
            return
        if key not in keys:
            raise Wrong(KEYS, f"the key that you trust, {key}, is not among those that the house signed with")
        signer = chain[-1]["key"]
        # A replaced key has no signature of the old one: trust in an older key does not reach it.
        if any(keys.index(key) < place <= keys.index(signer) for place in replacements):
            raise Wrong(
                KEYS, f"the key that you trust, {key}, was lost and signed no later one: ask the house for its own"
            )
        if keys.index(signer) < keys.index(key):
            raise Wrong(ROOTS, f"its last day is signed by {signer}, which is older than the key that you trust")
        self.say("holds  the key that you trust: the last day is signed by it, or by one that it vouched for")

    def _compare(self, chain: Sequence[Document], other: Path) -> None:
        with Bundle(other) as bundle:
            theirs = [line["document"] for line in bundle.documents(ROOTS)]
        if not theirs:
            raise Wrong(ROOTS, f"{other.name} has no day to hold it against")
        # The older bundle ends earlier: the common days must be equal.
        for ours, noted_day in zip(chain, theirs, strict=False):
            if canonical(ours) != canonical(noted_day):
                raise Wrong(ROOTS, f"the day {ours['day']} is not the one in {other.name}: history was written anew")
        self.say(f"holds  {other.name}: its {min(len(chain), len(theirs))} days are the same ones")

    # --- terminals

    def _terminals(self, books: Mapping[str, BookProof], listed: Sequence[str]) -> None:
        """Check that each signature of a terminal or passkey is by a key trusted at that time, and that none is
        missing. Raises Wrong."""
        if HOUSE not in books:
            return
        trust, counters = books[HOUSE].trust, Counters()
        if listed and (unlisted := trust.unlisted(listed)):
            key = unlisted[0]
            says = f"the key {key.fingerprint} of {key.terminal} is a root, and not among those that you have on paper"
            raise Wrong(books[HOUSE].part, f"{HOUSE}, entry {key.seq}: {says}")
        for name, book in books.items():
            for signature in book.signatures:
                try:
                    trust.refuse(signature.event, book=name, seq=signature.seq, by=signature.by, key=signature.key)
                    counters.follow(signature.event, name)
                except AuditFailure as wrong:
                    raise Wrong(book.part, f"{name}, entry {signature.seq}: {wrong}") from None
        self._refuse_twice(books)
        every = [signature.event.attested for book in books.values() for signature in book.signatures]
        if trust.keys:
            terminals = sum(attestation is not None and attestation.is_by_terminal for attestation in every)
            self.say(f"holds  the terminals: {terminals} of {len(every)} signatures carry one by a key that is trusted")
        if trust.passkeys:
            passkeys = sum(attestation is not None and attestation.passkey is not None for attestation in every)
            self.say(f"holds  the passkeys: {passkeys} of {len(every)} signatures carry one by a passkey of who signed")
        if not listed:
            for key in trust.roots:
                self.say(f"note   {key.terminal} has a root key, {key.fingerprint}: hold it against the house's paper")

    def _refuse_twice(self, books: Mapping[str, BookProof]) -> None:
        """Raise Wrong if two entries of a log have a terminal's signature of one input: its key is used once per
        log."""
        for name, book in books.items():
            keys = [signature.key for signature in book.signatures if signature.event.attested and signature.key]
            # A copied signature would be valid for a second entry with equal content.
            if len(set(keys)) < len(keys):
                twice = next(key for place, key in enumerate(keys) if key in keys[:place])
                raise Wrong(book.part, f"{name}: two entries carry the signature of one input, {twice}")

    # --- posts

    def _posts(self, books: Mapping[str, BookProof]) -> None:
        """Check that each floor supervisor acted in an assigned pit. Raises Wrong.

        Policies that permit acting without an assignment are not in a bundle.
        """
        if HOUSE not in books or not books[HOUSE].posts.floors:
            return
        count = 0
        for name, book in books.items():
            for act in book.acts:
                try:
                    count += self._check_act(act, name, books[HOUSE].posts)
                except AuditFailure as wrong:
                    raise Wrong(book.part, f"{name}, entry {act.seq}: {wrong}") from None
        self.say(f"holds  the posts: {count} acts of those who run the floor, each in a pit that was theirs")

    def _check_act(self, act: Act, book: str, posts: Posts) -> int:
        """Check one act. Returns the number of supervisors who acted. Raises AuditFailure."""
        runners = list(posts_rule.runners(act.event, act.by, act.dealer, posts))
        for table in posts_rule.tables_of(act.event) or (book,):
            posts_rule.refuse(posts, runners, table, act.at)
        return len(runners)

    # --- the cage

    def _cage(self, books: Mapping[str, BookProof]) -> None:
        """Check that each count of the cage or of cash expected the balance of all logs, as far as each had been read.
        Raises Wrong."""
        if HOUSE not in books:
            return
        house, tables = books[HOUSE], {name: book.at_the_cage for name, book in books.items() if name != HOUSE}
        for count in house.cage_counts:
            try:
                self._check_count(count, tables)
            except AuditFailure as wrong:
                raise Wrong(house.part, f"{HOUSE}, entry {count.seq}: {wrong}") from None
        if house.cage_counts:
            self.say(f"holds  the cage: {len(house.cage_counts)} counts expected what every book had left there")

    def _check_count(self, count: SecondCount, tables: Mapping[str, TablePart]) -> None:
        balance = count.own_cents + sum(part.left_cents(name, count) for name, part in tables.items())
        beyond = [name for name, part in tables.items() if not part.reaches(name, count)]
        if beyond and self._near_an_end(count):
            self.say(
                f"note   {HOUSE}, entry {count.seq}: it counts the cage about a day's end, after {beyond[0]}'s part"
            )
        elif beyond:
            raise AuditFailure(
                f"it counts the cage, and {beyond[0]} has no entry {count.through.get(beyond[0], 0)} then"
            )
        elif balance != count.expected_cents:
            where = called(count.place)
            raise AuditFailure(
                f"it expects {count.expected_cents} in the {where}, the transfers of all books left {balance}"
            )

    def _near_an_end(self, count: SecondCount) -> bool:
        """Whether a count was so near to the bundle's begin or end that a table's clock may have had another day."""
        if count.moment is None:
            return True
        first, last = (self.days[day] for day in self.bundle.days)
        return not first["begins"] <= timestamp(count.moment - SLACK) < timestamp(count.moment + SLACK) < last["ends"]

    # --- slips

    def _slips(self, chain: Sequence[Document], day: str) -> None:
        """Check that slips are numbered without gaps or duplicates over all logs. A slip from around a day's end may be
        in the next day's log, but in no later one. Raises Wrong."""
        document = self.days[day]
        before = chain[document["number"] - 2]["slips"] if document["number"] > 1 else []
        slips = [slip for leaf in self.leaves[day].values() for _, slip in leaf["slips"]]
        due, wrong = seals.numbered(before, slips)
        if wrong:
            raise Wrong(ROOTS, f"{day}: {wrong}")
        if due != document["slips"]:
            raise Wrong(ROOTS, f"{day}: its slips are numbered up to {document['slips']}, its log makes it {due}")

    # --- the days' trees

    def _range(self, chain: Sequence[Document]) -> list[str]:
        first, last = self.bundle.days
        return [document["day"] for document in chain if first <= document["day"] <= last]

    def _take_leaves(self, chain: Sequence[Document]) -> None:
        """Read the leaves of the bundle's days and of the day before: each day's root, and no log lost from one day to
        the next. Raises Wrong."""
        days = self._range(chain)
        first, last = self.bundle.days
        if not days or (days[0], days[-1]) != (first, last) or chain[-1]["day"] != last:
            raise Wrong(ROOTS, f"its days do not reach from {first} to {last}, as the manifest says")
        before = self.days[first]["number"] - 1
        for day in ([chain[before - 1]["day"]] if before else []) + days:
            self.leaves[day] = self._tree(day)
        if not before:
            self.leaves = {"": {}} | self.leaves
        for (_, earlier), (day, later) in pairwise(self.leaves.items()):
            # Each day's tree is valid by itself, so a log that vanished shows only from one day to the next.
            if lost_books := earlier.keys() - later.keys():
                raise Wrong(leaves_part(day), f"the book {min(lost_books)} is missing, which was there the day before")
        self.say(f"holds  the trees of {len(days)} day{'s' * (len(days) > 1)}: each root is the one that was signed")

    def _tree(self, day: str) -> dict[str, Document]:
        part = leaves_part(day)
        # One line more than signed is read at most: a hostile part could be endless.
        lines = list(islice(self.bundle.lines(part), self.days[day]["books"] + 1))
        if merkle.root(lines).hex() != self.days[day]["root"] or len(lines) != self.days[day]["books"]:
            raise Wrong(part, "its leaves do not make the root that was signed")
        leaves: dict[str, Document] = {}
        for line in lines:
            document = _document(part, line)
            if document.get("format") != seals.BOOK_ROOT or document["day"] != day or canonical(document) != line:
                raise Wrong(part, "a leaf of it is no book's document of that day")
            leaves[str(document["book"])] = document
        if list(leaves) != sorted(leaves) or len(leaves) != len(lines):
            raise Wrong(part, "its leaves are not in the order of the books' names, each once")
        return leaves


# --- keys and days ---------------------------------------------------------------------------------------------


def _keys(bundle: Bundle) -> list[Document]:
    """The site's keys in order, each signed by the one before. Raises Wrong."""
    keys = list(bundle.documents(KEYS))
    if not keys:
        raise Wrong(KEYS, "it names no key")
    for old, new in pairwise(keys):
        if new.get("reason"):
            continue  # the old key was lost: only who trusts this one, or a later one, may go on
        statement = seals.rotation(old["key"], new["key"])
        signature = bytes.fromhex(new.get("signature", ""))
        if new.get("rotation") != statement or not seals.is_signed(old["key"], signature, statement):
            raise Wrong(KEYS, f"the key {new['key']} is not signed by the one before it")
    return keys


def _chain(bundle: Bundle, keys: Sequence[str]) -> list[Document]:
    """The documents of all days: numbered, consecutive, signed, and chained to the one before. Raises Wrong."""
    chain: list[Document] = []
    current = 0
    for line in bundle.documents(ROOTS):
        document, day = line["document"], line["document"]["day"]
        _refuse_no_time(document)
        if not seals.is_signed(document["key"], bytes.fromhex(line["signature"]), document):
            raise Wrong(ROOTS, f"the day {day} is not signed by the key that it names")
        # Keys advance only: a stolen old key must not sign later days.
        if document["key"] not in keys[current:]:
            raise Wrong(ROOTS, f"the day {day} is signed by a key that was not the house's then")
        current = keys.index(document["key"])
        before = chain[-1] if chain else None
        if document["format"] != seals.DAY_ROOT or document["number"] != len(chain) + 1:
            raise Wrong(ROOTS, f"the day {day} is not day {len(chain) + 1}")
        # The chain of hashes makes each later day evidence for all earlier ones.
        if document["previous"] != (seals.hash_of(before) if before else None):
            raise Wrong(ROOTS, f"the day {day} does not name the day before it: one of the two was written anew")
        if before and date.fromisoformat(before["day"]) + timedelta(days=1) != date.fromisoformat(day):
            raise Wrong(ROOTS, f"the day {day} does not follow {before['day']}")
        # Days without gaps or overlaps: otherwise entries could be in no day, or in two.
        if not (before["ends"] if before else document["begins"]) == document["begins"] < document["ends"]:
            raise Wrong(ROOTS, f"the day {day} does not begin where the day before it ended, or has no time")
        chain.append(document)
    if not chain:
        raise Wrong(ROOTS, "it has no day")
    return chain


def _refuse_no_time(document: Document) -> None:
    """Refuse a day or a time that is not in canonical form, because days are compared as text, or that is outside of
    the years that each time zone can represent. Raises Wrong, or one of UNREADABLE."""
    day, spelled = document["day"], (document["begins"], document["ends"])
    read_day, read = date.fromisoformat(day), tuple(map(datetime.fromisoformat, spelled))
    if read_day.isoformat() != day or tuple(map(timestamp, read)) != spelled:
        raise Wrong(ROOTS, f"the day {day} or a moment of it is not spelled as a house spells it")
    if not all(map(moments.is_possible, (read_day, *read))):
        raise Wrong(ROOTS, f"the day {day} or a moment of it is not {moments.YEARS}")


def _shortfalls(leaves: Iterable[Document]) -> list[tuple[str, int]]:
    """The places whose balance at a day's end is negative over all logs, with the amount in cents."""
    totals: dict[str, int] = {}
    for leaf in leaves:
        for _, place, _, cents in leaf["accounts"]:
            totals[place] = totals.get(place, 0) + cents
    return short_places(totals)


def _document(part: str, line: bytes) -> dict[str, Any]:
    try:
        document = msgspec.json.decode(line)
    except msgspec.MsgspecError:
        document = None
    if not isinstance(document, dict):
        raise Wrong(part, "a line of it is no document")
    return document


# --- the command -----------------------------------------------------------------------------------------------


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the arguments of the stand-alone verifier and of `manage.py audit verify`."""
    parser.add_argument("bundle", type=Path, metavar="BUNDLE", help="the bundle to verify")
    parser.add_argument("--key", metavar="PUBKEY", help="the house's public key, as you know it from elsewhere")
    parser.add_argument(
        "--terminal-root",
        nargs="+",
        default=[],
        metavar="FINGERPRINT",
        help="the keys of terminals that the house has on paper: any other root does not hold",
    )
    parser.add_argument(
        "--roots", type=Path, nargs="+", default=[], metavar="BUNDLE", help="bundles you were given before"
    )
    parser.add_argument(
        "--witness",
        nargs="+",
        default=[],
        metavar="FILE_OR_URL",
        help="what witnesses outside saw: their files, addresses, or checkpoints that somebody kept",
    )
    parser.add_argument(
        "--witness-key", nargs="+", default=[], metavar="VKEY", help="the witnesses' keys, as you know them"
    )


def report(
    bundle: Path,
    *,
    key: str | None = None,
    roots: Sequence[Path] = (),
    terminal_root: Sequence[str] = (),
    witness: Sequence[str] = (),
    witness_key: Sequence[str] = (),
    say: Say = print,
) -> int:
    """Verify a bundle with the arguments of the command and report through ``say``. Returns the exit code: 0 verified,
    1 failed, 2 invalid arguments."""
    try:
        trusted = None if key is None else seals.read_public(key)
        listed = [p256.read_fingerprint(fingerprint) for fingerprint in terminal_root]
        witness_keys = [VerifierKey.parse(vkey) for vkey in witness_key]
    except (BadKey, BadNote, p256.BadKey) as wrong:
        say(str(wrong))
        return 2
    try:
        verify(
            bundle,
            key=trusted,
            others=roots,
            terminal_roots=listed,
            witnesses=witness,
            witness_keys=witness_keys,
            say=say,
        )
    except Wrong as wrong:
        say(f"DOES NOT HOLD  {wrong}")
        return 1
    say(f"HOLDS  {bundle.name}")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """The command of the stand-alone verifier; returns its exit code."""
    parser = argparse.ArgumentParser(prog="verifier", description="Verify an audit bundle of a casino's tables.")
    add_arguments(parser)
    options = parser.parse_args(arguments)
    return report(**vars(options))


if __name__ == "__main__":
    sys.exit(main())
