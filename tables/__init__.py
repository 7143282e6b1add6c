"""The gaming floor: games, tables, shoes, staff, and the one place where a dealer's action becomes durable."""
