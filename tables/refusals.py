"""What the floor refuses: a machine-readable code, one plain sentence, and the HTTP status that fits."""

from __future__ import annotations

from typing import Any


class Refused(Exception):
    """Nothing was done. The sentence says what is wrong and what would be right."""

    def __init__(self, code: str, sentence: str, status: int = 422, **facts: Any) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence
        self.status = status
        self.facts = facts

    def as_json(self) -> dict[str, Any]:
        """The body of the API's answer."""
        return {"code": self.code, "detail": self.sentence, **self.facts}

    def spelled(self) -> dict[str, Any]:
        """As the log keeps a refusal that was reported, so that it can be answered again."""
        return {"code": self.code, "sentence": self.sentence, "status": self.status, "facts": self.facts}


def sentence(text: str) -> str:
    """A clause as a sentence: capital letter, full stop."""
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else text + "."
