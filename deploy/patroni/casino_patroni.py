"""Patroni with one rule more: `python casino_patroni.py CONFIG` where `patroni CONFIG` stands elsewhere.

A primary that hung for longer than its lock lasts may come back just when its successor's lock has run out. Patroni
lets it take the free lock again unless it knows of the successor's timeline, which the successor notes in etcd only
some seconds after it was promoted. Everybody follows the old primary then, and what its successor acknowledged is lost.
But /sync names the successor before it is promoted (synchronous_mode). So whom /sync does not name takes no lock,
whether it runs as a primary or as a replica; of replicas Patroni asks that by itself.
"""

import sys

import patroni.postgresql  # noqa: F401 -- before patroni.ha, which it imports in a circle
from patroni.__main__ import main
from patroni.ha import Ha

_is_healthiest = Ha.is_healthiest_node


def is_healthiest_node(ha: Ha) -> bool:
    """Whether this host may take the lock, which nobody has."""
    sync = ha.cluster.sync
    if ha.is_synchronous_mode() and not ha.is_paused() and not sync.is_empty:
        return sync.matches(ha.state_handler.name, True) and _is_healthiest(ha)
    return _is_healthiest(ha)


Ha.is_healthiest_node = is_healthiest_node

if __name__ == "__main__":
    sys.exit(main())
