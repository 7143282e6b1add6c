"""The state of a table, read from its log: now, and as of an earlier entry."""
