"""Advantage play: card counting, penetration, play in the middle of a round, and simulation."""
