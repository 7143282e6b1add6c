"""The head office: sealed days of several houses, verified on arrival, and what they won beside each other."""
