"""What the floor refuses: a machine-readable code, one plain sentence, and the HTTP status that fits."""

from __future__ import annotations

import re
from typing import Any, Final, Self

import msgspec


class Refused(Exception):
    """Nothing was done. The sentence says what is wrong and what would be right."""

    errors: tuple[tuple[str, str], ...] = ()
    """Faults of single fields: JSON Pointer (RFC 6901) and sentence."""

    def __init__(self, code: str, sentence: str, status: int = 422, **facts: Any) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence
        self.status = status
        self.facts = facts

    def in_field(self, pointer: str, text: str) -> Self:
        """The refusal with the field at fault."""
        self.errors = ((pointer, sentence(text)),)
        return self

    def as_json(self) -> dict[str, Any]:
        """The body of the API's answer."""
        return {"code": self.code, "detail": self.sentence, **self.facts}

    def spelled(self) -> dict[str, Any]:
        """As the log keeps a refusal that was reported, so that it can be answered again."""
        return {"code": self.code, "sentence": self.sentence, "status": self.status, "facts": self.facts}


Faults = dict[str, str]
"""One sentence for each field that is wrong."""


def refuse_faults(code: str, faults: Faults) -> None:
    """Raises Refused with every sentence, unless there is none."""
    if faults:
        raise Refused(code, " ".join(faults.values()), 422, fields=faults)


def sentence(text: str) -> str:
    """A clause as a sentence: capital letter, full stop."""
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else text + "."


def unreadable(error: msgspec.ValidationError, whole: str, root: str = "") -> Refused:
    """The refusal of data that do not have their form. ``whole`` names the data, ``root`` is their JSON Pointer."""
    text, _, path = str(error).partition(" - at `$")
    path, text = path.rstrip("`").removeprefix("."), f"{text[:1].lower()}{text[1:]}"
    refused = Refused("bad_input", sentence(f"{path or whole}: {text}"), 400)
    member = _MEMBER.search(text)
    return refused.in_field(root + pointer(path) + (pointer_step(member[1]) if member else ""), text)


_MEMBER: Final = re.compile("(?:required|unknown) field `([^`]+)`")


def pointer(path: str) -> str:
    """A path such as ``chips[0].value`` as a JSON Pointer. Keys of mappings, which msgspec leaves out, are missing."""
    return "".join(map(pointer_step, re.findall(r"[^.\[\]]+", path)))


def pointer_step(name: str) -> str:
    return "/" + name.replace("~", "~0").replace("/", "~1")
