"""Several people at the very same moment, each with a connection of their own."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from django.db import connection


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """What each call returned, or raised.

    Raises the error of a connection that could not be opened: without it, the calls would not run at the same moment.
    """
    barrier = Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        try:
            connection.ensure_connection()
        except Exception:
            barrier.abort()
            raise
        try:
            barrier.wait(20)
            return call()
        except Exception as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(run, calls))
