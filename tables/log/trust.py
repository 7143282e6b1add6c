"""Which keys of terminals are trusted, for which entries: a fold of the house's entries about them. Pure.

A key is trusted once a terminal vouched for it whose key is trusted; the first is a root, and stands by what the house
keeps on paper. So whoever can write into the database, and has no terminal, can add keys, and none that signs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from uuid import UUID

from ledger.proof import p256
from tables.log import attestation
from tables.log.attestation import Attestation
from tables.log.entries.terminal_keys import (
    AboutTerminalKey,
    SignaturesDemanded,
    TerminalKeyEnded,
    TerminalKeyMade,
    TerminalKeyVouched,
    Vouch,
)
from tables.log.event import Event, Misconduct

HOUSE = "house"
Through = Mapping[str, int]
"""Up to which entry of each book something was not so yet."""


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


@dataclass(slots=True)
class Trust:
    """The keys of all terminals up to an entry of the house's book."""

    keys: dict[str, TerminalKey] = field(default_factory=dict)
    """By their fingerprints."""
    demanded: Through | None = None
    """From when on every signature has to carry one; None: it may do without."""
    demanded_seq: int = 0

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
        """One more entry of the house's book. Raises Misconduct where the house would not have written it, and then
        nothing is changed."""
        if not isinstance(event, AboutTerminalKey):
            return
        through = {**event.through, HOUSE: seq}
        match event:
            case TerminalKeyMade():
                self._make(event, through, seq)
            case TerminalKeyVouched():
                key = self._of(event.name, event.key)
                if not key.waits:
                    raise Misconduct(f"the key {event.key} of {event.name} does not wait for anybody to vouch for it")
                self._refuse_vouch(event.vouched, event.name, event.key)
                self._put(replace(key, since=through, vouched_by=event.vouched.terminal))
            case TerminalKeyEnded():
                key = self._of(event.name, event.key)
                if key.until is not None:
                    raise Misconduct(f"the key {event.key} of {event.name} had ended before")
                self._put(replace(key, until=through))
            case SignaturesDemanded():
                if self.demanded is not None or not self.has_signers:
                    raise Misconduct("signatures by terminals were demanded before, or no terminal could give one")
                self.demanded, self.demanded_seq = through, seq

    def _make(self, event: TerminalKeyMade, through: Through, seq: int) -> None:
        try:
            fingerprint = p256.fingerprint(p256.read_public(event.key))
        except p256.BadKey as bad:
            raise Misconduct(f"the key of {event.name} is none: {bad}") from None
        if fingerprint in self.keys:
            raise Misconduct(f"the key {fingerprint} was entered before: a key is used once")
        statement = attestation.proof_of_key(event.name, event.key, event.challenge)
        if not p256.is_signed(event.key, event.proof, canonical_of(statement)):
            raise Misconduct(f"nobody proved that {event.name} has the key {fingerprint}")
        if event.root and (self.has_signers or event.vouched is not None):
            raise Misconduct(f"the key {fingerprint} is entered as a root, where a terminal could vouch for it")
        if event.vouched is not None:
            self._refuse_vouch(event.vouched, event.name, fingerprint)
        old = self.of(event.name)
        if old is not None:
            self._put(replace(old, until=through))
        key = TerminalKey(event.name, event.key, fingerprint, seq, is_root=event.root)
        if event.root or event.vouched:
            key = replace(key, since=through, vouched_by=event.vouched.terminal if event.vouched else "")
        self._put(key)

    def _refuse_vouch(self, vouched: Vouch, name: str, fingerprint: str) -> None:
        signer = self.keys.get(vouched.key)
        if signer is None or not signer.is_trusted or signer.terminal != vouched.terminal:
            raise Misconduct(f"{vouched.terminal} vouches for {name} by the key {vouched.key}, which is not trusted")
        statement = attestation.voucher(name, fingerprint, vouched.terminal)
        if not p256.is_signed(signer.public, vouched.signature, canonical_of(statement)):
            raise Misconduct(f"{vouched.terminal} did not vouch for the key {fingerprint} of {name}")

    def _of(self, name: str, fingerprint: str) -> TerminalKey:
        key = self.keys.get(fingerprint)
        if key is None or key.terminal != name:
            raise Misconduct(f"{name} has no key {fingerprint}")
        return key

    def _put(self, key: TerminalKey) -> None:
        self.keys[key.fingerprint] = key

    # --- signatures

    def refuse(self, event: Event, *, book: str, seq: int, by: str, key: UUID | None) -> None:
        """Raise Misconduct where an entry's signature is not the terminal's whose it says that it is, or where it has
        none and has to."""
        terms, attested = event.signed_terms(), event.attested
        if terms is None:
            if attested is not None:
                raise Misconduct("it carries a signature by a terminal, and nobody signs such an entry")
            return
        if attested is None:
            if self.demanded is not None and seq > self.demanded.get(book, 0):
                raise Misconduct(
                    f"{by} signed it by no terminal's key, and since entry {self.demanded_seq} of the"
                    " house's book every signature carries one"
                )
            return
        self._refuse_attested(attested, book, seq)
        signer = self.keys[attested.key]
        statement = attestation.statement(terms, book=book, by=by, terminal=attested.terminal, key=key)
        if not attested.holds(signer.public, statement):
            raise Misconduct(f"{attested.terminal} did not sign it: its signature is of something else")

    def _refuse_attested(self, attested: Attestation, book: str, seq: int) -> None:
        key = self.keys.get(attested.key)
        if attested.passkey is not None or key is None or key.terminal != attested.terminal:
            raise Misconduct(f"it is signed by a key {attested.key}, which is not one of {attested.terminal}")
        says = f"it is signed by the key {attested.key} of {attested.terminal}"
        if key.since is None or seq <= key.since.get(book, 0):
            raise Misconduct(f"{says}, which was not trusted then")
        if key.until is not None and seq > key.until.get(book, 0):
            raise Misconduct(f"{says}, which had ended before")


def canonical_of(statement: Mapping[str, object]) -> bytes:
    """A statement's one spelling, which is signed."""
    return attestation.canonical(statement)
