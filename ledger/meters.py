"""Prometheus metrics, counted where the event happens: in process memory or, where several processes serve one site, in
a file of each process (``casino/web/processes.py``).

No label takes a value that a client may choose: each new value would create a time series that is never removed.
"""

from __future__ import annotations

from typing import Final

from prometheus_client import Counter, Gauge, Histogram

_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

REQUESTS: Final = Counter("casino_requests", "Requests that were answered.", ["view", "status"])
THROTTLED: Final = Counter("casino_throttled", "Requests and streams that were refused by a limit.", ["limit"])
REQUEST_SECONDS: Final = Histogram(
    "casino_request_seconds", "How long answers took, without streams.", ["view"], buckets=_SECONDS
)
STREAMS: Final = Gauge("casino_streams", "Streams that are open.", multiprocess_mode="livesum")
RECORD_SECONDS: Final = Histogram(
    "casino_record_seconds", "How long an input at a table took until it was durable.", buckets=_SECONDS
)
REFUSALS: Final = Counter("casino_refusals", "Inputs at tables that were refused.", ["code"])
ROUNDS: Final = Counter("casino_rounds", "Rounds that ended, with a result or void.", ["game"])
