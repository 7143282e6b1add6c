"""The page of roles: the permissions and signatures of each, their bounds, and the form that chooses within them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from django import forms
from django.urls import reverse_lazy
from django.utils import timezone

from dealer_ui.operator.policies import PolicyForm, PolicyFormPage
from tables.approvals import proposals
from tables.log import duties, role_choices
from tables.log.policies import TERMS, Values
from tables.log.role_choices import APART_TERM, PERMISSIONS_TERM, SIGNERS_TERM
from tables.roles import Role
from tables.setup import policies
from tables.setup import role_choices as choices
from tables.setup.dual_control import ProposalDraft
from tables.setup.role_choices import DutyRow

LABELS: Final = tuple(str(Role(role).label) for role in Role.values)
_CHOICES: Final = role_choices.CHOICES
_OUTSIDE: Final = "That is not for a house to choose: it is fixed, never or always."


class _Boxes(forms.MultipleChoiceField):
    """The ticked boxes of a table. A value without a box is refused with a sentence."""

    def __init__(self, words: Collection[str]) -> None:
        messages = {"invalid_choice": f"{_OUTSIDE} (%(value)s)"}
        super().__init__(required=False, choices=[(word, word) for word in words], error_messages=messages)


class RolesForm(PolicyForm):
    """The ticked boxes: permissions of roles, steps that they sign, further roles that are kept apart."""

    has = _Boxes([choice.word for choice in _CHOICES])
    signs = _Boxes([strike.word for strike in role_choices.STRIKES])
    apart = _Boxes(role_choices.APART)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        in_force: Mapping[str, Any] = policies.as_entered(timezone.now())
        otherwise, struck = in_force[PERMISSIONS_TERM], in_force[SIGNERS_TERM]
        self.initial["has"] = [choice.word for choice in _CHOICES if (choice.word in otherwise) is not choice.given]
        self.initial["signs"] = [strike.word for strike in role_choices.STRIKES if strike.word not in struck]
        self.initial["apart"] = in_force[APART_TERM]

    @property
    def otherwise(self) -> Collection[str]:
        """The permissions that differ from the defaults."""
        ticked = self["has"].value()
        return [choice.word for choice in _CHOICES if (choice.word in ticked) is not choice.given]

    @property
    def struck(self) -> Collection[str]:
        """The roles that are struck from a step."""
        ticked = self["signs"].value()
        return [strike.word for strike in role_choices.STRIKES if strike.word not in ticked]

    @property
    def kept_apart(self) -> Collection[str]:
        """The pairs of further roles that are kept apart."""
        ticked = self["apart"].value()
        return [word for word in role_choices.APART if word in ticked]

    def clean(self) -> dict[str, Any]:
        """Judge by the function that judges the write."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        moment = timezone.now()
        for sentence in policies.faults(self.values(), cleaned["effective"] or moment, moment).values():
            self.add_error(None, sentence)
        return cleaned

    def values(self) -> Values:
        """The choices that differ from those in force at the effective time; all of them if none does."""
        chosen = {
            PERMISSIONS_TERM: tuple(self.otherwise),
            SIGNERS_TERM: tuple(self.struck),
            APART_TERM: tuple(self.kept_apart),
        }
        before = policies.as_entered(self.cleaned_data.get("effective") or timezone.now())
        return {name: words for name, words in chosen.items() if before[name] != words} or chosen

    def draft(self) -> ProposalDraft | None:
        """The proposal of the choices; None where one person may make them."""
        return choices.draft(self.values(), self.cleaned_data["effective"])

    @property
    def permissions(self) -> list[DutyRow]:
        return choices.permission_grid(self.otherwise)

    @property
    def steps(self) -> list[tuple[str, list[DutyRow]]]:
        """The steps of each type of slip, by its title."""
        grouped: dict[str, list[DutyRow]] = {}
        for line in choices.signer_grid(self.struck):
            grouped.setdefault(line.group, []).append(line)
        return list(grouped.items())

    @property
    def free_pairs(self) -> Iterator[tuple[str, str, str, bool]]:
        """The pairs that the site may keep apart: the word, both roles, and True if they are kept apart."""
        for word, (first, second) in role_choices.APART.items():
            yield word, str(Role(first).label), str(Role(second).label), word in self.kept_apart


def apart() -> list[tuple[str, str, str, str]]:
    """The pairs that one person never has together: both roles, the reason and the rule."""
    return [(str(Role(pair.first).label), str(Role(pair.second).label), pair.why, pair.clause) for pair in duties.APART]


def next_choices() -> list[tuple[Any, str, list[str]]]:
    """The choices that take effect later: the moment, the title of the policy and its words."""
    moment = timezone.now()
    return [
        (change.effective, TERMS[name].title, [role_choices.CALLED.get(word, word) for word in change.values[name]])
        for change in sorted(policies.changes())
        for name in role_choices.TERM_NAMES
        if change.effective > moment and name in change.values
    ]


class RolesPage(PolicyFormPage):
    """The permissions and signatures of each role, with a box for each choice of the site."""

    template_name = "dealer_ui/operator/roles.html"
    title = "Roles: what each may do"
    form_class = RolesForm
    success_url = reverse_lazy("house-roles")

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        waiting = proposals.waiting().filter(matter="terms", about=choices.ABOUT)
        return super().get_context_data(
            labels=LABELS, apart=apart(), differ=duties.DIFFER, next=next_choices(),
            waiting=[(row, proposals.title_of_proposal(row)) for row in waiting], **context,
        )  # fmt: skip
