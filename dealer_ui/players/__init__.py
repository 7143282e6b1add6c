"""Public pages: a player's page at a seat, and placards."""
