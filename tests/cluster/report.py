"""Figures from the screens' records: acknowledged inputs, how long each fault held dealers up, and what their screens
showed meanwhile."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

Note = dict[str, Any]
"""A line of the record: an answer (`key`, `due`, `tries`, perhaps `refused`), or why there was none (`lost`)."""


@dataclass
class Record:
    """The notes so far. Each reading continues where the last one ended."""

    path: Path
    notes: list[Note] = field(default_factory=list)
    position: int = 0

    def read(self) -> list[Note]:
        with self.path.open() as file:
            file.seek(self.position)
            while (line := file.readline()).endswith("\n"):
                self.notes.append(json.loads(line))
                self.position = file.tell()
        return self.notes

    def acknowledged(self) -> list[str]:
        """The keys of the inputs that were answered as recorded."""
        return [note["key"] for note in self.notes if is_answer(note) and "refused" not in note]

    def refused(self) -> Counter[str]:
        return Counter(note["refused"] for note in self.notes if "refused" in note)


def is_answer(note: Note) -> bool:
    return "lost" not in note


@dataclass(frozen=True)
class Round:
    """One staging of a fault, from when it struck until the cluster was whole again."""

    fault: str
    way: str
    began: float
    ended: float
    whole_s: float
    """Seconds from the repair until the cluster was whole."""

    def within(self, notes: Iterable[Note]) -> list[Note]:
        return [note for note in notes if self.began <= note["t"] <= self.ended]

    def held_up(self, notes: Iterable[Note], tables: Sequence[int]) -> list[float]:
        """Each table's longest wait for an answer in seconds, counted from the fault or from when the input was due. A
        table without an answer waited to the end."""
        waits: dict[int, list[float]] = {table: [] for table in tables}
        for note in self.within(notes):
            if is_answer(note):
                waits[note["table"]].append(note["t"] - max(note["due"], self.began))
        return [max(seconds, default=self.ended - self.began) for seconds in waits.values()]

    def standstill_s(self, notes: Iterable[Note]) -> float:
        """The longest time without any answer on the whole floor, in seconds."""
        answered = sorted(note["t"] for note in self.within(notes) if is_answer(note))
        times = [self.began, *answered, self.ended]
        return max(later - earlier for earlier, later in pairwise(times))


def percentile(values: Sequence[float], part: int) -> float:
    ordered = sorted(values)
    return ordered[min(math.ceil(len(ordered) * part / 100), len(ordered)) - 1] if ordered else 0.0


def figures(rounds: Sequence[Round], notes: Sequence[Note], tables: Sequence[int]) -> dict[str, Any]:
    """The figures of one fault. `p99_s` and `worst_s` are taken over all tables in all rounds."""
    waits = [seconds for staged in rounds for seconds in staged.held_up(notes, tables)]
    return {
        "rounds": len(rounds),
        "worst_s": round(max(waits), 1),
        "p99_s": round(percentile(waits, 99), 1),
        "standstill_s": round(max(staged.standstill_s(notes) for staged in rounds), 1),
        "whole_s": round(max(staged.whole_s for staged in rounds), 1),
    }


def sentences(rounds: Sequence[Round], notes: Sequence[Note]) -> Counter[str]:
    """What screens got instead of an answer, with counts."""
    return Counter(note["lost"] for staged in rounds for note in staged.within(notes) if "lost" in note)


def line(acknowledged: int, lost: int, faults: dict[str, dict[str, Any]], **more: Any) -> str:
    return json.dumps({"acknowledged": acknowledged, "lost": lost, "faults": faults} | more)
