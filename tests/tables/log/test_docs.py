"""The page about the log tells the vocabulary as it is."""

from tables.management.commands.log_docs import PAGE, page


def test_the_page_of_the_log_has_every_kind_of_entry() -> None:
    """Harm: an auditor writes a verifier by a page that tells other entries than the house writes. ``./run manage
    log_docs`` writes it."""
    assert PAGE.read_text() == page(), "out of date: ./run manage log_docs"
