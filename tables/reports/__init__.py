"""Figures of gaming days, shifts and spans: win, drop, hold, inventories, exceptions; and the close of a day."""
