"""The shell commands of docs/api.md, taken from the page and sent in their order."""

from __future__ import annotations

import codecs
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from string import Template
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from casino.embedded.servers import BASE_DIR
from tables.log.scopes import SCOPES
from tables.setup import service_accounts
from tables.setup.service_accounts import Access
from tables.staff import service_tokens
from tests import load
from tests.api.conftest import Floor

pytestmark = pytest.mark.django_db

PAGE = BASE_DIR / "docs" / "api.md"
WITH_VALUE = {"-H": "header", "-d": "body", "-o": "file"}


@dataclass
class Curl:
    """A curl command: its address, headers and body."""

    address: str = ""
    body: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, words: Iterator[str]) -> Curl:
        """The words after ``curl``. An option that is not known here fails, so that no part of a command is skipped."""
        command = cls()
        for word in words:
            kind = WITH_VALUE.get(word)
            if kind == "header":
                name, _, value = next(words).partition(": ")
                command.headers[name] = value
            elif kind == "body":
                command.body = next(words)
            elif kind == "file":
                next(words)
            elif word != "-s":
                assert not word.startswith("-"), word
                assert not command.address, word
                command.address = word
        return command

    def send(self) -> Any:
        if self.body is None:
            return Client().get(self.address, headers=self.headers)
        kind = self.headers.pop("Content-Type")
        return Client().post(self.address, self.body, content_type=kind, headers=self.headers)


def commands() -> Iterator[str]:
    """The lines of the page's shell blocks, those that are continued put together."""
    for block in re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE):
        yield from filter(None, block.replace("\\\n", " ").splitlines())


def token_for(house: Floor, name: str, comment: str) -> str:
    """A token of an API client with the scopes that the comment of its line names."""
    scopes = tuple(scope for scope in SCOPES if scope in comment)
    tables = (house.table.name,) if any(SCOPES[scope].enters for scope in scopes) else ()
    access = Access(purpose="Quick start", scopes=scopes, tables=tables, expires=timezone.now() + timedelta(days=1))
    return service_tokens.make(service_accounts.set_account(name, access, by=house.operator), by=house.operator)


def test_each_command_of_the_page_works_as_printed(house: Floor) -> None:
    """Harm: the first thing that an integrator copies is refused."""
    house.dealer.bets(seat1=2_000)
    house.dealer.cards(8, 10, 8)
    house.dealer.pay()
    variables: dict[str, str] = {}
    answers: list[Any] = []
    for line in commands():
        name, is_assignment, value = line.partition("=")
        if is_assignment and name.isidentifier():
            value, _, comment = value.partition("#")
            example = {"SITE": "", "TABLE": str(house.table.pk)}
            variables[name] = token_for(house, name, comment) if value.startswith("casino_") else example[name]
            continue
        word, *words = shlex.split(Template(line).substitute(variables), comments=True)
        assert word == "curl", line
        answer = Curl.read(iter(words)).send()
        content = load.whole(answer) if answer.streaming else answer.content
        assert answer.status_code == 200, (line, content)
        answers.append(content if answer.streaming else answer.json())
    tables, board, rounds, events, file, begun, reader = answers
    assert house.table.pk in [table["id"] for table in tables["items"]]
    assert board["table"]["id"] == house.table.pk
    assert [line["number"] for line in rounds["items"]] == [1]
    assert [event["type"] for event in events["events"]] == ["round.settled"]
    assert file.startswith(codecs.BOM_UTF8 + b"round,")
    assert begun["state"] == reader["state"] == "live"
