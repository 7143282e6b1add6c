"""PostgreSQL with a connection pool for each kind of work (see ledger/connection_pools.py)."""
