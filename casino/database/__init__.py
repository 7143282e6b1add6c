"""PostgreSQL with a pool of connections for each lane (see ledger/connection_pools.py)."""
