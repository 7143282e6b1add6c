"""Slips that take a passkey: honest ones hold, and whoever has the application's database role is named, by the house's
proof and by the verifier that has nothing but a bundle."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection, connections
from msgspec import structs

from dealer_ui.templatetags.slips import attests
from ledger import log
from ledger.models import HOUSE, Alert, Book, LogEntry
from ledger.site_log import digest_of
from tables.audit import proofs, row_comparison
from tables.floor import recorder, signature_checks
from tables.floor.inputs import BeginSlip, SignSlip, VoidSlip
from tables.log import attestation
from tables.log.attestation import Attestation
from tables.log.entries.passkeys import PasskeysDemanded, PasskeyVouched
from tables.log.entries.terminal_keys import Vouch
from tables.log.slip_types import PAPERS
from tables.models import Passkey, Staff
from tables.refusals import Refused
from tables.roles import Role
from tables.staff import passkeys, terminal_keys
from tables.state import table_state
from tests import floor
from tests.authenticator import Authenticator
from tests.ready import ready_made
from tests.software_passkey import registered
from tests.software_terminal import SoftwareTerminal, signs_on
from tests.tables.audit.sealed_days import SealedDays, refusal, verified
from tests.tables.audit.test_attestations import (
    STAGES,
    Forger,
    House,
    copies,
    enters,
    every_book_holds,
    fault,
    heads,
    own_key,
    refused,
    vouched_house,
)

pytestmark = [pytest.mark.django_db, pytest.mark.slow("signs slips for each test")]

BY_NAME = ("requested", "issued", "carried", "confirmed")
"""The steps of a fill that nobody signs who signs in by badge alone."""


@dataclass
class Strict(House):
    """A house whose fills take passkeys."""

    devices: dict[str, Authenticator]

    def device(self, stage: str) -> Authenticator | None:
        return self.devices.get(self.signer(stage).username)

    def fill(self, cents: int = 10_000, *, steps: int = 5) -> str:
        begun = BeginSlip("fill", ((100, cents // 100),))
        signs_on(self.tablet, self.table, self.signer("requested"), begun, passkey=self.device("requested"))
        name = table_state.of(self.table).slips[-1].name
        for stage in STAGES[: steps - 1]:
            step = SignSlip(name, stage)
            signs_on(self.tablet, self.table, self.signer(stage), step, passkey=self.device(stage))
        return name


def strict() -> Strict:
    """Everybody who signs a fill, but for its dealer, has a passkey that a terminal vouched for; fills take them."""
    house = vouched_house()
    devices = {}
    for number, stage in enumerate(BY_NAME, 1):
        signer = house.signer(stage)
        devices[signer.username] = registered(signer, number)
        house.tablet.vouches_for(devices[signer.username], signer)
    passkeys.demand([], ["fill"], by=house.operator)
    return Strict(house.dealer, house.operator, house.cage, house.tablet, devices)


@pytest.fixture
@ready_made
def casino() -> Strict:
    return strict()


def next_seq() -> int:
    return Book.objects.get(name="Rocket 1").head_seq + 1


# --- honest ones -----------------------------------------------------------------------------------------------


def test_what_passkeys_sign_holds(casino: Strict) -> None:
    """Harm: an honest floor is accused, or nothing of it is checked."""
    name = casino.fill()
    steps = LogEntry.objects.filter(book=casino.table.book, kind__startswith="fill_").order_by("-seq")[:5]
    assert [bool(entry.content["attested"].get("passkey")) for entry in steps] == [True, False, True, True, True]
    voids = VoidSlip(name, "it was for another table")
    cleo = floor.staff(Role.CASHIER, "cleo")
    device = registered(cleo, 7)
    casino.tablet.vouches_for(device, cleo)
    assert refused(lambda: signs_on(casino.tablet, casino.table, cleo, voids)).code == "passkey_due"
    signs_on(casino.tablet, casino.table, cleo, voids, passkey=device)
    every_book_holds()
    assert not row_comparison.compare().faults


def test_other_slips_and_other_people_sign_as_before(casino: Strict) -> None:
    """Harm: a house that wants passkeys on its fills can count no rack any more."""
    floor.signs(casino.table, casino.signer("requested"), BeginSlip("credit", ((100, 10),)))
    signs_on(casino.tablet, None, floor.staff(Role.CASHIER, "cleo"), BeginSlip("deposit", ((10_000, 1),)))
    every_book_holds()


def test_a_role_signs_whatever_it_signs_by_passkey(casino: Strict) -> None:
    """Harm: the house says that cage managers use passkeys, and one paper of theirs does without."""
    carla = floor.staff(Role.CAGE_MANAGER, "carla", "403")
    passkeys.demand([Role.CAGE_MANAGER], [], by=casino.operator)
    deposit = BeginSlip("deposit", ((10_000, 1),))
    assert refused(lambda: signs_on(casino.cage, None, carla, deposit)).code == "no_passkey"
    device = registered(carla, 9)
    assert refused(lambda: signs_on(casino.cage, None, carla, deposit, passkey=device)).code == "wrong_passkey"
    casino.cage.vouches_for(device, carla)
    assert refused(lambda: signs_on(casino.cage, None, carla, deposit)).code == "passkey_due"
    assert str(signs_on(casino.cage, None, carla, deposit, passkey=device)).startswith("deposit/")
    every_book_holds()


def test_a_passkey_signs_without_a_terminals_key_where_none_is_demanded(casino: Strict) -> None:
    """Harm: the browser lost its key, and whoever has a passkey can prove nothing either."""
    boss, signed_statement = casino.signer("requested"), {}

    def alone(terms: Any, by: str, key: UUID) -> Attestation:
        statement = attestation.statement(terms, book="Rocket 1", by=by, terminal="Tablet", key=key)
        signed_statement.update(statement)
        return Attestation("Tablet", passkey=casino.devices[boss.username].signs(statement))

    Forger(casino.table, alone).signs(boss, "requested", "fill/2099/1", ((100, 5),))
    assert signed_statement["terminal"] == "Tablet"
    entry = LogEntry.objects.filter(book=casino.table.book).latest("seq")
    assert entry.content["attested"].keys() == {"terminal", "passkey"}
    assert proofs.prove(casino.table.book, None, log.read_head(casino.table.book_id)).fault is None


def test_two_passkeys_of_one_person_both_sign_and_one_is_withdrawn(casino: Strict) -> None:
    """Harm: a lost stick takes the phone with it, or what it signed."""
    boss = casino.signer("requested")
    stick = registered(boss, 8, "Stick")
    casino.tablet.vouches_for(stick, boss)
    casino.fill()
    phone = casino.devices[boss.username]
    casino.devices[boss.username] = stick
    casino.fill()
    passkeys.withdraw(Passkey.objects.get(name="Stick"), by=casino.operator)
    wrong = refused(casino.fill)
    assert (wrong.code, "withdrawn" in wrong.sentence) == ("wrong_passkey", True)
    casino.devices[boss.username] = phone
    casino.fill()
    every_book_holds()
    assert not row_comparison.compare().faults


def test_a_copied_passkey_is_refused_and_told(casino: Strict) -> None:
    """Harm: a copy of the key signs beside it for years."""
    casino.fill()
    boss = casino.signer("requested")
    casino.devices[boss.username].count = 0
    assert refused(casino.fill).code == "passkey_copied"
    every_book_holds()


# --- refusals --------------------------------------------------------------------------------------------------


def test_nobody_signs_by_the_passkey_of_somebody_else(casino: Strict) -> None:
    """Harm: the pit boss's finger under the cashier's badge and PIN."""
    name = casino.fill(steps=1)
    boss = casino.devices[casino.signer("requested").username]
    step, cashier = SignSlip(name, "issued"), casino.signer("issued")
    wrong = refused(lambda: signs_on(casino.tablet, casino.table, cashier, step, passkey=boss))
    assert wrong.code == "wrong_passkey"
    assert wrong.sentence.startswith("That passkey does not sign it: it is signed by a passkey that is not one of")
    assert table_state.of(casino.table).slips[-1].stages == ("requested",)


def test_a_terminal_vouches_for_a_passkey_only_where_it_is_used(casino: Strict) -> None:
    """Harm: a key that somebody wrote beside the log signs slips at the next press of its owner."""
    ada = floor.staff(Role.AUDITOR, "ada", "401")
    device = registered(ada, 7)
    row = ada.passkeys.get()
    statement = passkeys.statement_of(row, "Tablet", "http://testserver")
    signature, terminal = casino.tablet.signs(statement), casino.tablet.terminal
    vouches = lambda voucher, by: passkeys.vouch(row, terminal, "http://testserver", voucher, by=by)  # noqa: E731
    for answer in (Authenticator(6).signs(statement), device.signs(statement | {"username": "bo"})):
        voucher = Attestation("Tablet", casino.tablet.fingerprint, signature, answer)
        assert refused(lambda voucher=voucher: vouches(voucher, ada)).code == "bad_passkey"
    bare = Attestation("Tablet", casino.tablet.fingerprint, signature)
    colleague = floor.staff(Role.AUDITOR, "abel", "402")
    for lacking, by in ((bare, ada), (None, ada), (voucher, colleague)):
        with pytest.raises(Refused):
            vouches(lacking, by)
    assert not signature_checks.trust().signs("ada")


def test_a_demand_is_an_operators_and_needs_a_passkey_that_signs(casino: Strict) -> None:
    """Harm: one press, and nobody in the house can sign anything; or it is taken back."""
    assert refused(lambda: passkeys.demand([], ["drop"], by=floor.staff(Role.PIT_BOSS, "bea"))).code == "not_permitted"
    for roles, papers in (([], []), (["dealer"], []), ([], ["correction"]), ([], ["fill"])):
        with pytest.raises(Refused) as wrong:
            passkeys.demand(roles, papers, by=casino.operator)
        assert wrong.value.status == 409
    assert set(signature_checks.trust().demands) == {"fill"}
    assert not set(PAPERS) & set(Role.values)


def test_a_casino_without_passkeys_demands_none() -> None:
    """Harm: a casino without passkeys demands them, on the floor or in its log, and no slip can be signed."""
    house = vouched_house()
    assert refused(lambda: passkeys.demand([], ["fill"], by=house.operator)).code == "bad_passkey"
    seq = enters(PasskeysDemanded(papers=("fill",), through=heads()), house.operator.signature)
    assert fault(HOUSE) == (seq, "it demands passkeys, and nobody has one that signs slips")


def test_a_page_is_told_whose_passkeys_may_sign(casino: Strict) -> None:
    """Harm: the browser offers everybody's passkeys, or none, or tells a stranger who has one."""
    bo = floor.staff(Role.PIT_BOSS, "bo", "305")
    device = registered(bo, 7)
    browser = floor.client(bo)
    ask = lambda badge, slip: browser.post("/slips/passkey/", {"badge": badge, "slip": slip}).json()  # noqa: E731
    lacks = ask("305", "fill/2026/1")
    assert lacks["credentials"] == []
    assert "register one under Your account, and let that terminal vouch" in lacks["sentence"]
    casino.tablet.vouches_for(device, bo)
    assert ask("305", "fill") == {"credentials": [Passkey.objects.get(staff=bo).credential], "sentence": ""}
    for badge, slip in (("305", "credit"), ("999", "fill"), ("", ""), ("305", "nonsense")):
        assert ask(badge, slip) == {"credentials": [], "sentence": ""}
    browser.cookies.clear()
    browser.force_login(bo, backend="django.contrib.auth.backends.ModelBackend")
    assert browser.post("/slips/passkey/", {"badge": "305", "slip": "fill"}).status_code == 403


def test_a_correction_asks_for_no_passkey(casino: Strict) -> None:
    """Harm: pit bosses sign slips by passkey, and the page of a correction waits for one that nobody can give."""
    passkeys.demand([Role.PIT_BOSS], [], by=casino.operator)
    browser = floor.client(floor.staff(Role.PIT_BOSS, "bo", "305"))
    context = {"request": browser.get("/slips/").wsgi_request}
    asks = lambda name, stage: attests(context, {"format": "", "slip": name, "stage": stage})["passkeys"]  # noqa: E731
    assert asks("correction/2026/1", "signed") == ""
    assert asks("fill/2026/1", "received") == ""
    assert asks("fill/2026/1", "confirmed") == asks("credit", "requested") == "/slips/passkey/"


# --- forgeries -------------------------------------------------------------------------------------------------


def alone(attested: Attestation) -> Attestation:
    """A passkey's signature without the terminal's, whose own would be named first."""
    return structs.replace(attested, key="", signature="")


Forgery = Callable[[Strict], Forger]


def by_nobody(casino: Strict) -> Forger:
    return Forger(casino.table)


def replayed(casino: Strict) -> Forger:
    signatures = copies(casino)
    return Forger(casino.table, lambda terms, by, key: alone(signatures[terms["stage"]]))


def using(casino: Strict, answers: Callable[[dict[str, Any], Staff], Any]) -> Forger:
    """A forger who got hold of somebody's device, or of half of it."""

    def attested(terms: Any, by: str, key: UUID) -> Attestation | None:
        statement = attestation.statement(terms, book="Rocket 1", by=by, terminal="Tablet", key=key)
        return Attestation("Tablet", passkey=answers(statement, casino.signer(terms["stage"])))

    return Forger(casino.table, attested)


def of_another(casino: Strict) -> Forger:
    device = casino.devices[casino.signer("confirmed").username]
    return using(casino, lambda statement, by: device.signs(statement))


def of_another_port(casino: Strict) -> Forger:
    return using(casino, lambda statement, by: _device(casino, by).signs(statement, "http://testserver:8001"))


def withdrawn(casino: Strict) -> Forger:
    passkeys.withdraw(Passkey.objects.get(staff=casino.signer("requested"), name="My phone"), by=casino.operator)
    return using(casino, lambda statement, by: _device(casino, by).signs(statement))


def of_ones_own(casino: Strict) -> Forger:
    """The forger registers a passkey for the pit boss, beside the log and in it, for which no terminal vouches."""
    boss, device = casino.signer("requested"), registered(casino.signer("requested"), 66, "Mine")
    assert boss.passkeys.count() == 2
    return using(casino, lambda statement, by: device.signs(statement))


def _device(casino: Strict, by: Staff) -> Authenticator:
    return casino.devices.get(by.username) or Authenticator(99)


FORGERIES: dict[str, tuple[Forgery, str]] = {
    "by nobody": (by_nobody, "signed it by no passkey, and since entry"),
    "replayed": (replayed, "passkey did not sign it: its signature is of something else"),
    "another person's": (of_another, "it is signed by a passkey that is not one of"),
    "another port's": (of_another_port, "was asked by http://testserver:8001, which is not the house"),
    "the forger's own": (of_ones_own, "it is signed by a passkey that is not one of"),
    "withdrawn": (withdrawn, "that was withdrawn before"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_each_forgery_is_named(casino: Strict, name: str) -> None:
    """Harm: whoever reads the password of the application's database takes chips out of the cage, signed by five."""
    forgery, sentence = FORGERIES[name]
    casino.fill()
    forger, begins = forgery(casino), next_seq()
    forger.fill(casino.signer, steps=1)
    seq, fault_text = fault("Rocket 1")
    assert seq == begins
    assert sentence in fault_text
    assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None


def test_where_both_are_demanded_a_passkey_alone_is_named(casino: Strict) -> None:
    """Harm: the stronger rule takes the place of the other one."""
    terminal_keys.demand(by=casino.operator)
    casino.fill()
    begins = next_seq()
    using(casino, lambda statement, by: _device(casino, by).signs(statement)).fill(casino.signer, steps=1)
    assert fault("Rocket 1")[0] == begins
    assert "signed it by no terminal's key" in fault("Rocket 1")[1]


def test_a_counter_that_goes_back_is_named(casino: Strict) -> None:
    """Harm: a copy of the device signs while the true one is in its owner's pocket."""
    casino.fill()
    for device in casino.devices.values():
        device.count = 0
    begins = next_seq()
    using(casino, lambda statement, by: _device(casino, by).signs(statement)).fill(casino.signer, steps=1)
    assert fault("Rocket 1") == (
        begins,
        "its passkey counts backwards: somebody copied it, or used an old signature again",
    )


def unregistered(casino: Strict, terminal: SoftwareTerminal) -> PasskeyVouched:
    """Let a terminal vouch for a passkey that the pit boss never registered."""
    ada = floor.staff(Role.AUDITOR, "ada")
    device, public_key = registered(ada, 66), ada.passkeys.get().public_key
    row = Passkey(staff=casino.signer("requested"), name="Mine", credential="mine", public_key=public_key)
    statement = passkeys.statement_of(row, "Tablet", "http://testserver")
    return PasskeyVouched(
        username=row.staff.username, name="Mine", credential=digest_of("mine"), key=statement["key"],
        origin="http://testserver", vouched=Vouch("Tablet", terminal.fingerprint, terminal.signs(statement)),
        answer=structs.replace(device.signs(statement), credential=digest_of("mine")), through=heads(),
    )  # fmt: skip


def test_no_trusted_terminal_vouches_for_a_forgers_own_passkey(casino: Strict) -> None:
    """Harm: a forger who can append a fill appends a registration before it, with the forger's own key."""
    boss, forger = casino.signer("requested"), SoftwareTerminal("Tablet", "the forger's")
    enters(own_key(forger), casino.operator.signature)
    seq = enters(unregistered(casino, forger), boss.signature)
    assert fault(HOUSE) == (
        seq,
        f"Tablet vouches for the passkey Mine of {boss.username} by the key {forger.fingerprint}, which is not trusted",
    )
    assert digest_of("mine") not in signature_checks.trust().passkeys


def test_a_vouched_passkey_that_nobody_registered_is_named(casino: Strict) -> None:
    """Harm: an entry that a terminal did sign, of a passkey that its owner never had."""
    boss = casino.signer("requested")
    seq = enters(unregistered(casino, casino.tablet), boss.signature)
    assert fault(HOUSE) == (seq, f"{boss.username} has not registered the passkey Mine, or has withdrawn it")


def test_an_outsider_names_each_forgery_from_a_bundle_of_its_day_alone(days: SealedDays) -> None:
    """Harm: an auditor believes signatures that nobody gave, because the passkeys were registered on another day."""
    casino = strict()
    for _ in range(2):
        casino.fill()
        [passkeys_line] = [line for line in verified(days.nightfall()) if "the passkeys" in line]
        assert passkeys_line.startswith("holds  the passkeys: 4 of ")
    for name in ("by nobody", "withdrawn"):
        forgery, sentence = FORGERIES[name]
        forgery(casino).fill(casino.signer, steps=1)
        assert sentence in refusal(days.nightfall()).what


# --- a demand and a signature at the same moment ---------------------------------------------------------------


@pytest.fixture
def easy() -> House:
    """A house that demands nothing yet, and could."""
    house = vouched_house()
    boss = house.signer("requested")
    house.tablet.vouches_for(registered(boss, 1), boss)
    return house


class Behind(threading.Thread):
    """Somebody else at the same time, on a connection of their own; what they were refused."""

    def __init__(self, deed: Callable[[], object]) -> None:
        super().__init__(daemon=True)
        self.deed, self.refused = deed, None
        self.start()

    def run(self) -> None:
        try:
            self.deed()
        except Refused as refused:
            self.refused = refused
        finally:
            connections.close_all()

    def waits(self) -> bool:
        """Whether it waits for a lock, and does nothing else."""
        for _ in range(100):
            with connection.cursor() as cursor:
                cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
                if cursor.fetchone()[0]:
                    return True
            self.join(0.05)
        return False


@pytest.mark.django_db(transaction=True)
def test_a_signature_that_comes_while_a_demand_is_written_waits_for_it(
    easy: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: the floor takes a signature that every proof names afterwards as a forgery."""
    boss, begun, behind = easy.signer("requested"), BeginSlip("fill", ((100, 100),)), []
    folded = signature_checks.trust_before

    def meanwhile(seq: int) -> Any:
        behind.append(Behind(lambda: floor.signs(easy.table, boss, begun)))
        assert behind[0].waits(), "the signature did not wait for the demand"
        return folded(seq)

    monkeypatch.setattr(signature_checks, "trust_before", meanwhile)
    terminal_keys.demand(by=easy.operator)
    monkeypatch.undo()
    behind[0].join(10)
    assert behind[0].refused is not None
    assert behind[0].refused.code == "not_attested"
    every_book_holds()


@pytest.mark.django_db(transaction=True)
def test_a_demand_that_comes_while_a_signature_is_written_counts_after_it(
    easy: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: a signature made just before a demand is called a forgery."""
    boss, begun, behind = easy.signer("requested"), BeginSlip("fill", ((100, 100),)), []
    attest = signature_checks.attest

    def meanwhile(*arguments: Any) -> Any:
        outcome = attest(*arguments)
        behind.append(Behind(lambda: passkeys.demand([], ["fill"], by=easy.operator)))
        assert behind[0].waits(), "the demand did not wait for the signature"
        return outcome

    monkeypatch.setattr(signature_checks, "attest", meanwhile)
    floor.signs(easy.table, boss, begun)
    monkeypatch.undo()
    behind[0].join(10)
    assert behind[0].refused is None
    seq = next_seq() - 1
    assert signature_checks.trust().demands["fill"].since["Rocket 1"] == seq
    every_book_holds()
    bare = {"by": boss, "key": uuid4(), "expected_seq": None}
    assert refused(lambda: recorder.record(easy.table, begun, **bare)).code == "passkey_due"
    assert not Alert.objects.filter(kind="log_broken").exists()
