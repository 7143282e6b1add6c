"""What processes and their children have worked, as the kernel counts it; no Django."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

TICKS: Final = os.sysconf("SC_CLK_TCK")


def worked(pids: Sequence[int]) -> float:
    """Seconds that these processes and their children have worked, those that have ended among them."""
    return sum(sum(map(int, times[11:15])) for times in family(pids).values()) / TICKS


def family(pids: Sequence[int]) -> dict[int, list[str]]:
    """These processes and what they have begun, by their numbers, with what `stat` says of each."""
    about = {int(entry.name): stat(entry) for entry in Path("/proc").iterdir() if entry.name.isdigit()}
    members = set(pids)
    while more := {pid for pid, times in about.items() if times and int(times[1]) in members} - members:
        members |= more
    return {pid: about[pid] for pid in members if about.get(pid)}


def stat(process: Path) -> list[str]:
    """From its state on: the parent is the second, the times are those from the twelfth on."""
    with contextlib.suppress(OSError):
        return (process / "stat").read_text().rsplit(")", 1)[1].split()
    return []
