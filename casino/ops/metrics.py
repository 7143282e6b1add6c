"""`/metrics` for Prometheus, for service accounts with the scope read:metrics. Counters are summed over all processes;
figures from the database are queried on each request."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_GET
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from casino.ops import worker_figures
from ledger import replica
from ledger.broker import BrokerAway
from ledger.log import read_heads
from tables.alerts import delivery, log_followers, streams
from tables.alerts.models import ChannelContent
from tables.api import problems
from tables.api.access import refuse_beyond, refuse_program
from tables.audit import condition, day_seals
from tables.feed import order
from tables.models import Table
from tables.refusals import Refused
from tables.staff import guess_counts, service_tokens
from tables.state import table_state

log = logging.getLogger(__name__)

SCOPE: Final = "read:metrics"


@require_GET
def metrics(request: HttpRequest) -> HttpResponse:
    """The metrics. Without a token the answer is 404, so that the page cannot be discovered."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        raise Http404
    try:
        account = service_tokens.known(token.strip(), request)
        limit = service_tokens.request_limit(account)
        refuse_beyond(limit, guess_counts.use(limit), account)
        refuse_program(account, SCOPE, of_all_tables=True)
    except Refused as refused:
        return problems.answer(refused, request.path)
    return HttpResponse(text(), content_type=CONTENT_TYPE_LATEST)


def text() -> bytes:
    """All metrics in the text format of Prometheus."""
    counted = CollectorRegistry()
    if folder := os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        forget_dead(Path(folder))
        MultiProcessCollector(counted)
    else:
        counted = REGISTRY
    house = CollectorRegistry()
    house.register(SiteCollector())
    return generate_latest(counted) + generate_latest(house)


def forget_dead(folder: Path) -> None:
    """Remove the gauges of killed processes, whose streams are closed. Their counters remain in the sums."""
    for file in folder.glob("gauge_live*_*.db"):
        try:
            os.kill(int(file.stem.rpartition("_")[2]), 0)
        except ProcessLookupError:
            file.unlink(missing_ok=True)


class SiteCollector(Collector):
    """Metrics from the database and the broker. Figures that cannot be read are left out: alerts can react to their
    absence."""

    def collect(self) -> Iterable[Metric]:
        for figures in (_tables, _feed, _alerts, _watch, _connections, _replica, _queues, worker_figures.figures):
            try:
                yield from figures()
            except (DatabaseError, BrokerAway, ValueError):
                log.exception("some figures could not be read")


def _gauge(name: str, says: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"casino_{name}", says, value=value)


def _by(name: str, says: str, label: str, values: Iterable[tuple[str, float]]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"casino_{name}", says, labels=[label])
    for of_what, value in values:
        family.add_metric([of_what], value)
    return family


def _tables() -> Iterator[Metric]:
    books = Table.objects.in_use().values_list("book_id", flat=True)
    states = table_state.at_all(read_heads(list(books))).values()
    yield _gauge("tables_open", "Tables that are open.", sum(state.is_open for state in states))
    yield _gauge("rounds_open", "Rounds that go on.", sum(state.round_open for state in states))


def _feed() -> Iterator[Metric]:
    yield _gauge("feed_unfed_entries", "Entries that stand in no place of the feed yet.", order.unfed())
    behind = [(state.channel.name, float(state.behind)) for state in streams.states(ChannelContent.EVENTS)]
    yield _by("events_behind", "Entries that a channel of events has not got to.", "channel", behind)


def _alerts() -> Iterator[Metric]:
    yield _gauge("alerts_behind_entries", "Entries that no rule of alerts has looked at.", log_followers.behind())
    yield _gauge("deliveries_waiting", "Deliveries of alerts that wait.", delivery.waiting().count())
    yield _gauge("deliveries_dead", "Deliveries that failed for good.", delivery.dead().count())


def _watch() -> Iterator[Metric]:
    yield _by("watch_age_seconds", "Since the last run of each piece of the watch.", "task", condition.watch_ages())
    behind = sum(1 for _ in day_seals.unsealed(timezone.now()))
    ages = condition.witness_ages()
    yield _by("witness_age_seconds", "Since each witness outside cosigned the books last.", "witness", ages)
    yield _gauge("days_unsealed", "Gaming days that are over and not sealed.", behind)


def _connections() -> Iterator[Metric]:
    counts = [(state, float(count)) for state, count in condition.connections().items()]
    yield _by("database_connections", "Connections of the application's role.", "state", counts)


def _replica() -> Iterator[Metric]:
    """The delay of the replica in seconds; infinite if it is away, so that one rule covers both."""
    if not replica.is_set():
        return
    try:
        state = replica.state()
        seconds = 0.0 if state.is_level else state.age.total_seconds()
    except replica.Unread:
        seconds = math.inf
    yield _gauge("replica_behind_seconds", "How far the replica that reports are read from is behind.", seconds)


def _queues() -> Iterator[Metric]:
    waiting = [(queue, float(count)) for queue, count in condition.queue_lengths().items()]
    yield _by("queue_tasks", "Tasks that wait for a worker.", "queue", waiting)
