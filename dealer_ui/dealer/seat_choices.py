"""The choices of a seat as keys: one key for a choice without further parts, else a pane that asks for them.

The panes follow from the inputs alone: every part in which they differ is asked for, in the order seat, choice, target,
and then card or count. So no game needs a pane of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tables.board.buttons import Button
from tables.games.cards import RANKS

LARGEST_KEY: Final = 9
"""The largest count with a key of its own. Larger ones are typed and entered with Enter."""
_ASKED: Final = ("seat", "choice", "target", "card", "count", "cards")
_KINDS: Final = {"seat": "seats", "target": "seats", "card": "cards", "count": "counts"}


@dataclass(frozen=True, slots=True)
class Press:
    """A key or a button. ``value`` is the input as JSON; without one it opens a pane."""

    label: str
    value: str
    hotkey: str
    does: str
    spoken: str = ""
    """The full description, where the label alone is unclear."""
    opens: str = ""
    target: int | None = None
    """The seat that it is about: it can be tapped as well."""
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Pane:
    """Keys of one kind: ways, seats, cards or counts."""

    name: str
    kind: str
    says: str
    keys: tuple[Press, ...]

    @property
    def is_typed(self) -> bool:
        """Whether a count is typed and then entered, because it may have more than one digit."""
        return self.kind == "counts" and not self.keys[-1].hotkey


@dataclass(frozen=True, slots=True)
class Ways:
    """All choices now: the keys at hand, further keys, and the panes that they open."""

    pane: Pane | None
    beside: tuple[Press, ...]
    panes: tuple[Pane, ...]


def ways(buttons: Sequence[Button], *, keyed: bool) -> Ways:
    """The keys of a number of choices.

    Where cards are keyed, the keys at hand are those that need no pane; elsewhere the pane that is needed first is
    open.
    """
    if not buttons:
        return Ways(None, (), ())
    top, *panes = _panes("ways", "", buttons, place=0 if _differ(buttons, "seat") else 1)
    openers = [key for key in top.keys if key.opens]
    if keyed or not openers:
        return Ways(None, top.keys, tuple(panes))
    if len(openers) > 1 or top.kind == "seats":
        return Ways(top, (), tuple(panes))
    first = next(pane for pane in panes if pane.name == openers[0].opens)
    beside = tuple(key for key in top.keys if not key.opens)
    return Ways(first, beside, tuple(pane for pane in panes if pane is not first))


def _differ(buttons: Sequence[Button], part: str) -> bool:
    return len({repr(button.input.get(part)) for button in buttons}) > 1


def _panes(name: str, message: str, buttons: Sequence[Button], place: int) -> Iterator[Pane]:
    """A pane for the first thing that these inputs differ in, and those that its keys open."""
    while place + 1 < len(_ASKED) and place != 1 and not _differ(buttons, _ASKED[place]):
        place += 1
    part = _ASKED[place]
    keys: list[Press] = []
    further: list[Pane] = []
    for named, group in _grouped(buttons, part):
        key = _key(part, named, group)
        if len(group) > 1:
            opened = f"{name}-{len(keys)}"
            words = f"{message}: {key.label.lower()}" if message else key.label
            further += _panes(opened, words, group, place + 1)
            key = replace(key, value="", does="", opens=opened, spoken="")
        keys.append(key)
    kind = _KINDS.get(part, "ways")
    if kind == "cards":
        keys = list(_every_rank(keys))
    elif kind == "counts" and max(key.count or 0 for key in keys) > LARGEST_KEY:
        keys = [replace(key, hotkey="") for key in keys]
    yield Pane(name, kind, message, tuple(keys))
    yield from further


def _grouped(buttons: Sequence[Button], part: str) -> Iterable[tuple[Any, list[Button]]]:
    groups: dict[str, tuple[Any, list[Button]]] = {}
    for button in buttons:
        named = button.input.get(part)
        groups.setdefault(repr(named), (named, []))[1].append(button)
    return groups.values()


def _key(part: str, named: Any, group: Sequence[Button]) -> Press:
    """The key for one thing that is named, as if nothing else had to be."""
    button = group[0]
    value, does = json.dumps(button.input), button.input["do"]
    if named is None and part != "choice":
        return Press(button.label, value, "", does)
    if part in ("seat", "target"):
        return Press(f"Seat {named}", value, str(named), does, button.label, target=named)
    if part in ("card", "count"):
        return Press(str(named), value, str(named % 10) if named <= 10 else "", does, button.label, count=named)
    if part == "cards":
        return Press(", ".join(map(str, named)) or "None", value, "", does, button.label)
    return Press(button.label if len(group) == 1 else button.way, value, button.hotkey, does)


def _every_rank(keys: Sequence[Press]) -> Iterator[Press]:
    """All ten keys, where they always are; those that name nothing here have no value."""
    given = {key.count: key for key in keys if key.count is not None}
    yield from (key for key in keys if key.count is None)
    for rank in RANKS:
        yield given.get(rank) or Press(str(rank), "", "", "", f"{rank} cannot be chosen", count=rank)
