"""The main loop of the painter process: draw each order until its input ends. Started by dealer_ui/live/painter.py."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import IO, Final

import django
import msgspec

from dealer_ui.live.painter import LENGTH_BYTES, Order, framed

NICENESS: Final = 5
"""Dealers come first: of a core that both want, their web process gets three quarters."""


def main() -> None:
    os.nice(NICENESS)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the web process, and this one ends with it
    django.setup(set_prefix=False)
    with suppress(BrokenPipeError):
        serve(sys.stdin.buffer, sys.stdout.buffer)


def serve(orders: IO[bytes], drawings: IO[bytes]) -> None:
    from django.db import close_old_connections

    from dealer_ui.pit.floor.card_drawing import Painter  # it knows the models, which are there from here on

    painter = Painter()
    while head := orders.read(LENGTH_BYTES):
        order = msgspec.msgpack.decode(orders.read(int.from_bytes(head)), type=Order)
        drawing = painter.drawn(order)
        close_old_connections()
        drawings.write(framed(msgspec.msgpack.encode(drawing)))
        drawings.flush()


if __name__ == "__main__":
    main()
