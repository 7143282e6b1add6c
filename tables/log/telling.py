"""Log entries in plain words, for those who read back what happened. Knows the log's forms, but no game."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ledger.proof.chips import money
from tables.games.felt import DEALER, MIDDLE
from tables.log import paper

Content = Mapping[str, Any]


def tell(subject: str, kind: str, content: Content) -> str:
    """One entry as one clause; an unknown one by its subject and kind, as it stands in the log."""
    words = _WORDS.get((subject, kind))
    try:
        clause = words(content) if words else f"{subject} {kind}".replace("_", " ")
        return f"{clause}, at {content['happened_at']}: written later" if "happened_at" in content else clause
    except (KeyError, TypeError, ValueError, AttributeError):
        return f"{subject} {kind}: what it says cannot be read"


def whom(seat: int) -> str:
    """A seat, the dealer or the middle, as it is called at the table."""
    return {DEALER: "dealer", MIDDLE: "middle"}.get(seat, f"seat {seat}")


def _actions(actions: Sequence[Content]) -> str:
    """The actions of one input. A choice and the card that it drew are one thing; cards dealt at once are a list."""
    said, cards = [], [one for one in actions if one["do"] == "card"]
    for one in actions:
        if one["do"] == "bet":
            bet = one["amount_cents"]
            said.append(f"Seat {one['seat']} bets {money(bet)}" if bet else f"Seat {one['seat']} takes its bet off")
        elif one["do"] == "close_bets":
            said.append("No more bets")
        elif one["do"] == "choose":
            said.append(_chosen(one, cards))
        elif one["do"] == "shuffle":
            said.append("The discards are shuffled")
    if cards and not any(one["do"] == "choose" for one in actions):
        said.append(_dealt(cards))
    text = "; ".join(said)
    return text[:1].upper() + text[1:]


def _chosen(one: Content, cards: Sequence[Content]) -> str:
    """A choice and the card that it drew; of a secret one, that it was made."""
    if "choice" not in one:
        return f"Seat {one['seat']} has chosen"
    drawn = f", draws {cards[0].get('rank', 'a facedown card')}" if len(cards) == 1 else ""
    return f"Seat {one['seat']}: {one['choice']}{_named(one)}{drawn}"


def _dealt(cards: Sequence[Content]) -> str:
    """Cards that were dealt: whose, and which; of facedown ones, how many."""
    shown = [f"{whom(one['to'])}: {one['rank']}" for one in cards if "rank" in one]
    if down := len(cards) - len(shown):
        shown.append(f"{down} card{'' if down == 1 else 's'} facedown")
    return ", ".join(shown)


def _played(content: Content) -> str:
    """An input of a round; a game for a pot starts with one."""
    said = _actions(content["actions"])
    pinned = content.get("opening") or {}
    if not pinned.get("coin_cents"):
        return said
    seats = ", ".join(map(str, pinned["opening"]["seats"]))
    start = f"The game starts at seats {seats}"
    return f"{start}; {said}" if said else start


def _bought(content: Content) -> str:
    how = "buys in for" if content["cash"] else "brings"
    return f"Seat {content['seat']} {how} {money(content['amount_cents'])}"


def _charged(content: Content) -> str:
    return f"Time charge: {money(content['each_cents'])} a seat for each of {content['periods']} half hours"


def _disputed(content: Content) -> str:
    said = content["dispute"]
    where = f"round {said['round']}" + (f", seat {said['seat']}" if said["seat"] else "")
    return f"Dispute {said['number']} about {where} is opened: {said['claimant']} claims: {said['claim']}"


def _noted(content: Content) -> str:
    return f"Dispute {content['dispute']['number']}, {content['heard']}: {content['text']}"


def _ruled(content: Content) -> str:
    said = content["dispute"]
    ruling = {"stands": "the result stands", "player": "for the player", "house": "for the house"}
    return f"Dispute {said['number']} is ruled: {ruling.get(said['ruling'], 'the round is void')}. {said['reason']}"


def _closed_dispute(content: Content) -> str:
    settled = "; ".join([*content["corrections"], *([content["text"]] if content["text"] else [])])
    return f"Dispute {content['dispute']['number']} is closed" + (f": {settled}" if settled else "")


def _correction(content: Content) -> str:
    said = content["correction"]
    cents = said["due_cents"] - said["handed_cents"]
    who = f"pay seat {said['seat']} {money(cents)}" if cents > 0 else f"take {money(-cents)} from seat {said['seat']}"
    return f"{said['slip']}: {who} for round {said['round']}"


def _named(choice: Content) -> str:
    """What a choice names: " 4 to seat 2"."""
    card, cards, count, target = (choice.get(key) for key in ("card", "cards", "count", "target"))
    said = "" if card is None else f" {card}"
    said += "" if cards is None else f" {', '.join(map(str, cards)) or 'nothing'}"
    said += "" if count is None else f" {count}"
    return said + ("" if target is None else f" to seat {target}")


def _looked(does: str) -> Callable[[Content], str]:
    return lambda content: (
        f"{content['name']} {does} the audit of {content['table']}, shoe {content['shoe']}"
        f" from entry {content['begun_seq']}"
    )


def _page(content: Content) -> str:
    return "a new page" if content["again"] else "a page"


def _decks_off(content: Content) -> str:
    return f"Deck check of shoe {content['shoe']['number']} failed: counted {', '.join(map(str, content['counts']))}"


def _shoe(words: str) -> Callable[[Content], str]:
    return lambda content: words.format(**content["shoe"])


def _rack(words: str) -> Callable[[Content], str]:
    return lambda content: f"{words}, {money(content['rack_cents'])} in the rack"


def _signed_in(content: Content) -> str:
    relief = f", relieving {content['relieves']}" if content.get("relieves") else ""
    agreed = f"; {content['confirmed_by']} agreed" if content.get("confirmed_by") else ""
    return f"{content['name']} takes the table{relief}{agreed}"


def _signed_in_to_the_house(content: Content) -> str:
    where = content.get("terminal") or content.get("address")
    return f"{content['username']} signs in to the house" + (f" at {where}" if where else "")


def _hours(content: Content) -> str:
    shifts = ", ".join(f"{name} {starts}" for name, starts in content["shifts"])
    return f"From {content['from_day']} the day starts at {content['day_starts']} in {content['time_zone']}: {shifts}"


def _bound(content: Content) -> str:
    return f" for {content['table']}" if content.get("table") else ""


def _with_note(clause: str, note: str) -> str:
    return f"{clause}: {note}" if note else clause


def _changes(content: Content) -> str:
    after = content.get("after") or {}
    said = [_setting(name, (content.get("before") or {}).get(name), value) for name, value in after.items()]
    said += [f"new {name}" for name in content.get("new", ())]
    return f": {', '.join(said)}" if said else ""


def _settings(content: Content) -> str:
    """What an operator set: at first everything, later what changed, from what to what."""
    before, after = content["before"], content["after"]
    said: list[str] = []
    for name, value in after.items():
        if isinstance(value, dict):
            was = before.get(name) or {}
            said += [
                _setting(key, was.get(key), one) for key, one in value.items() if was.get(key, one) != one or not was
            ]
        else:
            said.append(_setting(name, before.get(name), value))
    return f"{'Changed' if before else 'Set up'}: {', '.join(said)}"


def _setting(name: str, was: Any, now: Any) -> str:
    words = name.removesuffix("_cents").removesuffix("_permille").replace("_", " ")
    change = f"{_value(name, was)} → " if was is not None else ""
    return f"{words} {change}{_value(name, now)}"


def _value(name: str, value: Any) -> str:
    if isinstance(value, list | tuple):
        return " ".join(_value(name, one) for one in value)
    if value is None:
        return "none"
    if name.endswith("_permille"):
        return f"{value / 10:g} %"
    return money(value) if name.endswith("_cents") or name == "denominations" else str(value).replace("_", " ")


def _slip(content: Content) -> str:
    """A signature: what was counted unseen is not told before two counts agree."""
    slip = paper.read(content["now"])
    name = f"{slip.series.capitalize()} {slip.number}"
    said = {stage.name: stage.says for stage in (*paper.STAGES[slip.series], *paper.VOID)}
    words = f"{name}: {said[paper.kind_of(content['stage'])].lower()} {content['name']}"
    amount = f", {money(slip.total_cents)}" if slip.total_cents else ""
    return f"{words}{amount}{f' ({slip.reason})' if slip.reason else ''}"


_WORDS: Final[dict[tuple[str, str], Callable[[Content], str]]] = {
    ("round", "play"): _played,
    ("clock", "mended"): lambda content: (
        f"Entries {content['document']['spans'][0][0]} to {content['document']['spans'][-1][1]} were dated by a wrong"
        f" clock; they are of {content['document']['spans'][0][2]} to {content['document']['spans'][-1][3]}:"
        f" {content['document']['reason']} ({' and '.join(content['document']['by'])})"
    ),
    ("clock", "confirmed"): lambda content: (
        f"Nothing happened from {content['document']['from']} to {content['document']['to']}:"
        f" {content['document']['reason']}"
    ),
    ("day", "restored"): lambda content: (
        f"An older database was put back, {len(content['document']['left'])} sealed days are given up:"
        f" {content['document']['reason']} ({' and '.join(content['document']['by'])})"
    ),
    ("round", "take_back"): lambda content: f"Takes back entry {content['corrects']}: {_actions(content['actions'])}",
    ("round", "paid"): lambda content: f"Seat {content['seat']} is done",
    ("shoe", "loaded"): _shoe("Shoe {number} is loaded: {decks} decks, {source}"),
    ("shoe", "deck_checked"): _shoe("Shoe {number}: all {decks} decks are whole"),
    ("shoe", "deck_check_failed"): _decks_off,
    ("shoe", "shuffled"): _shoe("Shoe {number} is shuffled"),
    ("shoe", "cut_card_placed"): _shoe("Shoe {number}: the cut card is placed"),
    ("shoe", "burned"): _shoe("Shoe {number}: {burn} cards burned, ready"),
    ("shoe", "cut_card_out"): _shoe("Shoe {number}: the cut card is out, last round"),
    ("shoe", "retired"): _shoe("Shoe {number} is retired"),
    ("dealer", "signed_in"): _signed_in,
    ("dealer", "signed_out"): lambda content: f"{content['name']} taps out",
    **{("slip", kind): _slip for house in (False, True) for kind in paper.kinds(house=house)},
    ("table", "opened"): _rack("The table opens"),
    ("table", "closed"): _rack("The table closes"),
    ("table", "settings_changed"): _settings,
    ("seats", "buy_in"): _bought,
    ("seats", "cash_out"): lambda content: f"Seat {content['seat']} cashes out {money(content['amount_cents'])}",
    ("seats", "time_charge"): _charged,
    ("chips", "sold"): lambda content: "Players buy chips at the cage",
    ("chips", "buy_in"): lambda content: f"A player buys chips for {money(content['amount_cents'])}",
    ("chips", "changed"): lambda content: (
        f"{money(content['amount_cents'])} is {'coloured up' if content['up'] else 'changed for smaller chips'}"
    ),
    ("chips", "issued"): lambda content: "Chips are put into circulation",
    ("seat_page", "issued"): lambda content: f"Seat {content['seat']} gets {_page(content)} of its own",
    ("seat_page", "revoked"): lambda content: f"The page of seat {content['seat']} is revoked",
    ("staff", "signed_in"): _signed_in_to_the_house,
    ("staff", "signed_out"): lambda content: f"{content['username']} signs out of the house",
    ("staff", "locked_out"): lambda content: f"{content['username']} is locked out after too many failed sign-ins",
    ("staff", "lock_out_lifted"): lambda content: f"The lock-out of {content['username']} is lifted",
    ("staff", "emergency_code_made"): lambda content: f"{content['username']} makes an emergency code",
    ("staff", "emergency_sign_in"): lambda content: (
        f"{content['username']} comes in by emergency codes, with that of {content['with']}"
    ),
    ("certificate", "issued"): lambda content: (
        f"Certificate {content['number']}: {content['username']} can deal {content['game']}"
        f", through {content['valid_through']}"
    ),
    ("staff", "added"): lambda content: f"{content['name']} works here now, as {content['role']}",
    ("staff", "changed"): lambda content: f"{content['username']} is changed{_changes(content)}",
    ("terminal", "added"): lambda content: f"{content['name']} is to be a terminal{_bound(content)}",
    ("terminal", "enrolled"): lambda content: f"{content['name']} is enrolled{_bound(content)}",
    ("terminal", "link_made"): lambda content: f"A link to enrol {content['name']} is made",
    ("terminal", "changed"): lambda content: f"{content['name']} is changed{_changes(content)}",
    ("terminal", "revoked"): lambda content: f"{content['name']} is no terminal any more",
    ("terminal", "locked_out"): lambda content: f"{content['name']} takes no PIN after too many wrong ones",
    ("terminal", "lock_out_lifted"): lambda content: f"{content['name']} takes PINs again",
    ("dispute", "opened"): _disputed,
    ("dispute", "noted"): _noted,
    ("dispute", "ruled"): _ruled,
    ("dispute", "closed"): _closed_dispute,
    ("correction", "proposed"): lambda content: f"{_correction(content)}, proposed: {content['correction']['reason']}",
    ("correction", "signed"): lambda content: f"{_correction(content)}, signed by {content['name']}",
    ("correction", "declined"): lambda content: f"{_correction(content)}, declined: {content['text']}",
    ("key", "published"): lambda content: f"The key that days are sealed with is published: {content['key'][:16]}",
    ("key", "rotated"): lambda content: (
        f"Another key takes the place of the old one, which signs it: {content['key'][:16]}"
    ),
    ("key", "replaced"): lambda content: f"The key is lost, and another takes its place: {content['reason']}",
    ("day", "sealed"): lambda content: f"{content['document']['day']} is sealed: {content['document']['root'][:16]}",
    ("hours", "changed"): _hours,
    ("day", "proposed"): lambda content: f"{content['name']} signs the figures of {content['day']}",
    ("day", "closed"): lambda content: f"{content['name']} signs second: {content['day']} is closed",
    ("shoe_audit", "listed"): lambda content: f"{content['name']} looks at the audited shoes of {content['day']}",
    ("shoe_audit", "viewed"): _looked("looks at"),
    ("shoe_audit", "exported"): _looked("takes a copy of"),
    ("table", "added"): lambda content: f"{content['name']} is set up",
    ("pepper", "carried_over"): lambda content: (
        f"The secrets of {', '.join(sorted(content['secrets']))} are sealed with key {content['key']}"
    ),
    ("rows", "taken_over"): lambda content: f"What was kept of {content['rows']} before it was entered is taken over",
    ("rows", "noted"): lambda content: (
        "What the watch has done is noted: "
        + ", ".join(f"{span['count']} {name}" for name, span in sorted(content["spans"].items()))
    ),
    ("alert", "raised"): lambda content: f"Alert {content['number']}: {content['message']}",
    ("alert", "acknowledged"): lambda content: _with_note(
        f"{content['by']} takes note of alert {content['alert']}", content["note"]
    ),
    ("discrepancy", "opened"): lambda content: f"Discrepancy {content['number']}: {content['message']}",
    ("discrepancy", "assigned"): lambda content: f"{content['name']} looks into discrepancy {content['discrepancy']}",
    ("discrepancy", "found"): lambda content: f"Discrepancy {content['discrepancy']} is closed: {content['text']}",
    ("alert", "card_refused"): lambda content: f"A {content['rank']} is keyed, and refused: {content['says']}",
}
