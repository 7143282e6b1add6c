"""One table on the pit's screens: rounds, log, limits, display."""
