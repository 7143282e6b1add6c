"""Patroni with one more rule: run `python casino_patroni.py CONFIG` instead of `patroni CONFIG`.

A primary that hung for longer than its lock lasts may wake up just when its successor's lock has expired. Patroni lets
it take the free lock again unless it knows the successor's timeline, which the successor writes to etcd only some
seconds after its promotion. Then everybody follows the old primary, and all that the successor acknowledged is lost.
But with synchronous_mode /sync names the successor before its promotion. So a host that /sync does not name must not
take the lock, as a primary or as a replica; for replicas Patroni checks this itself.
"""

import sys

import patroni.postgresql  # noqa: F401 -- must come before patroni.ha: they import each other
from patroni.__main__ import main
from patroni.ha import Ha

_is_healthiest = Ha.is_healthiest_node


def is_healthiest_node(ha: Ha) -> bool:
    """Whether this host may take the free lock."""
    sync = ha.cluster.sync
    if ha.is_synchronous_mode() and not ha.is_paused() and not sync.is_empty:
        return sync.matches(ha.state_handler.name, True) and _is_healthiest(ha)
    return _is_healthiest(ha)


Ha.is_healthiest_node = is_healthiest_node

if __name__ == "__main__":
    sys.exit(main())
