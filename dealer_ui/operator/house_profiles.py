"""The pages of house profiles: the clauses with their policies and tests, and the form that adopts one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest
from django.utils import timezone

from dealer_ui.operator.pages import OperatorPage
from dealer_ui.operator.policies import PolicyForm, PolicyFormPage
from tables.log import policies as catalogue
from tables.log.house_profiles import PROFILES, Clause, Profile
from tables.log.policies import TERMS, Values, said, title_of
from tables.setup import policies


class ProfileForm(PolicyForm):
    """When a profile takes effect, and why."""

    def __init__(self, profile: Profile, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._profile, self.profile = profile, profile.name

    def values(self) -> Values:
        return self._profile.terms


@dataclass(frozen=True, slots=True)
class MappedClause:
    """A clause with its policies: the title and value of each, and True if the value is in force."""

    clause: Clause
    terms: list[tuple[str, str, bool]]


def clauses_of(profile: Profile) -> list[MappedClause]:
    """The clauses of a profile with their policies."""
    values = policies.as_entered(timezone.now())
    return [
        MappedClause(
            clause,
            [(title_of(name), said(TERMS[name], value), values[name] == value) for name, value in clause.terms.items()],
        )
        for clause in profile.clauses
    ]


def would_change(profile: Profile) -> list[tuple[str, str, str]]:
    """The policies that adopting a profile now would change: title, old and new value."""
    values = policies.as_entered(timezone.now())
    changed = catalogue.differing(values, profile.terms)
    return [
        (title_of(name), said(TERMS[name], values[name]), said(TERMS[name], value)) for name, value in changed.items()
    ]


class ProfilesPage(OperatorPage):
    """The list of profiles."""

    permission_required = ("tables.view_houseterms",)
    template_name = "dealer_ui/operator/house_profiles.html"
    title = "House profiles"
    extra_context = {"profiles": PROFILES.values()}


class ProfilePage(PolicyFormPage):
    """One profile, clause by clause, and the form that adopts it."""

    matter = "profile"
    template_name = "dealer_ui/operator/house_profile.html"

    def setup(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        """Read the profile that the address names."""
        super().setup(request, *args, **kwargs)
        if kwargs["name"] not in PROFILES:
            raise Http404
        self.profile = PROFILES[kwargs["name"]]

    def get_form(self, form_class: Any = None) -> ProfileForm:
        return ProfileForm(self.profile, **self.get_form_kwargs())

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        return super().get_context_data(
            title=f"House profile: {self.profile.title}", profile=self.profile, clauses=clauses_of(self.profile),
            would_change=would_change(self.profile), **context,
        )  # fmt: skip
