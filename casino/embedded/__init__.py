"""PostgreSQL and Valkey from Python packages, for demos and tests."""
