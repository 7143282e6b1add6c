"""Dealers' training: practice sessions, their answers, and the certificates that floor staff sign.

Practice has no table and no log: it moves no chips, so reports, counts, seals and proofs need not exclude it. Its
result is replayed from its course and answers at each view.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

import msgspec
from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from msgspec import structs

from ledger import log, site_log
from ledger.log import Draft
from ledger.proof.spelling import canonical
from tables.games.catalog import GAMES
from tables.games.protocol import Illegal
from tables.log.entries.staff import CertificateIssued
from tables.log.terms import made_rules
from tables.models import Certificate, Practice, PracticeAnswer, Staff
from tables.refusals import Refused
from tables.setup import policies
from tables.training import providers, questions
from tables.training.providers import PROVIDERS, provider
from tables.training.questions import CourseSpec, Question, Score

FEWEST_ROUNDS: Final = 20
"""A certificate rests on no fewer."""


@dataclass(frozen=True, slots=True)
class Session:
    """A practice session, replayed from its stored course and answers."""

    row: Practice
    course: CourseSpec
    questions: Sequence[Question]
    answers: tuple[str, ...]

    @property
    def title(self) -> str:
        """Title of its game."""
        return GAMES[self.course.game].title

    @property
    def over(self) -> bool:
        """Whether every question has an answer."""
        return len(self.answers) >= len(self.questions)

    @property
    def due(self) -> Question | None:
        """The next unanswered question; None once the practice is over."""
        return None if self.over else self.questions[len(self.answers)]

    @property
    def score(self) -> Score:
        return questions.score(self.questions, self.answers)

    @property
    def mistakes(self) -> list[tuple[int, Question, str]]:
        """Every wrong answer: the question's number, from 1, the question, and the answer."""
        pairs = enumerate(zip(self.questions, self.answers, strict=False), start=1)
        return [(number, question, answer) for number, (question, answer) in pairs if question.right != answer]

    @property
    def missing(self) -> str:
        """Why no certificate can be signed for it; "" if one can."""
        if not self.over:
            return "The practice is not over: answer every question first."
        if self.course.rounds < FEWEST_ROUNDS:
            return f"A certificate takes at least {FEWEST_ROUNDS} rounds: start a longer practice."
        least, score = policies.number("certificate_pass_percent"), self.score
        if not score.passes(least):
            steps, payouts = f"{score.steps_right} of {score.steps}", f"{score.payouts_right} of {score.payouts}"
            return f"{steps} steps and {payouts} payments were right, and {least} % of each have to be: practise again."
        return ""


@lru_cache(maxsize=256)
def _script(course: bytes) -> tuple[Question, ...]:
    """The questions of a course. Its JSON is the cache key, since its options are not hashable."""
    return tuple(providers.script(msgspec.json.decode(course, type=CourseSpec)))


def session(row: Practice) -> Session:
    """The session of a practice. Raises Refused for a course of another version."""
    course = msgspec.convert(row.course, CourseSpec)
    if not _is_readable(course):
        raise Refused("other_version", "This practice is of another version: start a new one.", 409)
    answers = tuple(row.answers.order_by("number").values_list("answer", flat=True))
    return Session(row, course, _script(_key(course)), answers)


def _key(course: CourseSpec) -> bytes:
    return msgspec.json.encode(course, order="sorted")


def _is_readable(course: CourseSpec) -> bool:
    """Whether this version asks the questions of a course as they were asked."""
    return course.game in PROVIDERS and course.version == provider(course.game).version


def start(
    dealer: Staff, game: str = "rocket", options: Mapping[str, Any] | None = None, unit_cents: int = 100
) -> Practice:
    """A new practice of a game under some options, by default the game's own, from an unpredictable seed.

    Raises Refused.
    """
    _permit(dealer)
    if game not in PROVIDERS:
        raise Refused("no_practice", f"There is no practice of {GAMES[game].title if game in GAMES else game}.", 422)
    practised = provider(game)
    try:
        rules = made_rules(practised.game, options or {}, unit_cents)
        course = practised.course(secrets.token_hex(16), policies.number("certificate_rounds"), rules)
        _script(_key(course))  # a course that cannot be drawn is not stored
    except (Illegal, msgspec.ValidationError) as wrong:
        sentence = wrong.sentence if isinstance(wrong, Illegal) else str(wrong)
        raise Refused("bad_options", f"It cannot be dealt under these options: {sentence}.", 422) from None
    row: Practice = Practice.objects.create(dealer=dealer, course=msgspec.to_builtins(course))
    return row


def answer(row: Practice, number: int, text: str, *, by: Staff) -> bool:
    """Store the trainee's answer to a question; returns whether it is right. The first answer counts. Raises
    Refused."""
    _permit(by)
    if row.dealer_id != by.pk:
        raise Refused("not_yours", "This is somebody else's practice: start your own.", 403)
    with transaction.atomic():
        Staff.objects.select_for_update(no_key=True).get(pk=by.pk)  # serialises two clicks of one trainee
        standing = session(row)
        due = standing.due
        if due is None or number != len(standing.answers) + 1:
            raise Refused("answered", "This question is answered already: go on with the next one.", 409)
        PracticeAnswer.objects.create(practice=row, number=number, answer=_read(due, text))
    return due.right == _read(due, text)


def _read(question: Question, text: str) -> str:
    """An answer in the form in which it is stored, an amount without leading zeros. Raises Refused for an invalid
    one."""
    if any(offered.name == text for offered in question.answers):
        return text
    if question.pays and len(text) <= 12 and text.removeprefix("-").isdecimal() and text.isascii():
        return str(int(text))
    raise Refused("bad_answer", "Choose one of the answers; an amount is in plain digits, such as 12.", 422)


def _permit(by: Staff) -> None:
    by.require("tables.deal", "Practice is for dealers.")


# --- Certificates ----------------------------------------------------------------------------------------------


def rules_version(course: CourseSpec) -> str:
    """Version of a game's practice, with a short hash of it and of the options of the course."""
    practised = provider(course.game)
    pinned = {"rules": msgspec.to_builtins(practised.rules(course)), "practice": practised.version}
    return f"{practised.version}-{sha256(canonical(pinned)).hexdigest()[:16]}"


def certify(row: Practice, *, by: Staff) -> Certificate:
    """Sign that this dealer can deal a game. Raises Refused.

    Numbers have no gaps: the site log's lock is held until the row and its entry are committed.
    """
    by.require("tables.run_floor", "A certificate is signed by a pit boss.")
    standing = session(row)
    if standing.missing:
        raise Refused("not_passed", standing.missing, 409)
    with transaction.atomic():
        head = site_log.lock()
        if Certificate.objects.filter(practice=row).exists():
            raise Refused("signed_already", "There is a certificate for this practice already.", 409)
        today = timezone.localdate()
        certificate = Certificate(
            number=(Certificate.objects.aggregate(last=Max("number"))["last"] or 0) + 1,
            seq=head.seq + 1,
            practice=row,
            dealer=row.dealer,
            game=standing.course.game,
            rules_version=rules_version(standing.course),
            answers_right=standing.score.right,
            answers_asked=standing.score.asked,
            signed_by=by,
            signed_as=by.signature,
            on_day=today,
            valid_through=today + timedelta(days=policies.number("certificate_days")),
        )
        certificate.save()
        log.append(head, Draft.of(event_of(certificate), by.signature))
    return certificate


def event_of(certificate: Certificate) -> CertificateIssued:
    """The log entry of a certificate, with a hash of the answers."""
    answers = list(certificate.practice.answers.order_by("number").values_list("answer", flat=True))
    return CertificateIssued(
        number=certificate.number,
        username=certificate.dealer.username,
        game=certificate.game,
        rules_version=certificate.rules_version,
        answers_right=certificate.answers_right,
        answers_asked=certificate.answers_asked,
        signed_by=certificate.signed_by.username,
        on_day=certificate.on_day.isoformat(),
        valid_through=certificate.valid_through.isoformat(),
        course=dict(certificate.practice.course),
        answers_sha256=sha256(canonical({"answers": answers})).hexdigest(),
    )


def unlike(event: CertificateIssued, seq: int, by: str) -> str:
    """How a certificate's row differs from its entry or from the result of its practice; "" if it does not."""
    row = Certificate.objects.filter(seq=seq).select_related("dealer", "signed_by", "practice").first()
    if row is None or structs.replace(event_of(row), happened_at=event.happened_at) != event or row.signed_as != by:
        return "the certificate, as it is kept beside the log, is another"
    return faults(row)


def faults(certificate: Certificate) -> str:
    """Faults of a certificate on replaying its practice; "" if there are none."""
    if not _is_readable(msgspec.convert(certificate.practice.course, CourseSpec)):
        return ""  # of another version: only the hash of its answers can be checked
    score = session(certificate.practice).score
    if (score.right, score.asked) != (certificate.answers_right, certificate.answers_asked):
        return f"{score.right} of {score.asked} answers of its practice are right"
    if certificate.dealer_id != certificate.practice.dealer_id:
        return "its practice is somebody else's"
    return ""


def valid(dealer: Staff, game: str) -> bool:
    """Whether a dealer has a certificate for a game that is good today."""
    return Certificate.objects.filter(dealer=dealer, game=game, valid_through__gte=timezone.localdate()).exists()


def refuse_uncertified(dealer: Staff, game: str) -> None:
    """Raises Refused if the casino requires a certificate for a game and the dealer has no valid one."""
    if game in policies.words("certificate_games") and not valid(dealer, game):
        title = GAMES[game].title
        raise Refused("not_certified", f"A valid certificate for {title} is required: pass a practice first.", 403)
