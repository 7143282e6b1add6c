"""A terminal whose key is made from its name: for tests, and for nothing else. A real one is made in a browser."""

import base64
import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any
from uuid import UUID, uuid4

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from webauthn.helpers import bytes_to_base64url

from ledger.proof import p256
from ledger.proof.slip_name import SlipName
from ledger.proof.spelling import canonical
from tables.cage import cage_desk
from tables.floor import recorder, signature_checks
from tables.floor.inputs import BeginSlip, SignSlip, SlipInput, VoidSlip
from tables.floor.recorder import Receipt
from tables.log import attestation, slip_workflow
from tables.log.attestation import Attestation
from tables.log.slip_types import SLIPS, SlipType, Stage
from tables.models import Staff, Table, Terminal
from tables.staff import passkeys, terminal_keys, terminals
from tests.authenticator import ORIGIN, Authenticator

ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""How many points the curve has: a private key is less."""


@dataclass(frozen=True)
class SoftwareTerminal:
    """A terminal, and what its browser would sign."""

    name: str
    seed: str = ""
    """Another one makes another key of the same terminal."""

    @cached_property
    def private(self) -> ec.EllipticCurvePrivateKey:
        number = int.from_bytes(sha256(f"{self.name}/{self.seed}".encode()).digest()) % (ORDER - 1) + 1
        return ec.derive_private_key(number, ec.SECP256R1())

    @cached_property
    def public(self) -> str:
        der = self.private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return base64.b64encode(der).decode()

    @property
    def fingerprint(self) -> str:
        return p256.fingerprint(self.public)

    def signs(self, statement: Any) -> str:
        """Its signature under a statement, as a browser spells it."""
        algorithm = ec.ECDSA(SHA256(), deterministic_signing=True)  # a house that is kept is the same in every run
        pair = decode_dss_signature(self.private.sign(canonical(statement), algorithm))
        return base64.b64encode(b"".join(half.to_bytes(32) for half in pair)).decode()

    def attests(
        self, terms: Any, *, book: str, by: Staff, key: UUID | None, passkey: Authenticator | None = None
    ) -> Attestation:
        """What its browser adds to a form that somebody signs on it, and a passkey that they use there."""
        statement = attestation.statement(terms, book=book, by=by.signature, terminal=self.name, key=key)
        answer = passkey.signs(statement) if passkey else None
        return Attestation(self.name, self.fingerprint, self.signs(statement), answer)

    def vouches_for(self, passkey: Authenticator, owner: Staff) -> None:
        """Somebody lets it vouch for a passkey that they registered."""
        row = owner.passkeys.get(credential=bytes_to_base64url(passkey.id))
        statement = passkeys.statement_of(row, self.name, ORIGIN)
        voucher = Attestation(self.name, self.fingerprint, self.signs(statement), passkey.signs(statement))
        passkeys.vouch(row, self.terminal, ORIGIN, voucher, by=owner)

    @property
    def terminal(self) -> Terminal:
        return Terminal.objects.get(name=self.name)

    def enrolled(self, by: Staff) -> "SoftwareTerminal":
        """The same, enrolled by an operator and with its key entered."""
        terminals.enrol(self.name, None, by=by)
        self.makes_key(by)
        return self

    def makes_key(self, by: Staff | None, old: str = "") -> None:
        challenge = terminal_keys.challenge_for(self.terminal)
        proof = self.signs(attestation.proof_of_key(self.name, self.public, challenge))
        terminal_keys.make(self.terminal, self.public, proof, challenge, by=by, old=old)

    def vouches(self, vouched: "SoftwareTerminal", by: Staff) -> None:
        signature = self.signs(attestation.voucher(vouched.name, vouched.fingerprint, self.name))
        terminal_keys.vouch(self.terminal, vouched.name, vouched.fingerprint, signature, by=by)


def terms(entered: SlipInput) -> dict[str, Any]:
    """What the page of a slip gives its terminal to sign."""
    blank = {"format": attestation.SLIP, "chips": (), "box": "", "reason": ""}
    match entered:
        case BeginSlip(series, chips, box):
            record = SLIPS[series]
            noted = {"noted": slip_workflow.as_chips(entered.noted)} if record.begins_with_note else {}
            opening = {"slip": series, "stage": record.first.name, "chips": slip_workflow.as_chips(chips), "box": box}
            return (
                blank | opening | noted | _beside(record.first, entered.facts) | _apart(record.first, record, entered)
            )
        case SignSlip(slip, stage, chips):
            record = SLIPS[SlipName.parse(slip).series]
            step = record.stage(stage)
            beside = _beside(step, entered.facts) | _apart(step, record, entered) if step else {}
            return blank | {"slip": slip, "stage": stage, "chips": slip_workflow.as_chips(chips)} | beside
        case VoidSlip(slip, reason):
            return blank | {"slip": slip, "stage": "void_asked", "reason": reason}


def _beside(step: Stage, facts: Mapping[str, str]) -> dict[str, Any]:
    typed = step.typed({name: text.strip() for name, text in facts.items() if text.strip()})
    return {} if typed is None else {"facts": typed}


def _apart(step: Stage, record: SlipType, entered: BeginSlip | SignSlip) -> dict[str, Any]:
    if not (step.is_count and record.cash):
        return {}
    notes = sorted((kind, cents, mark.strip()) for kind, cents, mark in entered.apart)
    return {"format": attestation.CASH_COUNT, "apart": [list(note) for note in notes]}


def where_demanded(book: str, by: Staff, entered: SlipInput, key: UUID) -> Attestation | None:
    """What a terminal adds in a house that takes no signature without it: any whose key is made from its name."""
    keys = signature_checks.trust()
    if keys.demanded is None or not isinstance(entered, SlipInput):
        return None
    trusted = {key.terminal: key.fingerprint for key in keys.keys.values() if key.is_trusted}
    candidates = [SoftwareTerminal(name) for name in sorted(trusted)]
    terminal = next(terminal for terminal in candidates if terminal.fingerprint == trusted[terminal.name])
    return terminal.attests(terms(entered), book=book, by=by, key=key)


def counter_sale(terminal: SoftwareTerminal, by: Staff, cents: int) -> None:
    """Chips are sold at the cage, on a terminal."""
    key, sold = uuid4(), {"format": attestation.COUNTER, "stage": "sold", "cents": cents, "chips": ()}
    cage_desk.sell(cents, by=by, key=key, attested=terminal.attests(sold, book="house", by=by, key=key))


def signs_on(
    terminal: SoftwareTerminal,
    table: Table | None,
    by: Staff,
    entered: SlipInput,
    *,
    passkey: Authenticator | None = None,
) -> Receipt | str:
    """Somebody whose PIN was right signs a slip on a terminal: of a table, or of the house."""
    key = uuid4()
    book = table.book.name if table else "house"
    attested = terminal.attests(terms(entered), book=book, by=by, key=key, passkey=passkey)
    if table is None:
        return cage_desk.sign(entered, by=by, key=key, attested=attested)
    return recorder.record(table, entered, by=by, key=key, expected_seq=None, attested=attested)


def fills_in(terminal: SoftwareTerminal, page: str, form: dict[str, str], **typed: Any) -> dict[str, str]:
    """A form as the script of its page sends it: with the terminal's signature under what the page says, and what was
    typed where the page says nothing."""
    spelled = re.search(r'data-attests="([^"]*)"', page)
    assert spelled, "the page has nothing for the terminal to sign"
    blanks = json.loads(html.unescape(spelled[1]))
    typed |= {"badge": form["badge"]} | ({"input": form["key"]} if "key" in form else {})
    typed.setdefault("series", "")
    statement = {name: typed[name] if value is None else value for name, value in blanks.items()}
    if statement.get("series") == "":
        del statement["series"]
    voucher = {"terminal": terminal.name, "key": terminal.fingerprint, "signature": terminal.signs(statement)}
    return form | {"attested": json.dumps(voucher)}
