"""The live floor of the pit: cards, plan, assignments, search."""
