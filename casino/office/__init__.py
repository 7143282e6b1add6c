"""The head office: receives the sealed days of several sites, verifies them, and compares the sites' figures."""
