"""Dealer rotation: line-ups of strings of tables, pushes, breaks, and the hours of dealers."""
