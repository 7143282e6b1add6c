"""The web server, `python -m casino.web`: one process per core behind one port.

Python uses one core per process, and one process can serve a few dozen dealers. uvicorn's supervisor starts the
processes, which share one socket, replaces a process that dies or hangs, and stops all of them. No process needs the
state of another (docs/architecture.md, "Several processes").

With `--streams` it serves only live streams: if a proxy sends those there, thousands of viewers take no time from the
processes that answer dealers' inputs.
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
from casino.environment import Environment, whole

MOST_BY_DEFAULT: Final = 8
"""Eight serve a hundred tables; the remaining cores of a larger machine are for other work, such as its database."""
GRACE_SECONDS: Final = 10
"""The time for a stopping process to finish its requests. Its streams end at once, and their screens reconnect to
another process."""
STREAMS_CONNECTIONS: Final = 6
"""Database connections of each stream process: a stream needs one only for its permission check."""
IDLE_SECONDS: Final = 75
"""The longest idle time of a connection between two requests. A proxy's is shorter (``keepalive_timeout`` in
deploy/nginx/casino.conf), so that no connection is closed just as the proxy sends a request."""
HANGS_SECONDS: Final = 15
"""A process without a sign of life for this time is replaced; on a busy machine a start may take long."""


def processes() -> int:
    """The number of processes: WEB_PROCESSES, or one per available core up to MOST_BY_DEFAULT. Raises
    ImproperlyConfigured."""
    return Environment()("WEB_PROCESSES", whole, min(cores(), MOST_BY_DEFAULT))


def serve_streams_alone() -> None:
    """Configure stream processes: STREAM_PROCESSES of them, by default one. Each holds ten thousand streams, and
    renders the cards of the pit's screens once for all."""
    number = Environment()("STREAM_PROCESSES", whole, 1)
    os.environ["WEB_PROCESSES"] = str(number)
    os.environ["DATABASE_CONNECTIONS"] = str(STREAMS_CONNECTIONS * number)
    os.environ["CASINO_STREAMS_ALONE"] = "yes"


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def die_with_supervisor() -> None:
    """End this process with the supervisor that started it: after a `kill -9` of that, it would otherwise occupy the
    port."""
    supervisor = multiprocessing.parent_process()
    if supervisor is None:
        return
    die_with_parent(signal.SIGTERM)
    if os.getppid() != supervisor.pid:  # it died before the request above
        sys.exit(1)


def count_together() -> None:
    """Count metrics of each process in a file of one folder; any process can report the sums."""
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
        os.environ["WEB_PROCESSES"] = str(processes())  # each process takes its share of the connections
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
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_worker_healthcheck=HANGS_SECONDS,
        proxy_headers=not options.no_proxy_headers,
        server_header=False,
        access_log=False,  # requested URLs contain enrolment links and seat tokens
    )
