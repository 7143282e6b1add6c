"""Trust in terminal keys and passkeys: which of them may sign which entries, replayed from the log of the site. Pure.

A key is trusted once a terminal with a trusted key has vouched for it. The first key is a root, checked against the
casino's paper record. An attacker with write access to the database but no terminal can add keys, but none that signs.
A passkey signs slips once a trusted terminal has vouched for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from ledger.proof import p256
from tables.log import attestation
from tables.log.attestation import Attestation
from tables.log.entries.passkeys import AboutPasskey, PasskeyEnded, PasskeysDemanded, PasskeyVouched
from tables.log.entries.slips import SlipSigned
from tables.log.entries.terminal_keys import (
    AboutTerminalKey,
    SignaturesDemanded,
    TerminalKeyEnded,
    TerminalKeyMade,
    TerminalKeyVouched,
    Vouch,
)
from tables.log.event import AuditFailure, Event
from tables.log.policies import BY_NAME
from tables.log.slip_types import PAPERS

HOUSE = "house"
Statement = Mapping[str, object]
Through = Mapping[str, int]
"""The last entry of each log, by log, for which a change was not yet in effect."""


@dataclass(frozen=True, slots=True)
class TerminalKey:
    """A terminal's key, and what it is worth."""

    terminal: str
    public: str
    fingerprint: str
    seq: int
    """The house's entry that says that it was made."""
    is_root: bool = False
    vouched_by: str = ""
    """The terminal that vouched for it."""
    since: Through | None = None
    """From when on it is trusted; None: not yet."""
    until: Through | None = None
    """From when on it signs nothing any more; None: it still does."""

    @property
    def is_trusted(self) -> bool:
        """Whether it signs now."""
        return self.since is not None and self.until is None

    @property
    def waits(self) -> bool:
        """Whether a trusted terminal has to vouch for it."""
        return self.since is None and self.until is None


@dataclass(frozen=True, slots=True)
class SlipPasskey:
    """A passkey that signs slips, or did."""

    credential: str
    username: str
    public: str
    origin: str
    vouched_by: str
    """The terminal that vouched for it."""
    seq: int
    """The house's entry that says so."""
    since: Through
    until: Through | None = None
    """From when on it signs nothing any more; None: it still does."""


@dataclass(frozen=True, slots=True)
class Demand:
    """From when on something has to be signed by passkey."""

    since: Through
    seq: int
    """The house's entry that says so."""


class NoPasskey(AuditFailure):
    """A passkey had to sign, and none did."""


class WrongPasskey(AuditFailure):
    """A passkey signed, and not this, or it was not to."""


@dataclass(slots=True)
class Trust:
    """The keys of all terminals, and the passkeys that sign slips, up to an entry of the house's book."""

    keys: dict[str, TerminalKey] = field(default_factory=dict)
    """By their fingerprints."""
    demanded: Through | None = None
    """From when on every signature has to carry one; None: it may do without."""
    demanded_seq: int = 0
    passkeys: dict[str, SlipPasskey] = field(default_factory=dict)
    """By the digests of their ids."""
    demands: dict[str, Demand] = field(default_factory=dict)
    """By the role whose signatures, or the series whose slips, a passkey has to sign: no series is called as a role."""

    # --- who is trusted

    @property
    def roots(self) -> list[TerminalKey]:
        """The keys that stand by the house's paper alone, in their order."""
        return [key for key in self.keys.values() if key.is_root]

    @property
    def waiting(self) -> list[TerminalKey]:
        """The keys that a trusted terminal has to vouch for."""
        return [key for key in self.keys.values() if key.waits]

    @property
    def has_signers(self) -> bool:
        """Whether there is a key that may sign now."""
        return any(key.is_trusted for key in self.keys.values())

    def of(self, terminal: str) -> TerminalKey | None:
        """The key that a terminal has now; None where it has none, or one no more."""
        return next((key for key in self.keys.values() if key.terminal == terminal and key.until is None), None)

    def unlisted(self, listed: Iterable[str]) -> list[TerminalKey]:
        """The roots that are not among those that the house has on paper."""
        return [key for key in self.roots if key.fingerprint not in set(listed)]

    # --- the house's entries

    def follow(self, event: Event, seq: int) -> None:
        """Apply one more entry of the site's log. Raises AuditFailure, with nothing changed, if the entry cannot have
        been written."""
        if isinstance(event, AboutTerminalKey):
            self._follow_key(event, {**event.through, HOUSE: seq}, seq)
        elif isinstance(event, AboutPasskey):
            self._follow_passkey(event, {**event.through, HOUSE: seq}, seq)

    def _follow_key(self, event: AboutTerminalKey, through: Through, seq: int) -> None:
        match event:
            case TerminalKeyMade():
                self._make(event, through, seq)
            case TerminalKeyVouched():
                key = self._of(event.name, event.key)
                if not key.waits:
                    raise AuditFailure(f"the key {event.key} of {event.name} does not wait for anybody to vouch for it")
                self._refuse_vouch(event.vouched, event.name, event.key)
                self._set_key(replace(key, since=through, vouched_by=event.vouched.terminal))
            case TerminalKeyEnded():
                key = self._of(event.name, event.key)
                if key.until is not None:
                    raise AuditFailure(f"the key {event.key} of {event.name} had ended before")
                self._set_key(replace(key, until=through))
            case SignaturesDemanded():
                if self.demanded is not None or not self.has_signers:
                    raise AuditFailure("signatures by terminals were demanded before, or no terminal could give one")
                self.demanded, self.demanded_seq = through, seq

    def _follow_passkey(self, event: AboutPasskey, through: Through, seq: int) -> None:
        match event:
            case PasskeyVouched():
                self._vouch_for_passkey(event)
                vouched = event.vouched.terminal
                self.passkeys[event.credential] = SlipPasskey(
                    event.credential, event.username, event.key, event.origin, vouched, seq, since=through
                )
            case PasskeyEnded():
                passkey = self.passkeys.get(event.credential)
                if passkey is None or passkey.username != event.username or passkey.until is not None:
                    raise AuditFailure(f"{event.username} has no such passkey that signs slips")
                self.passkeys[event.credential] = replace(passkey, until=through)
            case PasskeysDemanded():
                self._demand_passkeys(event, through, seq)

    def _vouch_for_passkey(self, event: PasskeyVouched) -> None:
        if event.credential in self.passkeys:
            raise AuditFailure(f"a terminal vouched for this passkey of {event.username} before")
        terminal = event.vouched.terminal
        statement = attestation.passkey_voucher(event.username, event.credential, event.key, event.origin, by=terminal)
        self._refuse_unsigned(event.vouched, statement, f"the passkey {event.name} of {event.username}")
        answer = event.answer.answer_to(event.key, statement)
        # The passkey itself must sign, on the origin that is stored: otherwise a terminal could enrol a key of its own.
        if answer is None or event.answer.credential != event.credential or answer.origin != event.origin:
            raise AuditFailure(
                f"the passkey {event.name} of {event.username} was not used when {terminal} vouched for it"
            )

    def _demand_passkeys(self, event: PasskeysDemanded, through: Through, seq: int) -> None:
        subjects = (*event.roles, *event.papers)
        known_names = set(event.roles) <= set(BY_NAME) and set(event.papers) <= set(PAPERS)
        if not subjects or not known_names or len(set(subjects)) < len(subjects) or self.demands.keys() & set(subjects):
            raise AuditFailure("it demands passkeys of nobody, of who signs nothing by name, or where it did before")
        if not any(passkey.until is None for passkey in self.passkeys.values()):
            raise AuditFailure("it demands passkeys, and nobody has one that signs slips")
        self.demands |= dict.fromkeys(subjects, Demand(through, seq))

    def _make(self, event: TerminalKeyMade, through: Through, seq: int) -> None:
        try:
            fingerprint = p256.fingerprint(p256.read_public(event.key))
        except p256.BadKey as bad:
            raise AuditFailure(f"the key of {event.name} is none: {bad}") from None
        # A replaced or ended key must not return: its holder could sign again.
        if fingerprint in self.keys:
            raise AuditFailure(f"the key {fingerprint} was entered before: a key is used once")
        statement = attestation.proof_of_key(event.name, event.key, event.challenge)
        if not p256.is_signed(event.key, event.proof, canonical_of(statement)):
            raise AuditFailure(f"nobody proved that {event.name} has the key {fingerprint}")
        # A second root would bypass vouching: database access alone would be enough to add a trusted key.
        if event.root and (self.has_signers or event.vouched is not None):
            raise AuditFailure(f"the key {fingerprint} is entered as a root, where a terminal could vouch for it")
        if event.vouched is not None:
            self._refuse_vouch(event.vouched, event.name, fingerprint)
        # A terminal has one key at a time, so that a lost key ends when the new one is entered.
        old = self.of(event.name)
        if old is not None:
            self._set_key(replace(old, until=through))
        key = TerminalKey(event.name, event.key, fingerprint, seq, is_root=event.root)
        if event.root or event.vouched:
            key = replace(key, since=through, vouched_by=event.vouched.terminal if event.vouched else "")
        self._set_key(key)

    def _refuse_vouch(self, vouched: Vouch, name: str, fingerprint: str) -> None:
        statement = attestation.voucher(name, fingerprint, vouched.terminal)
        self._refuse_unsigned(vouched, statement, f"the key {fingerprint} of {name}")

    def _refuse_unsigned(self, vouched: Vouch, statement: Statement, subject: str) -> None:
        signer = self.keys.get(vouched.key)
        if signer is None or not signer.is_trusted or signer.terminal != vouched.terminal:
            raise AuditFailure(
                f"{vouched.terminal} vouches for {subject} by the key {vouched.key}, which is not trusted"
            )
        if not p256.is_signed(signer.public, vouched.signature, canonical_of(statement)):
            raise AuditFailure(f"{vouched.terminal} did not vouch for {subject}")

    def _of(self, name: str, fingerprint: str) -> TerminalKey:
        key = self.keys.get(fingerprint)
        if key is None or key.terminal != name:
            raise AuditFailure(f"{name} has no key {fingerprint}")
        return key

    def _set_key(self, key: TerminalKey) -> None:
        self.keys[key.fingerprint] = key

    # --- signatures

    def refuse(self, event: Event, *, book: str, seq: int, by: str, key: UUID | None, former: bool = True) -> None:
        """Verify the signatures of the terminal and of the passkey that an entry carries, and that no required one is
        missing. ``former``: whether statements of earlier releases count too. Raises AuditFailure."""
        terms, attested = event.signed_terms(), event.attested
        if terms is None:
            if attested is not None:
                raise AuditFailure("it carries a signature by a terminal, and nobody signs such an entry")
            return
        is_attested = attested is not None and attested.is_by_terminal
        if not is_attested and self.demanded is not None and seq > self.demanded.get(book, 0):
            raise AuditFailure(
                f"{by} signed it by no terminal's key, and since entry {self.demanded_seq} of the"
                " house's book every signature carries one"
            )
        statements: list[Statement] = []
        if attested is not None:
            terminal, every = attested.terminal, [terms, event.formerly_signed_terms() if former else None]
            statements = [
                attestation.statement(each, book=book, by=by, terminal=terminal, key=key) for each in every if each
            ]
            self._refuse_attested(attested, statements, book, seq)
        self._refuse_passkey(event, statements, book, seq)

    def passkey_due(self, role: str, series: str, book: str, seq: int) -> int:
        """The house's entry since which a signature by this role on a slip of this series takes a passkey; 0 where it
        takes none."""
        names = (role, series) if role in BY_NAME else ()
        demands = [self.demands[name] for name in names if name in self.demands]
        return min((demand.seq for demand in demands if seq > demand.since.get(book, 0)), default=0)

    def signs(self, username: str) -> list[SlipPasskey]:
        """The passkeys of a person that sign slips now."""
        return [key for key in self.passkeys.values() if key.username == username and key.until is None]

    def _refuse_passkey(self, event: Event, statements: Sequence[Statement], book: str, seq: int) -> None:
        answer = event.attested.passkey if event.attested else None
        if not isinstance(event, SlipSigned):
            if answer is not None:
                raise WrongPasskey("it carries a signature by a passkey, and passkeys sign slips alone")
            return
        if answer is None:
            if since := self.passkey_due(event.role, event.after.series.name, book, seq):
                raise NoPasskey(
                    f"{event.name} signed it by no passkey, and since entry {since} of the house's book such a"
                    " signature carries one"
                )
            return
        passkey = self.passkeys.get(answer.credential)
        if passkey is None or passkey.username != event.username:
            raise WrongPasskey(f"it is signed by a passkey that is not one of {event.name} that signs slips")
        if seq <= passkey.since.get(book, 0):
            raise WrongPasskey(f"it is signed by a passkey of {event.name} for which no terminal vouched yet")
        if passkey.until is not None and seq > passkey.until.get(book, 0):
            raise WrongPasskey(f"it is signed by a passkey of {event.name} that was withdrawn before")
        response = next(
            (response for statement in statements if (response := answer.answer_to(passkey.public, statement))), None
        )
        if response is None:
            raise WrongPasskey(f"{event.name}'s passkey did not sign it: its signature is of something else")
        if response.origin != passkey.origin:
            raise WrongPasskey(f"{event.name}'s passkey was asked by {response.origin[:80]}, which is not the house")

    def _refuse_attested(self, attested: Attestation, statements: Sequence[Statement], book: str, seq: int) -> None:
        if not attested.is_by_terminal:
            if attested.passkey is None:
                raise AuditFailure("it says that it is signed by a terminal or a passkey, and by neither of them is it")
            return
        key = self.keys.get(attested.key)
        if key is None or key.terminal != attested.terminal:
            raise AuditFailure(f"it is signed by a key {attested.key}, which is not one of {attested.terminal}")
        clause = f"it is signed by the key {attested.key} of {attested.terminal}"
        if key.since is None or seq <= key.since.get(book, 0):
            raise AuditFailure(f"{clause}, which was not trusted then")
        if key.until is not None and seq > key.until.get(book, 0):
            raise AuditFailure(f"{clause}, which had ended before")
        if not any(attested.holds(key.public, statement) for statement in statements):
            raise AuditFailure(f"{attested.terminal} did not sign it: its signature is of something else")


@dataclass(slots=True)
class Counters:
    """How often each passkey was used, as far as slips say: in a book it only rises, but where a passkey does not
    count at all. One that goes back was copied."""

    last: dict[tuple[str, str], int] = field(default_factory=dict)

    def follow(self, event: Event, book: str) -> None:
        """Apply one more entry whose signature was verified. Raises AuditFailure."""
        answer = event.attested.passkey if event.attested else None
        if answer is None:
            return
        count, place = p256.uses_of(answer.authenticator), (answer.credential, book)
        if count and count <= self.last.get(place, 0):
            raise WrongPasskey("its passkey counts backwards: somebody copied it, or used an old signature again")
        self.last[place] = count or self.last.get(place, 0)


def canonical_of(statement: Statement) -> bytes:
    """A statement's one spelling, which is signed."""
    return attestation.canonical(statement)
