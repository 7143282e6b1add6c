"""What goes wrong: a mishap as it is entered, a card that leaves the shoe unplayed, a void round, an abandoned table, a
locked rack, and a bet over the limit that was accepted.

Every act ends in a state that the ordinary inputs go on from: a void round is over, an abandoned table waits for a
dealer or for its closer.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from msgspec import structs

from ledger.models import LogEntry
from ledger.proof.chain import Entry
from ledger.proof.chips import money
from tables.floor import permissions, player_pages, rounds, shoes, table_opening
from tables.floor.command_context import CommandContext, Decision, PendingEntry
from tables.floor.handlers import as_written, enters, reproduces
from tables.floor.inputs import AbandonTable, AcceptBet, Bet, EnterMishap, LockRack, RuleOnHand, UnlockRack, VoidRound
from tables.floor.voiding import void_step
from tables.games.cards import UNKNOWN
from tables.games.play import play
from tables.games.protocol import Choose, Illegal, SetAside
from tables.log import irregularities, slip_workflow
from tables.log.entries import rounds as log
from tables.log.entries.irregularities import MishapEntered, RackLocked, RackUnlocked, TableAbandoned
from tables.log.entries.shoes import CardSetAside, Doubted, Retired
from tables.log.event import AuditFailure
from tables.log.signatory import Signatory, same_person_fault
from tables.log.state import HOUSE_SHOE, Round, Shoe
from tables.models import Staff
from tables.refusals import Refused, sentence
from tables.setup import policies
from tables.state.round_history import words

MOST_NOTE: Final = 200
"""Characters."""


# --- a mishap ---------------------------------------------------------------------------------------------------


@enters(EnterMishap, permit=permissions.the_dealer)
def enter(scene: CommandContext, entered: EnterMishap) -> Decision:
    """The dealer says what went wrong; a card that leaves the shoe with it is in the same input. Raises Refused."""
    mishap = irregularities.MISHAPS.get(entered.which)
    if mishap is None:
        raise Refused("unknown_mishap", f"A mishap is one of {', '.join(irregularities.MISHAPS)}.", 422)
    if entered.act and entered.act not in mishap.acts:
        raise Refused("unknown_act", f"{mishap.title}: nothing is {entered.act} for it.", 422)
    if entered.act not in ("", "set_aside", "burn"):
        raise Refused("unknown_act", f"{mishap.title}: {entered.act} is entered by itself.", 422)
    event = MishapEntered(
        **scene.author,
        which=mishap.name,
        act=entered.act,
        called=_note(entered.called, "who came"),
        note=_note(entered.note, "what happened"),
    )
    steps = [PendingEntry(event, _number(scene))]
    if entered.act:
        steps += _card_leaves(scene, entered)
    alert = (
        f"{scene.table.name}: {mishap.title.lower()}, {scene.by.name} calls {mishap.calls}" if mishap.alerts else None
    )
    return Decision(steps, alert=alert, evidence={"which": mishap.name, "seq": scene.next_seq} if alert else {})


@reproduces(MishapEntered)
def enact_mishap(scene: CommandContext, event: MishapEntered, entry: Entry) -> PendingEntry:
    """By the dealer who entered it, with an act of the catalogue; a ruling on the hand of a player who left, by a role
    that the policy of the site allowed then."""
    is_ruling = event.act in irregularities.RULINGS
    acting = as_written(
        scene, event, entry, permissions.the_dealer_or_the_floor if is_ruling else permissions.the_dealer
    )
    may_rule = acting.by.has_perm("tables.run_floor") or (
        event.act == "play_on" and policies.went_by(RULED_BY, entry, "dealer".__eq__)
    )
    if is_ruling and not may_rule:
        raise AuditFailure("a dealer ruled on the hand of a player who left, which the policy did not allow")
    mishap = irregularities.MISHAPS.get(event.which)
    if mishap is None or event.act not in ("", *mishap.acts):
        raise AuditFailure(f"it is no mishap of this house, or one that leads to no {event.act}")
    return PendingEntry(event, _number(acting))


# --- a player who left ------------------------------------------------------------------------------------------


@enters(RuleOnHand, permit=permissions.the_dealer_or_the_floor)
def rule_on_hand(scene: CommandContext, entered: RuleOnHand) -> Decision:
    """Carry out a ruling on the hand of a player who left: the wager stands, or the hand is given up. Raises
    Refused."""
    permissions.not_stopped(scene)
    is_alone = entered.ruling == "play_on" and policies.in_force(RULED_BY) == "dealer"
    if not (is_alone or scene.by.has_perm("tables.run_floor")):
        raise Refused("not_permitted", "A pit boss rules on the hand of a player who left.", 403)
    current, ask = scene.standing.round, rounds.deciding(scene.standing.round)
    if current is None or ask is None or ask.seat != entered.seat:
        raise Refused("out_of_turn", "The hand of a player who left is ruled on when that seat has to decide.", 409)
    choice = irregularities.choice_of(entered.ruling, ask.choices) if entered.ruling in irregularities.RULINGS else ""
    if not choice:
        says = "This hand has no choice for that ruling. Choose the other ruling, or void the round."
        raise Refused("no_ruling", says, 422)
    note = _note(entered.note, "what happened")
    event = MishapEntered(**scene.author, which=irregularities.PLAYER_LEFT, act=entered.ruling, note=note)
    played, *more = rounds.play(scene, current, None, Choose(ask.seat, choice)).steps
    alert = (
        f"{scene.table.name}, round {current.number}: the player of seat {ask.seat} left; {scene.by.name} rules:"
        f" {irregularities.ACTS[entered.ruling].lower()} ({choice})"
    )
    steps = [
        PendingEntry(event, current.number),
        replace(played, event=structs.replace(played.event, ruling=True)),
        *more,
    ]
    return Decision(steps, alert=alert, evidence={"round": current.number, "seat": ask.seat, "seq": scene.next_seq})


RULED_BY: Final = "player_left_ruled_by"
"""The policy that says who may rule that the wager stands."""


def _number(scene: CommandContext) -> int | None:
    current = scene.standing.round
    return current.number if current is not None and scene.standing.round_open else None


def _note(text: str, what: str) -> str:
    trimmed = " ".join(text.split())
    if len(trimmed) > MOST_NOTE or not trimmed.isprintable():
        raise Refused("bad_words", f"Say {what} in at most {MOST_NOTE} plain characters.", 422)
    return trimmed


# --- a card leaves the shoe unplayed ----------------------------------------------------------------------------


def _card_leaves(scene: CommandContext, entered: EnterMishap) -> list[PendingEntry]:
    """The entries of a card that is set aside or burned, after the one about the mishap."""
    shoe = scene.standing.shoe
    if shoe is None or shoe.stage != "ready":
        raise Refused("no_shoe", "No shoe is being dealt: no card can leave it.", 409)
    if entered.act == "burn":
        return _burned(scene, shoe, entered)
    if shoe.source == HOUSE_SHOE and entered.card:
        raise Refused("house_shoe", "The house shoe tells which card it is: do not name it.", 422)
    card = _card_named(shoe, entered.card)
    if not scene.standing.round_open:
        return _aside_between(scene, shoe, card)
    current = scene.standing.round
    assert current is not None  # noqa: S101 -- a round is open
    if current.to_pay:
        raise Refused("pay_first", f"Pay seat {current.to_pay[0].seat} first: no card is due any more.", 409)
    return _aside_in_round(scene, shoe, current, card)


def _card_named(shoe: Shoe, name: str) -> int:
    """The card of a shoe that is written so; UNKNOWN without a name."""
    if not name:
        return UNKNOWN
    spelling: int | str = int(name) if name.isascii() and name.isdecimal() and len(name) < 3 else name
    try:
        return shoe.pack.number(spelling)
    except KeyError:
        first, last = shoe.pack.spell(1), shoe.pack.spell(len(shoe.pack.deck))
        raise Refused("no_such_card", f"There is no card {name} here: cards are {first} to {last}.", 422) from None


def _aside_in_round(scene: CommandContext, shoe: Shoe, current: Round, card: int) -> list[PendingEntry]:
    if shoe.source == HOUSE_SHOE and current.game.cards_left(current.state):
        card = shoes.draw(shoe, current.game.cards_left(current.state))
    action = SetAside(card)
    try:
        state = play(current.game, current.state, action)
    except Illegal as illegal:
        raise Refused(illegal.code, sentence(illegal.say(money)), 422) from None
    salt = secrets.token_hex(16) if current.secret else None
    steps = [PendingEntry(log.Played(actions=(action,), salt=salt), current.number)]
    if shoes.cut_comes_out(scene, current, state):
        steps.append(shoes.cut_step(scene, current.game.cards_left(state)))
        shoe = replace(shoe, cut_out=True).noting(cut_round=current.number)
    return steps if card != UNKNOWN else [*steps, PendingEntry(_doubted(shoe))]


def _aside_between(scene: CommandContext, shoe: Shoe, card: int) -> list[PendingEntry]:
    step = shoes.aside_step(scene, card, scene.next_seq + 1)
    event = step.event
    assert isinstance(event, CardSetAside)  # noqa: S101 -- it was just made
    return [step] if event.card != UNKNOWN else [step, PendingEntry(_doubted(event.shoe))]


def _burned(scene: CommandContext, shoe: Shoe, entered: EnterMishap) -> list[PendingEntry]:
    """A card is burned between two rounds: unseen, but for that of a house shoe, which its order tells."""
    if scene.standing.round_open:
        raise Refused("round_open", "Finish the round first: a card is burned between two rounds.", 409)
    if entered.card:
        raise Refused("bad_burn", "A burned card is not turned: do not name it.", 422)
    is_due = shoes.due(scene) == "relief"
    return [shoes.aside_step(scene, UNKNOWN, scene.next_seq + 1, relief=is_due)]


def _doubted(shoe: Shoe) -> Doubted:
    return Doubted(shoe=replace(shoe, uncertain=True))


@reproduces(CardSetAside)
def enact_aside(scene: CommandContext, event: CardSetAside, entry: Entry) -> PendingEntry:
    """Which card it was, only who saw it knows; of a house shoe, its order proves it."""
    return shoes.aside_step(scene, event.card, entry.seq, relief=event.relief)


@reproduces(Doubted)
def enact_doubt(scene: CommandContext, event: Doubted, entry: Entry) -> PendingEntry:
    if scene.standing.shoe is None:
        raise AuditFailure("it doubts a shoe, and there is none")
    return PendingEntry(_doubted(scene.standing.shoe))


# --- a round without a result -----------------------------------------------------------------------------------


@enters(VoidRound, permit=permissions.who_voids)
def void(scene: CommandContext, entered: VoidRound) -> Decision:
    """The open round ends without a result. Raises Refused."""
    _refuse_reason(entered.reason, policies.words("void_reasons"), "A round is void")
    second = _second(scene, entered.second, "void_second_roles")
    steps = [void_step(scene, entered.reason, entered.note, second)]
    if entered.unknown or entered.reason in irregularities.SPOILED:
        steps += _shoe_goes(scene)
    current = scene.standing.round
    number = current.number if current else 0
    what = irregularities.REASONS[entered.reason].lower() + _also_signed(second)
    alert = f"{scene.table.name}, round {number}: {scene.by.name} made it void ({what})"
    return Decision(steps, alert=alert, evidence={"round": number, "seq": scene.next_seq, "reason": entered.reason})


def _also_signed(second: Signatory | None) -> str:
    """The second signer as a clause of an alert; empty where one person signed."""
    return f", {second.name} signed too" if second else ""


def _refuse_reason(reason: str, allowed: Sequence[str], what: str) -> None:
    if reason not in allowed:
        choices = ", ".join(irregularities.REASONS[name].lower() for name in allowed)
        raise Refused("unknown_reason", f"{what} for one of these reasons here: {choices}.", 422)


def _shoe_goes(scene: CommandContext) -> list[PendingEntry]:
    shoe = scene.standing.shoe
    return [PendingEntry(Retired(shoe=shoe, opened=shoes.order_opened(shoe)))] if shoe else []


@reproduces(log.Voided)
def enact_void(scene: CommandContext, event: log.Voided, entry: Entry) -> PendingEntry:
    """Of the round that is open: by whom, for what and with whose second signature the house's terms had it then. What
    names its result is verified with the rules of the round (``log.Voided.bear_out``)."""
    second: Signatory | None = None
    if event.reason == irregularities.RULING:
        acting = as_written(scene, event, entry, permissions.the_floor_though_locked)
    elif _is_left(scene, entry):
        acting = as_written(scene, event, entry, permissions.at_once)
        _check_terms("abandon", event, entry)
    else:
        acting = as_written(scene, event, entry, permissions.uncounted)
        _check_terms("void", event, entry)
        _check_second(event, "void_second_roles", entry)
        second = event.second
    step = void_step(acting, event.reason, event.note, second)
    return replace(step, event=structs.replace(step.event, end=event.end, result=event.result))


def _is_left(scene: CommandContext, entry: Entry) -> bool:
    """Whether everybody left the table in the entries just before this one."""
    lock = scene.standing.lock
    return lock is not None and lock.abandoned and lock.since_seq == entry.seq - 1


def _check_terms(act: str, event: log.Voided | TableAbandoned, entry: Entry) -> None:
    """Raises Misconduct where the house's terms let others do so then, or for other reasons."""
    if not policies.went_by(f"{act}_roles", entry, lambda roles: event.role in roles):
        raise AuditFailure(f"it is by a {event.role}, and the house's terms had it done by others then")
    if not policies.went_by(f"{act}_reasons", entry, lambda reasons: event.reason in reasons):
        raise AuditFailure(f"its reason {event.reason!r} was none that the house's terms had then")


# --- who else signs ---------------------------------------------------------------------------------------------


def _second(scene: CommandContext, username: str, term: str) -> Signatory | None:
    """Who signs beside whoever enters it, where the house's terms want somebody. Raises Refused."""
    roles = policies.words(term)
    if not roles:
        return None
    if not username:
        raise Refused("second_signature", f"This takes a second signature: of {slip_workflow.either(roles)}.", 403)
    second = Staff.objects.filter(username=username, is_active=True).first()
    if second is None or second.role not in roles:
        raise Refused("second_signature", f"The second signature is that of {slip_workflow.either(roles)}.", 403)
    assert isinstance(scene.by, Staff)  # noqa: S101 -- a member of the staff voids a round or unlocks a rack
    if fault := same_person_fault(second.signatory, [scene.by.signatory]):
        raise Refused("second_signature", fault, 403)
    permissions.in_their_pit(scene, second)
    return second.signatory


def _check_second(event: log.Voided | RackUnlocked, term: str, entry: Entry) -> None:
    """Raises AuditFailure where a second signature is missing, or of a role that may not give it. `refuse_signers` has
    compared the two people."""
    second = event.second

    def fits(roles: Sequence[str]) -> bool:
        return second.role in roles if second is not None else not roles

    if not policies.went_by(term, entry, fits):
        signed = f"signed by a {second.role} too" if second else "signed by one person"
        raise AuditFailure(f"it is {signed}, and the house's terms wanted it otherwise then")


# --- a table that everybody left --------------------------------------------------------------------------------


@enters(AbandonTable, permit=permissions.who_abandons)
def abandon(scene: CommandContext, entered: AbandonTable) -> Decision:
    """From any state: the rack is locked, the round void, the shoe retired, the dealer signed out; no chip moves but
    back."""
    _refuse_reason(entered.reason, policies.words("abandon_reasons"), "A table is abandoned")
    note, standing = words(entered.note, "what happened"), scene.standing
    steps = [
        PendingEntry(TableAbandoned(**scene.author, reason=entered.reason, note=note), _number(scene)),
        PendingEntry(RackLocked(**scene.author, note=note, abandoned=True)),
    ]
    if standing.round_open:
        steps.append(void_step(scene, entered.reason, note))
    steps += [*_shoe_goes(scene), *player_pages.revoke(scene)]
    if standing.dealer is not None:
        steps.append(table_opening.tap_out(standing.dealer.username, standing.dealer.name))
    alert = (
        f"{scene.table.name}: {scene.by.name} abandoned the table ({irregularities.REASONS[entered.reason].lower()})"
    )
    return Decision(steps, alert=alert, evidence={"reason": entered.reason, "seq": scene.next_seq})


@reproduces(TableAbandoned)
def enact_abandoning(scene: CommandContext, event: TableAbandoned, entry: Entry) -> PendingEntry:
    acting = as_written(scene, event, entry, permissions.at_once)
    if event.reason not in irregularities.LEAVING:
        raise AuditFailure(f"it abandons the table for {event.reason!r}, which is no reason of the list")
    _check_terms("abandon", event, entry)
    return PendingEntry(event, _number(acting))


# --- a rack that is locked --------------------------------------------------------------------------------------


@enters(LockRack, permit=permissions.the_dealer_or_the_floor_at_once)
def lock(scene: CommandContext, entered: LockRack) -> Decision:
    """Nothing goes into the rack or out of it from here on. Raises Refused."""
    if scene.standing.lock is not None:
        raise Refused("rack_locked", f"The rack of {scene.table.name} is locked already.", 409)
    event = RackLocked(**scene.author, note=words(entered.note, "why the rack is locked"))
    alert = f"{scene.table.name}: {scene.by.name} locked the rack ({event.note})"
    return Decision([PendingEntry(event, _number(scene))], alert=alert, evidence={"seq": scene.next_seq})


@enters(UnlockRack, permit=permissions.the_floor_though_locked)
def unlock(scene: CommandContext, entered: UnlockRack) -> Decision:
    """The table goes on from where it was locked. Raises Refused."""
    if scene.standing.lock is None:
        raise Refused("rack_unlocked", f"The rack of {scene.table.name} is not locked.", 409)
    second = _second(scene, entered.second, "unlock_second_roles")
    event = RackUnlocked(**scene.author, note=words(entered.note, "why the rack is unlocked"), second=second)
    alert = f"{scene.table.name}: {scene.by.name} unlocked the rack{_also_signed(second)} ({event.note})"
    return Decision([PendingEntry(event, _number(scene))], alert=alert, evidence={"seq": scene.next_seq})


@reproduces(RackLocked)
def enact_lock(scene: CommandContext, event: RackLocked, entry: Entry) -> PendingEntry:
    """By the dealer or the pit; or with the table that was abandoned just before, by the same person."""
    if not event.abandoned:
        acting = as_written(scene, event, entry, permissions.the_dealer_or_the_floor_at_once)
        return lock(acting, LockRack(event.note)).steps[0]
    as_written(scene, event, entry, permissions.at_once)
    before = {"book_id": entry.book_id, "seq": entry.seq - 1, "subject": "mishap", "kind": TableAbandoned.kinds[0]}
    if not LogEntry.objects.filter(**before, by=entry.by).exists():
        raise AuditFailure("it locks the rack of an abandoned table, and nobody abandoned it just before")
    return PendingEntry(event)


@reproduces(RackUnlocked)
def enact_unlock(scene: CommandContext, event: RackUnlocked, entry: Entry) -> PendingEntry:
    acting = as_written(scene, event, entry, permissions.the_floor_though_locked)
    if scene.standing.lock is None:
        raise AuditFailure("it unlocks a rack that is not locked")
    _check_second(event, "unlock_second_roles", entry)
    return PendingEntry(event, _number(acting))


# --- a bet over the limit that was accepted ---------------------------------------------------------------------


@enters(AcceptBet, permit=permissions.the_floor)
def accept_bet(scene: CommandContext, entered: AcceptBet) -> Decision:
    """A bet over the maximum was accepted: it stands, and is paid or lost in its entirety. A pit boss signs for it."""
    rounds.shoe_ready(scene)
    bet = Bet(entered.seat, entered.amount_cents, entered.wager, approved=True)
    current, opening = rounds.round_at(scene, bet)
    try:
        state = play(current.game, current.state, bet)
    except Illegal as illegal:
        raise Refused(illegal.code, sentence(illegal.say(money)), 422, **illegal.facts) from None
    _refuse_within(current, bet)
    event = log.Played(actions=(bet,), opening=opening, decided=current.newly_decided(state))
    alert = (
        f"{scene.table.name}, round {current.number}: {scene.by.name} let a bet of {money(bet.amount_cents)} stand at"
        f" seat {bet.seat}, over the limit"
    )
    evidence = {"round": current.number, "seat": bet.seat, "cents": bet.amount_cents, "seq": scene.next_seq}
    return Decision([PendingEntry(event, current.number)], alert=alert, evidence=evidence)


def _refuse_within(current: Round, bet: Bet) -> None:
    """A bet within the limits takes no pit boss."""
    try:
        play(current.game, current.state, replace_approval(bet))
    except Illegal:
        return
    raise Refused("within_limits", "This bet is within the limits: the dealer enters it.", 422)


def replace_approval(bet: Bet) -> Bet:
    """The same bet without anybody's approval."""
    return Bet(bet.seat, bet.amount_cents, bet.wager)
