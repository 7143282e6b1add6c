"""Signatures that nobody gave: whoever has the application's database role can write them, and no proof believes it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4
from zipfile import ZipFile

import pytest
from django.core.management import call_command
from django.db import transaction
from django.test import override_settings
from msgspec import structs
from webauthn.helpers import bytes_to_base64url

from ledger import cage, log, site_log, slips
from ledger.log import Draft
from ledger.models import HOUSE, Alert, Book, LogEntry
from ledger.proof.slip_name import SlipName
from ledger.slips import Signing
from tables.audit import proofs
from tables.audit.outside import verifier
from tables.audit.outside.bundle import MANIFEST
from tables.floor import recorder, signature_checks
from tables.floor.inputs import BeginSlip, SignSlip, VoidSlip
from tables.log import attestation, slip_workflow
from tables.log.attestation import Attestation
from tables.log.catalog import read_as
from tables.log.entries.slips import SlipSigned, signed
from tables.log.entries.terminal_keys import SignaturesDemanded, TerminalKeyEnded, TerminalKeyMade, Vouch
from tables.log.event import AuditFailure
from tables.log.slip_workflow import Signature
from tables.log.trusted_keys import Trust
from tables.models import Staff, Table
from tables.refusals import Refused
from tables.roles import Role
from tables.staff import terminal_keys, terminals
from tables.state import table_state
from tests import floor
from tests.authenticator import ORIGIN, PRESENT, VERIFIED, Authenticator
from tests.floor import Hand
from tests.ready import ready_made
from tests.software_terminal import SoftwareTerminal, signs_on, terms
from tests.tables.audit.sealed_days import SealedDays, refusal, verified

pytestmark = [pytest.mark.django_db, pytest.mark.slow("signs slips for each test")]

STAGES = ("issued", "carried", "received", "confirmed")


@dataclass
class House:
    """A table that somebody deals, an operator, and two terminals that sign."""

    dealer: Hand
    operator: Staff
    cage: SoftwareTerminal
    tablet: SoftwareTerminal

    @property
    def table(self) -> Table:
        return self.dealer.table

    def signer(self, stage: str) -> Staff:
        """Who signs a step of a fill: the dealer at the table, or one of the crew."""
        return self.dealer.by if stage == "received" else floor.crew(stage)

    def fill(self, cents: int = 10_000, *, steps: int = 5) -> str:
        """A fill that is signed on the tablet, step by step."""
        begun = BeginSlip("fill", ((100, cents // 100),))
        signs_on(self.tablet, self.table, self.signer("requested"), begun)
        name = table_state.of(self.table).slips[-1].name
        for stage in STAGES[: steps - 1]:
            signs_on(self.tablet, self.table, self.signer(stage), SignSlip(name, stage))
        return name


def vouched_house() -> House:
    """The house, with a root and a terminal that it vouches for."""
    dealer, _ = floor.dealt()
    operator = floor.staff(Role.OPERATOR, "olga")
    cage_desk_terminal = SoftwareTerminal("Cage 1").enrolled(operator)
    tablet = SoftwareTerminal("Tablet").enrolled(operator)
    cage_desk_terminal.vouches(tablet, operator)
    return House(dealer, operator, cage_desk_terminal, tablet)


@pytest.fixture
@ready_made
def casino() -> House:
    return vouched_house()


@pytest.fixture
def demanding(casino: House) -> House:
    """The same, where every signature carries one by its terminal."""
    terminal_keys.demand(by=casino.operator)
    return casino


def fault(book: str) -> tuple[int, str]:
    fault = proofs.verify(Book.objects.get(name=book)).fault
    assert fault is not None, "the forgery was believed"
    return fault.seq, fault.what


def every_book_holds() -> None:
    for book in Book.objects.order_by("name"):
        assert proofs.verify(book).fault is None


def refused(deed: Callable[[], object]) -> Refused:
    with pytest.raises(Refused) as caught:
        deed()
    return caught.value


# --- who forges ------------------------------------------------------------------------------------------------


@dataclass
class Forger:
    """Whoever has the database's password: writes slips as the floor does, and has nobody's PIN and no terminal."""

    table: Table
    attested: Callable[[Any, str, UUID], Attestation | None] = lambda terms, by, key: None

    def signs(self, by: Staff, stage: str, slip: str, chips: Sequence[tuple[int, int]] = ()) -> None:
        """One signature of a fill, with its entry, its chips and its row, hashed and chained as any other."""
        with transaction.atomic():
            head = log.lock(self.table.book_id)
            state, key = table_state.at(head), uuid4()
            dealer = state.dealer.username if state.dealer else None
            signature = Signature(slip=slip, stage=stage, by=by.signatory, chips=slip_workflow.as_chips(chips))
            after = slip_workflow.sign(state.slips, signature, head.seq + 1, dealer)
            event = signed(signature, after, state.slips, None)
            event = structs.replace(event, attested=self.attested(event.signed_terms(), by.signature, key))
            moves = slip_workflow.moves(cage.chart(head.book_id), after)
            head = cage.post(head, Draft.of(event, by.signature, key=key), moves)
            begins = after.series.about_cents(after.chips) if len(after.signed) == 1 else None
            slips.write(Signing(SlipName.parse(slip), stage, by.username, by.role, begins), head.book_id, head.seq)

    def fill(self, crew: Callable[[str], Staff], *, steps: int = 5) -> str:
        """A fill. With all five signatures the chips leave the cage."""
        with transaction.atomic():
            slip = str(slips.next_name("fill"))
            self.signs(crew("requested"), "requested", slip, ((100, 500),))
        for stage in STAGES[: steps - 1]:
            self.signs(crew(stage), stage, slip)
        return slip


def person(by: str) -> Staff:
    """Whom an entry says that it is by."""
    badge, name = by.split(" ", 1)
    return Staff(badge=badge, name=name)


def enters(event: Any, by: str) -> int:
    """The forger writes into the house's book."""
    with transaction.atomic():
        return log.append(site_log.lock(), Draft.of(event, by)).seq


def copies(of: House) -> dict[str, Attestation]:
    """What a terminal signed last of each step, as the log has it for everybody."""
    entries = LogEntry.objects.filter(book=of.table.book, subject="slip").order_by("seq")
    return {
        entry.content["stage"]: Attestation(**entry.content["attested"])
        for entry in entries
        if "attested" in entry.content
    }


def heads() -> dict[str, int]:
    return dict(Book.objects.exclude(name=HOUSE).filter(head_seq__gt=0).values_list("name", "head_seq"))


# --- honest ones -----------------------------------------------------------------------------------------------


def test_what_terminals_sign_holds(demanding: House) -> None:
    """Harm: an honest floor is accused, or nothing of it is checked."""
    name = demanding.fill()
    slip = signs_on(demanding.cage, None, floor.staff(Role.CASHIER, "cleo"), BeginSlip("deposit", ((10_000, 1),)))
    assert slip.startswith("deposit/")
    voids = VoidSlip(name, "it was for another table")
    signs_on(demanding.cage, demanding.table, floor.staff(Role.PIT_BOSS, "bo"), voids)
    every_book_holds()


def test_nobody_signs_without_their_terminal_once_it_is_demanded(demanding: House) -> None:
    """Harm: the house demands it, and a form without it is taken: nobody could tell a forgery from that."""
    boss, begun = floor.crew("requested"), BeginSlip("fill", ((100, 100),))
    bare = {"by": boss, "key": uuid4(), "expected_seq": None}
    wrong = refused(lambda: recorder.record(demanding.table, begun, **bare))
    assert wrong.code == "not_attested"
    assert "an operator makes one under This terminal" in wrong.sentence
    before = Book.objects.get(name="Rocket 1").head_seq
    attested = demanding.tablet.attests(terms(BeginSlip("fill", ((100, 900),))), book="Rocket 1", by=boss, key=uuid4())
    wrong = refused(
        lambda: recorder.record(demanding.table, begun, by=boss, key=uuid4(), expected_seq=None, attested=attested)
    )
    assert wrong.sentence.startswith("This terminal’s signature does not hold: Tablet did not sign it")
    assert table_state.of(demanding.table).slips == ()
    assert Book.objects.get(name="Rocket 1").head_seq == before


def test_a_house_that_does_not_demand_it_signs_as_before(casino: House) -> None:
    """Harm: terminals that were enrolled before there were keys stop the floor at the upgrade."""
    boss = floor.crew("requested")
    floor.signs(casino.table, boss, BeginSlip("fill", ((100, 100),)))
    casino.fill()
    every_book_holds()


def test_the_same_form_twice_is_one_signature(demanding: House) -> None:
    """Harm: a slow answer and a second press: a browser's signature is another one each time."""
    boss, key, begun = floor.crew("requested"), uuid4(), BeginSlip("fill", ((100, 100),))
    answers = []
    for _ in range(2):
        attested = demanding.tablet.attests(terms(begun), book="Rocket 1", by=boss, key=key)
        answers.append(recorder.record(demanding.table, begun, by=boss, key=key, expected_seq=None, attested=attested))
    assert answers[1].again
    assert answers[0].entry == answers[1].entry


# --- forgeries -------------------------------------------------------------------------------------------------


def test_a_fill_of_five_signatures_that_nobody_gave_is_named(demanding: House) -> None:
    """Harm: whoever reads the password of the application's database takes chips out of the cage, signed by five."""
    demanding.fill()
    begins = Book.objects.get(name="Rocket 1").head_seq + 1
    Forger(demanding.table).fill(demanding.signer)
    seq, sentence = fault("Rocket 1")
    assert seq == begins
    assert "signed it by no terminal's key" in sentence
    assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None


def test_signed_content_cannot_be_changed() -> None:
    """Harm: five people sign a fill of 100, and the log records 100,000; or the signatures of one fill are copied to
    another."""
    tablet, boss, key = SoftwareTerminal("Tablet"), Staff(username="paul", name="Paul"), uuid4()
    statement = terms(BeginSlip("fill", ((100, 100),)))
    attested = tablet.attests(statement, book="Rocket 1", by=boss, key=key)
    whole = {"book": "Rocket 1", "by": boss.signature, "terminal": "Tablet", "key": key}
    assert attested.holds(tablet.public, attestation.statement(statement, **whole))
    changes: list[dict[str, Any]] = [
        {"chips": ((100, 100_000),)}, {"box": "7"}, {"reason": "because"}, {"slip": "credit"}, {"stage": "x"},
    ]  # fmt: skip
    for change in changes:
        assert not attested.holds(tablet.public, attestation.statement(statement | change, **whole)), change
    for swap in ({"book": "Rocket 2"}, {"by": "9 Nobody"}, {"terminal": "Cage 1"}, {"key": uuid4()}):
        assert not attested.holds(tablet.public, attestation.statement(statement, **whole | swap)), swap


def test_a_changed_amount_is_named(demanding: House) -> None:
    """Harm: the log has the terminal's valid signature under another amount."""
    boss = floor.crew("requested")

    def signed_less(terms: Any, by: str, key: UUID) -> Attestation:
        return demanding.tablet.attests({**terms, "chips": ((100, 1),)}, book="Rocket 1", by=boss, key=key)

    begins = Book.objects.get(name="Rocket 1").head_seq + 1
    Forger(demanding.table, signed_less).signs(boss, "requested", "fill/2099/1", ((100, 500),))
    assert fault("Rocket 1") == (begins, "Tablet did not sign it: its signature is of something else")


def own_key(forger: SoftwareTerminal, **adds: Any) -> TerminalKeyMade:
    proof = forger.signs(attestation.proof_of_key(forger.name, forger.public, "00"))
    return TerminalKeyMade(name=forger.name, key=forger.public, challenge="00", proof=proof, through=heads(), **adds)


def test_a_key_of_the_forgers_own_signs_nothing(demanding: House) -> None:
    """Harm: who can append a fill can append an enrolment before it, with a key that they hold."""
    mine = SoftwareTerminal("Tablet", "the forger's")
    enters(own_key(mine), demanding.operator.signature)
    forger = Forger(
        demanding.table,
        lambda terms, by, key: mine.attests(terms, book="Rocket 1", by=person(by), key=key),
    )
    begins = Book.objects.get(name="Rocket 1").head_seq + 1
    forger.fill(demanding.signer, steps=1)
    seq, sentence = fault("Rocket 1")
    assert seq == begins
    assert sentence.endswith("which was not trusted then")


def test_nobody_makes_a_root_of_their_own(demanding: House) -> None:
    """Harm: the forger's key is entered as the house's first."""
    mine = SoftwareTerminal("Tablet", "the forger's")
    seq = enters(own_key(mine, root=True), demanding.operator.signature)
    assert fault(HOUSE) == (
        seq,
        f"the key {mine.fingerprint} is entered as a root, where a terminal could vouch for it",
    )
    assert mine.fingerprint not in signature_checks.trust().keys


def test_nobody_vouches_for_themselves(demanding: House) -> None:
    """Harm: the forger's key is vouched for by a signature that no terminal gave, or by the key itself."""
    mine = SoftwareTerminal("Tablet", "the forger's")
    own = mine.signs(attestation.voucher("Tablet", mine.fingerprint, "Cage 1"))
    vouched = Vouch("Cage 1", demanding.cage.fingerprint, own)
    seq = enters(own_key(mine, vouched=vouched), demanding.operator.signature)
    assert fault(HOUSE) == (seq, f"Cage 1 did not vouch for the key {mine.fingerprint} of Tablet")


def test_a_root_after_the_end_of_all_others_is_named_by_paper(demanding: House) -> None:
    """Harm: the forger ends every key first, and then enters the first one of a house that has none."""
    for terminal in (demanding.cage, demanding.tablet):
        ended = TerminalKeyEnded(name=terminal.name, key=terminal.fingerprint, reason="lost", through=heads())
        enters(ended, demanding.operator.signature)
    mine = SoftwareTerminal("Cage 2", "the forger's")
    seq = enters(own_key(mine, root=True), demanding.operator.signature)
    sentence = f"the key {mine.fingerprint} of Cage 2 is a root that is not on the list"
    assert len(proofs.roots_in_words()) == 2
    assert "Cage 2 has a root key since" in proofs.roots_in_words()[1]
    with override_settings(TERMINAL_ROOTS=[demanding.cage.fingerprint.upper()]):
        assert fault(HOUSE) == (seq, sentence)
    with override_settings(TERMINAL_ROOTS=[demanding.cage.fingerprint, mine.fingerprint]):
        assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None
    with pytest.raises(SystemExit):
        call_command("verify", terminal_root=[demanding.cage.fingerprint])


# --- keys come and go ------------------------------------------------------------------------------------------


def test_what_was_signed_before_a_key_ended_stays_good(demanding: House) -> None:
    """Harm: a tablet is lost, and with it every fill that was signed on it."""
    demanding.fill()
    terminals.revoke(demanding.tablet.terminal, by=demanding.operator)
    every_book_holds()
    wrong = refused(demanding.fill)
    assert "had ended before" in wrong.sentence
    forger = Forger(
        demanding.table,
        lambda terms, by, key: demanding.tablet.attests(terms, book="Rocket 1", by=person(by), key=key),
    )
    forger.fill(demanding.signer, steps=1)
    assert "had ended before" in fault("Rocket 1")[1]


def test_a_terminals_old_key_vouches_for_its_new_one(demanding: House) -> None:
    """Harm: a browser is set up anew, and every terminal has to be walked to."""
    new = SoftwareTerminal("Tablet", "new")
    old = demanding.tablet.signs(attestation.voucher("Tablet", new.fingerprint, "Tablet"))
    demanding.fill()
    new.makes_key(demanding.operator, old)
    demanding.tablet = new
    demanding.fill()
    every_book_holds()
    assert [key.fingerprint for key in signature_checks.trust().keys.values() if key.is_trusted] == [
        demanding.cage.fingerprint,
        new.fingerprint,
    ]


def test_a_lost_key_is_replaced_by_one_that_waits(demanding: House) -> None:
    """Harm: whoever empties a browser makes it sign by a key that nobody looked at."""
    new = SoftwareTerminal("Tablet", "after the site data was cleared")
    assert refused(lambda: new.makes_key(None)).code == "not_permitted"
    new.makes_key(demanding.operator)
    demanding.tablet = new
    assert refused(demanding.fill).code == "key_waits"
    demanding.cage.vouches(new, demanding.operator)
    demanding.fill(steps=1)
    every_book_holds()


def test_the_last_terminals_key_is_lost(demanding: House) -> None:
    """Harm: the house can never sign again; or a new root comes without anybody hearing of it."""
    terminals.revoke(demanding.tablet.terminal, by=demanding.operator)
    new = SoftwareTerminal("Cage 1", "after the fire")
    new.makes_key(demanding.operator)
    assert [key.fingerprint for key in signature_checks.trust().roots] == [demanding.cage.fingerprint, new.fingerprint]
    assert Alert.objects.filter(kind="terminal_root").count() == 1
    demanding.tablet = new
    demanding.fill(steps=1)
    every_book_holds()


def test_a_device_that_takes_a_terminals_place_signs_by_its_own_key(demanding: House) -> None:
    """Harm: the tablet is replaced, and the old one goes on signing."""
    code = terminals.link_for(demanding.tablet.terminal, by=demanding.operator).split("/")[2]
    terminals.enrol_by_link(code)
    assert signature_checks.trust().of("Tablet") is None
    SoftwareTerminal("Tablet", "the new device").makes_key(None)
    assert [key.terminal for key in signature_checks.trust().waiting] == ["Tablet"]
    every_book_holds()


def test_a_demand_needs_a_terminal_that_can_sign(db: None) -> None:
    """Harm: one press, and nobody in the house can sign anything."""
    operator = floor.staff(Role.OPERATOR, "olga")
    assert refused(lambda: terminal_keys.demand(by=operator)).code == "bad_key"
    assert refused(lambda: terminal_keys.demand(by=floor.staff(Role.PIT_BOSS, "bo"))).code == "not_permitted"
    seq = enters(SignaturesDemanded(through=heads()), operator.signature)
    assert fault(HOUSE)[0] == seq


def test_a_challenge_is_for_one_device(casino: House) -> None:
    """Harm: a proof that was caught elsewhere enters a key."""
    challenge = terminal_keys.challenge_for(casino.cage.terminal)
    new = SoftwareTerminal("Tablet", "new")
    deed = lambda: terminal_keys.make(casino.tablet.terminal, new.public, "", challenge, by=casino.operator)  # noqa: E731
    assert refused(deed).code == "old_form"
    challenge = terminal_keys.challenge_for(casino.tablet.terminal)
    assert refused(deed).code == "bad_key"


# --- bundles ---------------------------------------------------------------------------------------------------


def about_terminals(path: Path, *roots: str) -> list[str]:
    """The verifier's lines about terminals and their root keys."""
    return [line for line in verified(path, terminal_roots=roots) if "terminal" in line or "root key" in line]


def test_an_outsider_names_each_forgery_from_a_bundle_of_its_day_alone(days: SealedDays) -> None:
    """Harm: an auditor believes five signatures that nobody gave, because the keys were enrolled on another day."""
    casino, forger_terminal = vouched_house(), SoftwareTerminal("Tablet", "the forger's")
    casino.fill()
    first = days.nightfall()
    terminal_keys.demand(by=casino.operator)
    casino.fill()
    honest = days.nightfall()
    Forger(casino.table).fill(casino.signer)
    unsigned = days.nightfall()
    enters(own_key(forger_terminal), casino.operator.signature)
    attests = lambda terms, by, key: forger_terminal.attests(terms, book="Rocket 1", by=person(by), key=key)  # noqa: E731
    Forger(casino.table, attests).fill(casino.signer, steps=1)
    by_own_key = days.nightfall()

    root = f"note   Cage 1 has a root key, {casino.cage.fingerprint}: hold it against the house's paper"
    verified_line = "holds  the terminals: 5 of 5 signatures carry one by a key that is trusted"
    lines = about_terminals(first)
    assert (lines[0].startswith("holds  the terminals: 5 of "), lines[1:]) == (True, [root])
    assert about_terminals(honest) == [verified_line, root]
    assert about_terminals(honest, casino.cage.fingerprint) == [verified_line]
    assert verifier.main([str(honest), "--terminal-root", casino.cage.fingerprint.upper()]) == 0
    finding = refusal(honest, terminal_roots=[forger_terminal.fingerprint]).what
    assert "is a root, and not among those that you have on paper" in finding
    assert "signed it by no terminal's key, and since entry" in refusal(unsigned).what
    assert f"by the key {forger_terminal.fingerprint} of Tablet, which was not trusted then" in refusal(by_own_key).what
    with ZipFile(first) as bundle:
        assert b'"audit-bundle/3"' in bundle.read(MANIFEST)


# --- what an earlier release had signed ------------------------------------------------------------------------


def box_to_count() -> str:
    """The drop of a box whose cash is to be counted."""
    table = Table.objects.get()
    guards = floor.staff(Role.SECURITY, "silvia"), floor.staff(Role.SECURITY, "stefan")
    floor.signs(table, guards[0], BeginSlip("drop", (), "B1"))
    name = next(slip.name for slip in table_state.of(table).slips if slip.series.name == "drop")
    floor.signs(table, guards[1], SignSlip(name, "witnessed"))
    return name


def count(drop: str, terminal: SoftwareTerminal, counter: Staff, statement: Callable[[Any], Any]) -> None:
    """Count a box's cash with notes set aside, attested under the statement of a given release."""
    step = SignSlip(drop, "counted", ((10_000, 1),), apart=(("torn", 5_000, "E7"), ("suspect", 10_000, "E8")))
    key = uuid4()
    attested = terminal.attests(statement(terms(step)), book="Rocket 1", by=counter, key=key)
    recorder.record(Table.objects.get(), step, by=counter, key=key, expected_seq=None, attested=attested)


def of_before(content: dict[str, Any]) -> dict[str, Any]:
    """The first format, which had nothing of the notes that are put apart."""
    return {name: value for name, value in content.items() if name != "apart"} | {"format": attestation.SLIP}


def test_notes_put_apart_are_signed_too(casino: House) -> None:
    """Harm: a counter signs a count, and the log says that they put the good notes aside as torn."""
    count(box_to_count(), casino.tablet, floor.staff(Role.COUNTER, "carl", "601"), lambda content: content)
    every_book_holds()
    entry = LogEntry.objects.filter(kind="drop_counted").get()
    event = read_as(SlipSigned, bytes(entry.body))
    assert event.signed_terms()["apart"] == [["suspect", 10_000, "E8"], ["torn", 5_000, "E7"]]
    keys, whole = signature_checks.trust(), {"book": "Rocket 1", "seq": entry.seq, "by": entry.by, "key": entry.key}
    keys.refuse(event, **whole)
    for notes in ((), event.apart[:1], (event.apart[0]._replace(envelope="E9"), event.apart[1])):
        with pytest.raises(AuditFailure, match="Tablet did not sign it"):
            keys.refuse(structs.replace(event, apart=notes), **whole)


def test_a_count_that_was_signed_without_them_stays_good_and_none_is_taken(casino: House) -> None:
    """Harm: the upgrade calls every count of cash a forgery; or takes the old, weaker signature for ever."""
    drop, carl = box_to_count(), floor.staff(Role.COUNTER, "carl", "601")
    wrong = refused(lambda: count(drop, casino.tablet, carl, of_before))
    assert wrong.sentence.startswith("This terminal’s signature does not hold: Tablet did not sign it")
    trust = Trust.refuse

    def as_before(self: Trust, event: Any, *, former: bool = True, **whole: Any) -> None:
        trust(self, event, former=True, **whole)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trust, "refuse", as_before)
        count(drop, casino.tablet, carl, of_before)
    every_book_holds()


# --- passkeys --------------------------------------------------------------------------------------------------


def test_a_passkey_signs_a_statement() -> None:
    """Harm: a passkey's signature under something else, or without its owner's finger, passes for one."""
    device, strange_device = Authenticator(), Authenticator(2)
    public, strange = (
        signature_checks.public_of(bytes_to_base64url(authenticator.public_key))
        for authenticator in (device, strange_device)
    )
    statement = {"format": attestation.SLIP, "slip": "fill/2026/1"}
    answer = device.signs(statement).answer_to(public, statement)
    assert answer is not None
    assert (answer.origin, answer.uses) == (ORIGIN, 1)
    assert device.signs(statement).answer_to(public, statement | {"slip": "fill/2026/2"}) is None
    assert device.signs(statement).answer_to(strange, statement) is None
    for flags in (0, PRESENT, VERIFIED):
        assert device.signs(statement, flags=flags).answer_to(public, statement) is None
    assert device.signs(statement, kind="webauthn.create").answer_to(public, statement) is None
    assert device.signs(statement, crosses=True).answer_to(public, statement) is None
    assert device.signs(statement, "http://testserver.example", site="testserver").answer_to(public, statement) is None
    for part in ("authenticator", "client", "signature"):
        for broken in ("", "AAAA", "no base64!", "A" * 3_000):
            assert structs.replace(device.signs(statement), **{part: broken}).answer_to(public, statement) is None
