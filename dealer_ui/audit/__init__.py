"""The auditors' screens: sealed days, access reviews, health, restored tables."""
