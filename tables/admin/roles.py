"""The page of the roles: what each may do, which bounds that has, and the form that chooses within them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final

from django import forms
from django.http import QueryDict
from django.utils import timezone

from tables.admin.policies import FromThenOn
from tables.log import duties, role_choices
from tables.log.policies import TERMS, Values
from tables.log.role_choices import APART_TERM, PERMISSIONS_TERM, SIGNERS_TERM
from tables.roles import Role
from tables.setup import policies
from tables.setup import role_choices as choices
from tables.setup.dual_control import ProposalDraft
from tables.setup.role_choices import DutyRow

LABELS: Final = tuple(str(Role(role).label) for role in Role.values)
_OUTSIDE: Final = "That is not for a house to choose: it is fixed, never or always."


class _Boxes(forms.MultipleChoiceField):
    """Boxes that are ticked on the page; what has none is refused in words, whoever posts it."""

    def __init__(self, words: Collection[str]) -> None:
        messages = {"invalid_choice": f"{_OUTSIDE} (%(value)s)"}
        super().__init__(required=False, choices=[(word, word) for word in words], error_messages=messages)


class RolesForm(FromThenOn):
    """What is ticked: permissions that a role has, steps that it signs, further roles that are kept apart."""

    has = _Boxes([choice.word for choice in role_choices.CHOICES])
    signs = _Boxes([strike.word for strike in role_choices.STRIKES])
    apart = _Boxes(role_choices.APART)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.in_force = policies.as_entered(timezone.now())

    @property
    def otherwise(self) -> Collection[str]:
        """Which permissions are otherwise than they ship: as typed, or as is in force."""
        if not self.is_bound:
            return self._words(PERMISSIONS_TERM)
        ticked = self._ticked("has")
        return [choice.word for choice in role_choices.CHOICES if (choice.word in ticked) is not choice.given]

    @property
    def struck(self) -> Collection[str]:
        """Which roles are struck from a step."""
        if not self.is_bound:
            return self._words(SIGNERS_TERM)
        ticked = self._ticked("signs")
        return [strike.word for strike in role_choices.STRIKES if strike.word not in ticked]

    @property
    def kept_apart(self) -> Collection[str]:
        """Which further roles are kept apart."""
        if not self.is_bound:
            return self._words(APART_TERM)
        ticked = self._ticked("apart")
        return [word for word in role_choices.APART if word in ticked]

    def _ticked(self, name: str) -> Collection[str]:
        assert isinstance(self.data, QueryDict)  # noqa: S101 -- the form is filled by a request alone
        return self.data.getlist(name)

    def _words(self, name: str) -> Collection[str]:
        words = self.in_force[name]
        assert isinstance(words, tuple)  # noqa: S101 -- these terms are words
        return [str(word) for word in words]

    def clean(self) -> dict[str, Any]:
        """Judged as the write that follows judges."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        moment = timezone.now()
        for sentence in policies.faults(self.values(), cleaned["effective"] or moment, moment).values():
            self.add_error(None, sentence)
        return cleaned

    def values(self) -> Values:
        """What differs from what would hold then; all of it, where nothing does."""
        chosen = {
            PERMISSIONS_TERM: tuple(self.otherwise),
            SIGNERS_TERM: tuple(self.struck),
            APART_TERM: tuple(self.kept_apart),
        }
        before = policies.as_entered(self.cleaned_data.get("effective") or timezone.now())
        return {name: words for name, words in chosen.items() if before[name] != words} or chosen

    def draft(self) -> ProposalDraft | None:
        """What is to be proposed, where it takes two people."""
        return choices.draft(self.values(), self.cleaned_data["effective"])

    @property
    def permissions(self) -> list[DutyRow]:
        return choices.permission_grid(self.otherwise)

    @property
    def steps(self) -> list[tuple[str, list[DutyRow]]]:
        """The steps of each kind of slip, by its title."""
        grouped: dict[str, list[DutyRow]] = {}
        for line in choices.signer_grid(self.struck):
            grouped.setdefault(line.group, []).append(line)
        return list(grouped.items())

    @property
    def free_pairs(self) -> Iterator[tuple[str, str, str, bool]]:
        """The pairs that the house may keep apart: their word, both roles, and whether it does."""
        for word, (first, second) in role_choices.APART.items():
            yield word, str(Role(first).label), str(Role(second).label), word in self.kept_apart


def apart() -> list[tuple[str, str, str, str]]:
    """The pairs that nobody ever has together: both roles, why, and by which rule."""
    return [(str(Role(pair.first).label), str(Role(pair.second).label), pair.why, pair.clause) for pair in duties.APART]


def next_choices() -> list[tuple[Any, str, list[str]]]:
    """What was entered and does not hold yet: from when, which term, and its words then."""
    moment = timezone.now()
    return [
        (change.effective, TERMS[name].title, [role_choices.CALLED.get(word, word) for word in change.values[name]])
        for change in sorted(policies.changes())
        for name in role_choices.TERM_NAMES
        if change.effective > moment and name in change.values
    ]
