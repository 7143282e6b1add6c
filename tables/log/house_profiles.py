"""House profiles: the policies that the public rules of a jurisdiction require, as data that sets all of them at once.

Each clause is paraphrased and lists the policies that it sets and the tests that run them. A profile is not a licence:
an applicant must check the rules in force. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from tables.log.policies import HOUSE, MISPAYS, PRACTISED, TERMS, WITNESSES, Value, defaults
from tables.log.role_choices import TERM_NAMES

OF_THE_HOUSE: Final = (
    "two_people",
    *TERM_NAMES,
    *(term.name for term in TERMS.values() if term.group in (HOUSE, MISPAYS, WITNESSES)),
)
"""The policies that no profile sets, because no rule prescribes them: opening hours of the site, role options,
payout-error rates and witnesses."""


@dataclass(frozen=True, slots=True)
class Clause:
    """The requirement of one rule, and how the product meets it."""

    source: str
    says: str
    """A paraphrase of the rule."""
    terms: Mapping[str, Value] = field(default_factory=dict)
    """The policies that it sets; empty if the product complies under any policy."""
    tests: tuple[str, ...] = ()
    """Tests of it, each as FILE::TEST below ``tests``."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The policies of one jurisdiction, as far as public rules show."""

    name: str
    title: str
    about: str
    clauses: tuple[Clause, ...]
    left_out: tuple[str, ...] = ()
    """Rules that are not covered, or known only from memory. They set no policy."""

    @property
    def terms(self) -> dict[str, Value]:
        """Every policy that a profile may set: the values of the clauses, and defaults for the rest."""
        laid_down = {name: value for clause in self.clauses for name, value in clause.terms.items()}
        return {name: value for name, value in (defaults() | laid_down).items() if name not in OF_THE_HOUSE}


_TERMS = "tables/setup/test_policies.py"
_LEVELS = "ledger/test_discrepancies.py::test_each_amount_goes_as_far_as_the_limits_say"
_LAID_DOWN = "ledger/test_discrepancies.py::test_the_house_lays_the_limits_down"
_DISPUTES = "tables/disputes/test_disputes.py::test_a_large_dispute_is_marked_for_the_regulator"
_PENETRATION = f"{_TERMS}::test_the_least_penetration_holds_for_tables_that_are_set"
_CERTIFIED = "tables/training/test_practice.py::test_a_table_can_ask_for_a_certificate"
_DEFAULTS = "tables/log/test_policies.py::test_each_default_is_in_its_bounds_and_survives_being_typed"
_TWO = "tables/approvals/test_proposals.py::test_one_person_is_refused_and_two_do_it"
_FOUND = "tables/approvals/test_proposals.py::test_a_change_without_its_approval_is_found"
_COUNTED = "tables/audit/test_log_rules.py::test_no_table_opens_or_closes_without_a_count"
_MOVES = "ledger/test_guards.py::test_the_database_permits_the_closed_list_and_nothing_else"
_BANDS = "tables/reports/test_outliers.py::test_a_game_that_pays_what_it_should_not_is_flagged"
_NOTICE = "tables/limits/test_enforcement.py::test_a_minimum_is_raised_after_its_notice_and_lowered_at_once"
_KEPT_LIMITS = "tables/setup/test_table_settings.py::test_new_limits_hold_from_the_next_round_on"

PROFILES: Final[Mapping[str, Profile]] = {
    profile.name: profile
    for profile in (
        Profile(
            "neutral", "Neutral",
            "Every term at its default: a house that no profile fits begins here.",
            (
                Clause(
                    "The house itself", "Nothing is asked for beyond what the product does anyway.",
                    {}, (_DEFAULTS,),
                ),
            ),
        ),
        Profile(
            "nevada", "Nevada",
            "The Gaming Control Board's checklist for table systems and its rule on disputes, as published.",
            (
                Clause(
                    "Regulation on patron disputes",
                    "A dispute over at least 500 that is not settled with the patron is told to the Board.",
                    {"dispute_reportable_cents": 50_000}, (_DISPUTES,),
                ),
                Clause(
                    "Checklist for table systems",
                    "Parameters are changed by those who are authorised to, and each change is on record with who made"
                    " it: the house has two people do so.",
                    {}, (_TWO, _FOUND),
                ),
            ),
            (
                "Mispays may be corrected either way: see Disputes; no term.",
                "The quarterly prompt of the checklist: passwords have no age here yet.",
            ),
        ),
        Profile(
            "new_jersey", "New Jersey",
            "N.J.A.C. 13:69D and 13:69F, as published.",
            (
                Clause(
                    "N.J.A.C. 13:69D-1.21",
                    "An opener that is off by more than 25 is reported, and from 100 on the regulator has a copy. The"
                    " clause names no amount for the surveillance: here it hears of it when the supervisor does.",
                    {"discrepancy_levels_cents": (2_501, 2_502, 10_000)}, (_LEVELS, _LAID_DOWN),
                ),
                Clause(
                    "N.J.A.C. 13:69D-1.21",
                    "Dealer and supervisor count the opener again before the table opens.", {}, (_COUNTED,),
                ),
                Clause(
                    "N.J.A.C. 13:69F-2.5",
                    "The cut card of a shoe of several decks lies about a quarter from its end: here no deeper.",
                    {"least_penetration_percent": 75}, (_PENETRATION,),
                ),
            ),
            ("Who may be told of a shoe's worth while it is dealt: nobody is, here; no term.",),
        ),
        Profile(
            "maryland", "Maryland",
            "COMAR 36.05, as published.",
            (
                Clause(
                    "COMAR 36.05.03.02",
                    "Chips come to a table's tray and leave it by a closed list of movements, and by no other.", {},
                    (_MOVES,),
                ),
                Clause(
                    "COMAR 36.05.03.21", "A round that is open is played out by the limits that it was opened under.",
                    {}, (_KEPT_LIMITS,),
                ),
                Clause(
                    "COMAR 36.05.03.21",
                    "While players are seated a minimum is raised after 30 minutes' notice; a lower one, or"
                    " another maximum, holds at once.",
                    {"limits_notice_minutes": 30}, (_NOTICE,),
                ),
                Clause(
                    "COMAR 36.05.03.25",
                    "A table's hold that lies outside of a band of 95 % is looked into.", {}, (_BANDS,),
                ),
            ),
            (
                "COMAR 36.05.03.14, a bet over the limit that was accepted: a pit boss signs for it; no term.",
                "COMAR names no amount for the levels of a discrepancy that we could read: the defaults stand.",
            ),
        ),
        Profile(
            "united_kingdom", "United Kingdom",
            "The Remote Technical Standards of the Gambling Commission, as published, as far as they bear on a floor.",
            (
                Clause(
                    "RTS 17A",
                    "Dealers of live games are trained, and can show it: without a certificate nobody taps in.",
                    {"certificate_games": PRACTISED}, (_CERTIFIED,),
                ),
            ),
            ("The codes for premises name no figures of this kind that we could read: the defaults stand.",),
        ),
    )
}  # fmt: skip
