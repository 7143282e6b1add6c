"""Prometheus metrics of workers and beat, read from the broker: task counts and signs of life.

Workers serve no HTTP and come and go, but all of them reach the broker, and `worker_meters.py` counts there. Counts
outlive a worker; if the broker loses its data, the counters start again from zero. Ages use the broker's clock only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from django.conf import settings
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric

from ledger import broker

TASKS: Final = "casino:meters:tasks"
ALIVE: Final = "casino:meters:alive:"
BEAT: Final = "beat"
SECONDS: Final = (0.05, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 1_800.0)
"""Upper bounds of the histogram of task durations."""
REMEMBERED: Final = 3_600
"""Seconds after which a process that was killed is no longer listed."""
FRESH: Final = 60
"""Seconds: a worker whose sign of life is older counts as serving no queue."""


def figures() -> Iterator[Metric]:
    """The metrics of all workers and of beat. Raises BrokerAway."""
    with broker.connected() as client:
        names = sorted(client.scan_iter(match=f"{ALIVE}*", count=1_000))
        pipe = client.pipeline(transaction=False)
        pipe.hgetall(TASKS)
        for name in names:
            pipe.get(name)
            pipe.ttl(name)
        counted, *signs = pipe.execute()
    yield from _of_tasks(counted)
    pairs = zip(names, signs[::2], signs[1::2], strict=True)
    yield from _of_signs([(name.removeprefix(ALIVE), queues or "", REMEMBERED - ttl) for name, queues, ttl in pairs])


def _of_tasks(counted: dict[str, str]) -> Iterator[Metric]:
    ended = CounterMetricFamily("casino_tasks", "Tasks that ended.", labels=["task", "state"])
    lasted = HistogramMetricFamily("casino_task_seconds", "How long tasks took.", labels=["task"])
    within: dict[str, dict[str, float]] = defaultdict(dict)
    seconds: dict[str, float] = {}
    for field, number in sorted(counted.items()):
        match field.split("|"):
            case ["ended", task, state]:
                ended.add_metric([_short(task), state], float(number))
            case ["within", task, bound]:
                within[task][bound] = float(number)
            case ["seconds", task]:
                seconds[task] = float(number)
    for task, numbers in within.items():
        total, buckets = 0.0, []
        for bound in (*map(str, SECONDS), "+Inf"):
            total += numbers.get(bound, 0.0)
            buckets.append((bound, total))
        lasted.add_metric([_short(task)], buckets, seconds.get(task, 0.0))
    yield from (ended, lasted)


def _short(task: str) -> str:
    return task.removeprefix("tables.tasks.")


def _of_signs(ages: list[tuple[str, str, int]]) -> Iterator[Metric]:
    workers = GaugeMetricFamily("casino_worker_age_seconds", "Since a worker gave a sign of life.", labels=["worker"])
    serving = dict.fromkeys(settings.SERVED_QUEUES, 0)
    for name, queues, age in ages:
        if name == BEAT:
            yield GaugeMetricFamily("casino_beat_age_seconds", "Since beat asked for a task.", value=age)
            continue
        workers.add_metric([name], age)
        for queue in set(queues.split(",")) & serving.keys() if age < FRESH else ():
            serving[queue] += 1
    served = GaugeMetricFamily("casino_queue_workers", "Workers that serve a queue.", labels=["queue"])
    for queue, number in serving.items():
        served.add_metric([queue], number)
    yield from (workers, served)
