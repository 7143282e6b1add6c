"""Projections: the database rows derived from the log, one module per kind of row, for comparison with the log."""
