"""`python -m casino.web`: the web server, as many processes as there are cores behind one port.

Python uses one core a process, and one process is full at a few dozen dealers. uvicorn's own supervisor starts the
processes, which share one socket, replaces one that dies or hangs, and stops them all. Nothing that one of them keeps
is needed by another (docs/architecture.md, "Several processes").
"""

import argparse
import atexit
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
from typing import Final

import uvicorn

from casino.keeper import die_with_parent

MOST_BY_DEFAULT: Final = 8
"""Eight serve a hundred tables; a machine with more cores has other work for them, and its database too."""
GRACE_SECONDS: Final = 10
"""So long a process that stops finishes what it was asked; its streams end at once, and their screens come back to
another process."""
HANGS_SECONDS: Final = 15
"""A process that gives no sign of life for so long is replaced; on a busy machine it may take some to begin."""


def processes() -> int:
    """How many: as WEB_PROCESSES says, or one for each core that we may use."""
    number = os.environ.get("WEB_PROCESSES", "")
    if not number:
        return min(cores(), MOST_BY_DEFAULT)
    if not (number.isascii() and number.isdecimal() and int(number)):
        raise SystemExit(f"WEB_PROCESSES is {number!r}: it is a number of processes, 1 or more.")
    return int(number)


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def die_with_supervisor() -> None:
    """For each process that the supervisor started: else `kill -9` of it would leave them on the port for good."""
    supervisor = multiprocessing.parent_process()
    if supervisor is None:
        return
    die_with_parent(signal.SIGTERM)
    if os.getppid() != supervisor.pid:  # it died before we could ask
        sys.exit(1)


def count_together() -> None:
    """Each process counts for itself, in a file of this folder; whichever is asked reads all of them."""
    folder = tempfile.mkdtemp(prefix="casino-metrics-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m casino.web", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--no-proxy-headers", action="store_true", help="believe nobody in between who asks")
    options = parser.parse_args()
    os.environ["WEB_PROCESSES"] = str(processes())  # each is to know how many share what the house has
    count_together()
    uvicorn.run(
        "casino.asgi:application",
        host=options.host,
        port=options.port,
        workers=processes(),
        http="casino.patience:Patience",
        lifespan="off",
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_worker_healthcheck=HANGS_SECONDS,
        proxy_headers=not options.no_proxy_headers,
        server_header=False,
        access_log=False,  # the addresses asked for hold links and seats' tokens
    )


if __name__ == "__main__":
    main()
