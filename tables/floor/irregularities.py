"""Irregularities: cards set aside, void rounds, abandoned tables, locked racks, and accepted bets over the limit.

Each leaves a state that ordinary inputs can continue from: a void round is over, an abandoned table waits for a dealer
or for its closing count.
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
"""Maximum length of a note, in characters."""


# --- a mishap ---------------------------------------------------------------------------------------------------


@enters(EnterMishap, permit=permissions.the_dealer)
def enter(context: CommandContext, entered: EnterMishap) -> Decision:
    """The dealer enters an irregularity, and a card that leaves the shoe with it. Raises Refused."""
    mishap = irregularities.MISHAPS.get(entered.which)
    if mishap is None:
        raise Refused("unknown_mishap", f"A mishap is one of {', '.join(irregularities.MISHAPS)}.", 422)
    if entered.act and entered.act not in mishap.acts:
        raise Refused("unknown_act", f"{mishap.title}: nothing is {entered.act} for it.", 422)
    if entered.act not in ("", "set_aside", "burn"):
        raise Refused("unknown_act", f"{mishap.title}: {entered.act} is entered by itself.", 422)
    event = MishapEntered(
        **context.author,
        which=mishap.name,
        act=entered.act,
        called=_note(entered.called, "who came"),
        note=_note(entered.note, "what happened"),
    )
    steps = [PendingEntry(event, _number(context))]
    if entered.act:
        steps += _card_leaves(context, entered)
    alert = (
        f"{context.table.name}: {mishap.title.lower()}, {context.by.name} calls {mishap.calls}"
        if mishap.alerts
        else None
    )
    return Decision(steps, alert=alert, evidence={"which": mishap.name, "seq": context.next_seq} if alert else {})


@reproduces(MishapEntered)
def enact_mishap(context: CommandContext, event: MishapEntered, entry: Entry) -> PendingEntry:
    """The irregularity as entered, by the dealer and with an action of the catalogue. Raises AuditFailure.

    A ruling on the hand of a player who left is by a role that the policy permitted then.
    """
    is_ruling = event.act in irregularities.RULINGS
    acting = as_written(
        context, event, entry, permissions.the_dealer_or_the_floor if is_ruling else permissions.the_dealer
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
def rule_on_hand(context: CommandContext, entered: RuleOnHand) -> Decision:
    """Carry out a ruling on the hand of a player who left. Raises Refused.

    The wager remains in play, or the hand is given up.
    """
    permissions.not_stopped(context)
    is_alone = entered.ruling == "play_on" and policies.in_force(RULED_BY) == "dealer"
    if not (is_alone or context.by.has_perm("tables.run_floor")):
        raise Refused("not_permitted", "A pit boss rules on the hand of a player who left.", 403)
    current, ask = context.standing.round, rounds.deciding(context.standing.round)
    if current is None or ask is None or ask.seat != entered.seat:
        raise Refused("out_of_turn", "The hand of a player who left is ruled on when that seat has to decide.", 409)
    choice = irregularities.choice_of(entered.ruling, ask.choices) if entered.ruling in irregularities.RULINGS else ""
    if not choice:
        message = "This hand has no choice for that ruling. Choose the other ruling, or void the round."
        raise Refused("no_ruling", message, 422)
    note = _note(entered.note, "what happened")
    event = MishapEntered(**context.author, which=irregularities.PLAYER_LEFT, act=entered.ruling, note=note)
    played, *more = rounds.play(context, current, None, Choose(ask.seat, choice)).steps
    alert = (
        f"{context.table.name}, round {current.number}: the player of seat {ask.seat} left; {context.by.name} rules:"
        f" {irregularities.ACTS[entered.ruling].lower()} ({choice})"
    )
    # The ruling precedes the play that carries it out: a proof finds the reason in the entry before the choice.
    steps = [
        PendingEntry(event, current.number),
        replace(played, event=structs.replace(played.event, ruling=True)),
        *more,
    ]
    return Decision(steps, alert=alert, evidence={"round": current.number, "seat": ask.seat, "seq": context.next_seq})


RULED_BY: Final = "player_left_ruled_by"
"""Policy: the role that may rule that the wager remains in play."""


def _number(context: CommandContext) -> int | None:
    current = context.standing.round
    return current.number if current is not None and context.standing.round_open else None


def _note(text: str, what: str) -> str:
    trimmed = " ".join(text.split())
    if len(trimmed) > MOST_NOTE or not trimmed.isprintable():
        raise Refused("bad_words", f"Say {what} in at most {MOST_NOTE} plain characters.", 422)
    return trimmed


# --- a card leaves the shoe unplayed ----------------------------------------------------------------------------


def _card_leaves(context: CommandContext, entered: EnterMishap) -> list[PendingEntry]:
    """The entries for a card set aside or burned, which follow the entry of the irregularity."""
    shoe = context.standing.shoe
    if shoe is None or shoe.stage != "ready":
        raise Refused("no_shoe", "No shoe is being dealt: no card can leave it.", 409)
    if entered.act == "burn":
        return _burned(context, shoe, entered)
    # The committed order knows the card. A typed name could contradict it, and the shoe would fail its verification.
    if shoe.source == HOUSE_SHOE and entered.card:
        raise Refused("house_shoe", "The house shoe tells which card it is: do not name it.", 422)
    card = _card_named(shoe, entered.card)
    if not context.standing.round_open:
        return _aside_between(context, shoe, card)
    current = context.standing.round
    assert current is not None  # noqa: S101 -- a round is open
    if current.to_pay:
        raise Refused("pay_first", f"Pay seat {current.to_pay[0].seat} first: no card is due any more.", 409)
    return _aside_in_round(context, shoe, current, card)


def _card_named(shoe: Shoe, name: str) -> int:
    """The card of a shoe with this spelling; UNKNOWN if it is empty. Raises Refused."""
    if not name:
        return UNKNOWN
    spelling: int | str = int(name) if name.isascii() and name.isdecimal() and len(name) < 3 else name
    try:
        return shoe.pack.number(spelling)
    except KeyError:
        first, last = shoe.pack.spell(1), shoe.pack.spell(len(shoe.pack.deck))
        raise Refused("no_such_card", f"There is no card {name} here: cards are {first} to {last}.", 422) from None


def _aside_in_round(context: CommandContext, shoe: Shoe, current: Round, card: int) -> list[PendingEntry]:
    if shoe.source == HOUSE_SHOE and current.game.cards_left(current.state):
        card = shoes.draw(shoe, current.game.cards_left(current.state))
    action = SetAside(card)
    try:
        state = play(current.game, current.state, action)
    except Illegal as illegal:
        raise Refused(illegal.code, sentence(illegal.say(money)), 422) from None
    # The card is secret in some games, and few cards would have to be tried against the hash of the entry.
    salt = secrets.token_hex(16) if current.secret else None
    steps = [PendingEntry(log.Played(actions=(action,), salt=salt), current.number)]
    if shoes.cut_comes_out(context, current, state):
        steps.append(shoes.cut_step(context, current.game.cards_left(state)))
        shoe = replace(shoe, cut_out=True).noting(cut_round=current.number)
    return steps if card != UNKNOWN else [*steps, PendingEntry(_doubted(shoe))]


def _aside_between(context: CommandContext, shoe: Shoe, card: int) -> list[PendingEntry]:
    step = shoes.aside_step(context, card, context.next_seq + 1)
    event = step.event
    assert isinstance(event, CardSetAside)  # noqa: S101 -- it was just made
    return [step] if event.card != UNKNOWN else [step, PendingEntry(_doubted(event.shoe))]


def _burned(context: CommandContext, shoe: Shoe, entered: EnterMishap) -> list[PendingEntry]:
    """The entry of a card burned between two rounds. It is unseen, except by the order of an electronic shoe."""
    if context.standing.round_open:
        raise Refused("round_open", "Finish the round first: a card is burned between two rounds.", 409)
    if entered.card:
        raise Refused("bad_burn", "A burned card is not turned: do not name it.", 422)
    is_due = shoes.due(context) == "relief"
    return [shoes.aside_step(context, UNKNOWN, context.next_seq + 1, relief=is_due)]


def _doubted(shoe: Shoe) -> Doubted:
    return Doubted(shoe=replace(shoe, uncertain=True))


@reproduces(CardSetAside)
def enact_aside(context: CommandContext, event: CardSetAside, entry: Entry) -> PendingEntry:
    """The card as it was entered, because only the person who saw it can name it.

    For an electronic shoe, the opened order verifies it.
    """
    return shoes.aside_step(context, event.card, entry.seq, relief=event.relief)


@reproduces(Doubted)
def enact_doubt(context: CommandContext, event: Doubted, entry: Entry) -> PendingEntry:
    if context.standing.shoe is None:
        raise AuditFailure("it doubts a shoe, and there is none")
    return PendingEntry(_doubted(context.standing.shoe))


# --- a round without a result -----------------------------------------------------------------------------------


@enters(VoidRound, permit=permissions.who_voids)
def void(context: CommandContext, entered: VoidRound) -> Decision:
    """The open round ends without a result. Raises Refused."""
    _refuse_reason(entered.reason, policies.words("void_reasons"), "A round is void")
    second = _second(context, entered.second, "void_second_roles")
    steps = [void_step(context, entered.reason, entered.note, second)]
    if entered.unknown or entered.reason in irregularities.SPOILED:
        # After the round is void: the entry opens the order of the shoe, which no open round may depend on.
        steps += _shoe_goes(context)
    current = context.standing.round
    number = current.number if current else 0
    what = irregularities.REASONS[entered.reason].lower() + _also_signed(second)
    alert = f"{context.table.name}, round {number}: {context.by.name} made it void ({what})"
    return Decision(steps, alert=alert, evidence={"round": number, "seq": context.next_seq, "reason": entered.reason})


def _also_signed(second: Signatory | None) -> str:
    """The second signer as a clause of an alert; empty where one person signed."""
    return f", {second.name} signed too" if second else ""


def _refuse_reason(reason: str, allowed: Sequence[str], what: str) -> None:
    if reason not in allowed:
        choices = ", ".join(irregularities.REASONS[name].lower() for name in allowed)
        raise Refused("unknown_reason", f"{what} for one of these reasons here: {choices}.", 422)


def _shoe_goes(context: CommandContext) -> list[PendingEntry]:
    shoe = context.standing.shoe
    return [PendingEntry(Retired(shoe=shoe, opened=shoes.order_opened(shoe)))] if shoe else []


@reproduces(log.Voided)
def enact_void(context: CommandContext, event: log.Voided, entry: Entry) -> PendingEntry:
    """The void round, by the roles, reasons and second signatures of the policies then in force. Raises AuditFailure.

    Its result is verified with the rules of the round (``log.Voided.verify``).
    """
    second: Signatory | None = None
    if event.reason == irregularities.RULING:
        acting = as_written(context, event, entry, permissions.the_floor_though_locked)
    elif _is_left(context, entry):
        acting = as_written(context, event, entry, permissions.at_once)
        _check_terms("abandon", event, entry)
    else:
        acting = as_written(context, event, entry, permissions.uncounted)
        _check_terms("void", event, entry)
        _check_second(event, "void_second_roles", entry)
        second = event.second
    step = void_step(acting, event.reason, event.note, second)
    return replace(step, event=structs.replace(step.event, end=event.end, result=event.result))


def _is_left(context: CommandContext, entry: Entry) -> bool:
    """Whether the entries immediately before this one abandoned the table."""
    lock = context.standing.lock
    return lock is not None and lock.abandoned and lock.since_seq == entry.seq - 1


def _check_terms(act: str, event: log.Voided | TableAbandoned, entry: Entry) -> None:
    """Raises AuditFailure where the policies then in force did not permit this role or this reason."""
    if not policies.went_by(f"{act}_roles", entry, lambda roles: event.role in roles):
        raise AuditFailure(f"it is by a {event.role}, and the house's terms had it done by others then")
    if not policies.went_by(f"{act}_reasons", entry, lambda reasons: event.reason in reasons):
        raise AuditFailure(f"its reason {event.reason!r} was none that the house's terms had then")


# --- who else signs ---------------------------------------------------------------------------------------------


def _second(context: CommandContext, username: str, term: str) -> Signatory | None:
    """The second signatory, where a policy requires one; None where it does not. Raises Refused."""
    roles = policies.words(term)
    if not roles:
        return None
    if not username:
        raise Refused("second_signature", f"This takes a second signature: of {slip_workflow.either(roles)}.", 403)
    # Badge and PIN were verified before the lock. What is left to decide is whether the policy admits the role.
    second = Staff.objects.find_active(username=username)
    if second is None or second.role not in roles:
        raise Refused("second_signature", f"The second signature is that of {slip_workflow.either(roles)}.", 403)
    assert isinstance(context.by, Staff)  # noqa: S101 -- a member of the staff voids a round or unlocks a rack
    # Compared by user name and by badge: two accounts with one badge belong to one person.
    if fault := same_person_fault(second.signatory, [context.by.signatory]):
        raise Refused("second_signature", fault, 403)
    permissions.in_their_pit(context, second)
    return second.signatory


def _check_second(event: log.Voided | RackUnlocked, term: str, entry: Entry) -> None:
    """Raises AuditFailure where a second signature is missing, or its role may not give it.

    That the two persons differ is compared by `refuse_signers`.
    """
    second = event.second

    def fits(roles: Sequence[str]) -> bool:
        return second.role in roles if second is not None else not roles

    if not policies.went_by(term, entry, fits):
        signed = f"signed by a {second.role} too" if second else "signed by one person"
        raise AuditFailure(f"it is {signed}, and the house's terms wanted it otherwise then")


# --- a table that everybody left --------------------------------------------------------------------------------


@enters(AbandonTable, permit=permissions.who_abandons)
def abandon(context: CommandContext, entered: AbandonTable) -> Decision:
    """From any state: lock the rack, void the round, retire the shoe and sign the dealer out. Raises Refused.

    Chips move only to return the bets of the void round.
    """
    _refuse_reason(entered.reason, policies.words("abandon_reasons"), "A table is abandoned")
    note, state = words(entered.note, "what happened"), context.standing
    # The lock comes first, so no other transfer can follow; all entries are one transaction, so an evacuation is never
    # half recorded.
    steps = [
        PendingEntry(TableAbandoned(**context.author, reason=entered.reason, note=note), _number(context)),
        PendingEntry(RackLocked(**context.author, note=note, abandoned=True)),
    ]
    if state.round_open:
        steps.append(void_step(context, entered.reason, note))
    steps += [*_shoe_goes(context), *player_pages.revoke(context)]
    if state.dealer is not None:
        steps.append(table_opening.tap_out(state.dealer.username, state.dealer.name))
    reason = irregularities.REASONS[entered.reason].lower()
    alert = f"{context.table.name}: {context.by.name} abandoned the table ({reason})"
    return Decision(steps, alert=alert, evidence={"reason": entered.reason, "seq": context.next_seq})


@reproduces(TableAbandoned)
def enact_abandoning(context: CommandContext, event: TableAbandoned, entry: Entry) -> PendingEntry:
    acting = as_written(context, event, entry, permissions.at_once)
    if event.reason not in irregularities.LEAVING:
        raise AuditFailure(f"it abandons the table for {event.reason!r}, which is no reason of the list")
    _check_terms("abandon", event, entry)
    return PendingEntry(event, _number(acting))


# --- a rack that is locked --------------------------------------------------------------------------------------


@enters(LockRack, permit=permissions.the_dealer_or_the_floor_at_once)
def lock(context: CommandContext, entered: LockRack) -> Decision:
    """No chips enter or leave the rack from now on. Raises Refused."""
    if context.standing.lock is not None:
        raise Refused("rack_locked", f"The rack of {context.table.name} is locked already.", 409)
    event = RackLocked(**context.author, note=words(entered.note, "why the rack is locked"))
    alert = f"{context.table.name}: {context.by.name} locked the rack ({event.note})"
    return Decision([PendingEntry(event, _number(context))], alert=alert, evidence={"seq": context.next_seq})


@enters(UnlockRack, permit=permissions.the_floor_though_locked)
def unlock(context: CommandContext, entered: UnlockRack) -> Decision:
    """The table continues from the state in which its rack was locked. Raises Refused."""
    if context.standing.lock is None:
        raise Refused("rack_unlocked", f"The rack of {context.table.name} is not locked.", 409)
    second = _second(context, entered.second, "unlock_second_roles")
    event = RackUnlocked(**context.author, note=words(entered.note, "why the rack is unlocked"), second=second)
    alert = f"{context.table.name}: {context.by.name} unlocked the rack{_also_signed(second)} ({event.note})"
    return Decision([PendingEntry(event, _number(context))], alert=alert, evidence={"seq": context.next_seq})


@reproduces(RackLocked)
def enact_lock(context: CommandContext, event: RackLocked, entry: Entry) -> PendingEntry:
    """By the dealer or the pit boss; for an abandoned table, by the author of the entry that abandoned it."""
    if not event.abandoned:
        acting = as_written(context, event, entry, permissions.the_dealer_or_the_floor_at_once)
        return lock(acting, LockRack(event.note)).steps[0]
    as_written(context, event, entry, permissions.at_once)
    # The lock of an abandoned table needs no permission of its own, so it must not be possible without the abandonment.
    before = {"book_id": entry.book_id, "seq": entry.seq - 1, "subject": "mishap", "kind": TableAbandoned.kinds[0]}
    if not LogEntry.objects.filter(**before, by=entry.by).exists():
        raise AuditFailure("it locks the rack of an abandoned table, and nobody abandoned it just before")
    return PendingEntry(event)


@reproduces(RackUnlocked)
def enact_unlock(context: CommandContext, event: RackUnlocked, entry: Entry) -> PendingEntry:
    acting = as_written(context, event, entry, permissions.the_floor_though_locked)
    if context.standing.lock is None:
        raise AuditFailure("it unlocks a rack that is not locked")
    _check_second(event, "unlock_second_roles", entry)
    return PendingEntry(event, _number(acting))


# --- a bet over the limit that was accepted ---------------------------------------------------------------------


@enters(AcceptBet, permit=permissions.the_floor)
def accept_bet(context: CommandContext, entered: AcceptBet) -> Decision:
    """A bet over the maximum is accepted with a pit boss's signature, and paid or lost in full. Raises Refused."""
    rounds.shoe_ready(context)
    # The mark of approval is set here and nowhere else: one that a screen sends is refused in `rounds`.
    bet = Bet(entered.seat, entered.amount_cents, entered.wager, approved=True)
    current, opening = rounds.round_at(context, bet)
    try:
        state = play(current.game, current.state, bet)
    except Illegal as illegal:
        raise Refused(illegal.code, sentence(illegal.say(money)), 422, **illegal.facts) from None
    _refuse_within(current, bet)
    event = log.Played(actions=(bet,), opening=opening, decided=current.newly_decided(state))
    alert = (
        f"{context.table.name}, round {current.number}: {context.by.name} let a bet of {money(bet.amount_cents)} stand"
        f" at seat {bet.seat}, over the limit"
    )
    evidence = {"round": current.number, "seat": bet.seat, "cents": bet.amount_cents, "seq": context.next_seq}
    return Decision([PendingEntry(event, current.number)], alert=alert, evidence=evidence)


def _refuse_within(current: Round, bet: Bet) -> None:
    """Raises Refused for a bet within the limits, which needs no pit boss."""
    # Signatures for ordinary bets would bury those for bets over the limit.
    try:
        play(current.game, current.state, replace_approval(bet))
    except Illegal:
        return
    raise Refused("within_limits", "This bet is within the limits: the dealer enters it.", 422)


def replace_approval(bet: Bet) -> Bet:
    """A copy of the bet without the approval."""
    return Bet(bet.seat, bet.amount_cents, bet.wager)
