"""The web server, `python -m casino.web`: as many processes as there are cores behind one port.

Python uses one core a process, and one process is full at a few dozen dealers. uvicorn's own supervisor starts the
processes, which share one socket, replaces one that dies or hangs, and stops them all. Nothing that one of them keeps
is needed by another (docs/architecture.md, "Several processes").

With `--streams` it serves live streams and nothing else: where a proxy sends those there, thousands of watchers take no
time from the processes that dealers' inputs are answered by.
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
from django.core.exceptions import ImproperlyConfigured

from casino.embedded.keeper import die_with_parent
from casino.environment import whole

MOST_BY_DEFAULT: Final = 8
"""Eight serve a hundred tables; a machine with more cores has other work for them, and its database too."""
GRACE_SECONDS: Final = 10
"""So long a process that stops finishes what it was asked; its streams end at once, and their screens come back to
another process."""
STREAMS_CONNECTIONS: Final = 6
"""To the database, for each process of streams: a stream asks once who may watch, and then holds none."""
HANGS_SECONDS: Final = 15
"""A process that gives no sign of life for so long is replaced; on a busy machine it may take some to begin."""


def processes() -> int:
    """How many: as WEB_PROCESSES says, or one for each core that we may use."""
    return whole("WEB_PROCESSES", min(cores(), MOST_BY_DEFAULT))


def serve_streams_alone() -> None:
    """As many processes as STREAM_PROCESSES says, or one: it holds ten thousand, and the cards of the pit's screens
    are drawn once for each."""
    number = whole("STREAM_PROCESSES", 1)
    os.environ["WEB_PROCESSES"] = str(number)
    os.environ["DATABASE_CONNECTIONS"] = str(STREAMS_CONNECTIONS * number)
    os.environ["CASINO_STREAMS_ALONE"] = "yes"


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
    parser.add_argument("--streams", action="store_true", help="serve live streams, and nothing else")
    options = parser.parse_args()
    try:
        if options.streams:
            serve_streams_alone()
        os.environ["WEB_PROCESSES"] = str(processes())  # each is to know how many share what the house has
    except ImproperlyConfigured as fault:
        sys.exit(str(fault))
    count_together()
    uvicorn.run(
        "casino.asgi:application",
        host=options.host,
        port=options.port,
        workers=processes(),
        http="casino.web.slow_clients:SlowClientProtocol",
        lifespan="off",
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_worker_healthcheck=HANGS_SECONDS,
        proxy_headers=not options.no_proxy_headers,
        server_header=False,
        access_log=False,  # the addresses asked for hold links and seats' tokens
    )
