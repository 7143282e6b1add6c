"""The head office: receives the sealed days of several houses, verifies them, and compares the houses' figures."""
