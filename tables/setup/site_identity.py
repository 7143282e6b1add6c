"""The names and the currency of the site, for the head of its printed pages."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from django.db import DatabaseError

from tables.log import policies as catalogue
from tables.setup import policies


@dataclass(frozen=True, slots=True)
class Identity:
    """The names and the currency of the site, for the head of printed pages."""

    house_name: str
    property_name: str
    currency: str

    @property
    def title(self) -> str:
        """Both names in one line; empty without a name."""
        return ", ".join(name for name in (self.house_name, self.property_name) if name)

    @property
    def prefix(self) -> str:
        """Both names as the start of a file name, in plain letters: "grand-casino-harbour-"; empty without a name."""
        plain = unicodedata.normalize("NFKD", self.title).encode("ascii", "ignore").decode().lower()
        slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
        return f"{slug}-" if slug else ""


def identity() -> Identity:
    """The current identity. While the database is unavailable, the defaults: pages are still drawn."""
    try:
        terms = policies.all_in_force()
    except DatabaseError:
        # The page about the outage needs a head as well.
        terms = catalogue.defaults()
    return Identity(str(terms["house_name"]), str(terms["property_name"]), str(terms["currency"]).upper())
