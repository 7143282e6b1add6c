"""The pages of limits: plans, the grid of all tables, its files and the history."""
