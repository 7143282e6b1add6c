"""PostgreSQL with a pool of connections for each lane (see ledger/lanes.py)."""
