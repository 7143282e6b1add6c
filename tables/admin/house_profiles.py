"""A house profile on its page: each clause with its terms and its tests, and what adopting it would change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from tables.admin.policies import FromThenOn
from tables.log import policies as catalogue
from tables.log.house_profiles import Clause, Profile
from tables.log.policies import TERMS, Values, said, title_of
from tables.setup import policies


class ProfileForm(FromThenOn):
    """From when a profile is to hold, and why."""

    def __init__(self, profile: Profile, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._profile = profile

    def values(self) -> Values:
        return self._profile.terms


@dataclass(frozen=True, slots=True)
class Mapped:
    """A clause, with the terms that it lays down: what each has to be, and whether it is so now."""

    clause: Clause
    terms: list[tuple[str, str, bool]]


def clauses_of(profile: Profile) -> list[Mapped]:
    """Each clause with its terms."""
    values = policies.as_entered(timezone.now())
    return [
        Mapped(
            clause,
            [(title_of(name), said(TERMS[name], value), values[name] == value) for name, value in clause.terms.items()],
        )
        for clause in profile.clauses
    ]


def would_change(profile: Profile) -> list[tuple[str, str, str]]:
    """What adopting it now would change: each term, before and after."""
    values = policies.as_entered(timezone.now())
    changed = catalogue.differing(values, profile.terms)
    return [
        (title_of(name), said(TERMS[name], values[name]), said(TERMS[name], value)) for name, value in changed.items()
    ]
