"""Alerts on the pit's screens: inbox, rules, reconciliation."""
