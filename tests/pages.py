"""What a page says, apart from what is made by chance each time it is drawn."""

import re

DRAWN_BY_CHANCE = re.compile(
    r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"  # keys of inputs
    r'|(?<=name="csrfmiddlewaretoken" value=")[0-9A-Za-z]{64}'
)


def lasting(page: str) -> str:
    """The page without keys and tokens: any four figures may stand in one of those."""
    return DRAWN_BY_CHANCE.sub("", page)
