"""Dual control: proposals that wait for a second person."""
