"""Alerts of a floor: the rules that raise them, who receives them, and their delivery outside the site."""
