"""Practice for dealers: the questions of a course, and how its rounds end. Pure.

A session is its course and its answers: a course always makes the same rounds, so both together replay the session.
This module knows no table, chips of the casino or clock.
"""

from __future__ import annotations

from collections import Counter

from tables.training.providers import provider
from tables.training.questions import CourseSpec, Question, Score, in_words, score

__all__ = ["CourseSpec", "Question", "Score", "endings", "in_words", "score", "script"]


def script(course: CourseSpec) -> list[Question]:
    """All questions of a course, in order."""
    return provider(course.game).script(course)


def endings(course: CourseSpec) -> Counter[str]:
    """Number of rounds of a course by kind of ending."""
    practised, last = provider(course.game), {question.round: question.state for question in script(course)}
    return Counter(ending for state in last.values() for ending in practised.ended(course, state))
