"""Signed notes: notes that others signed, and what nobody may take for one."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ledger.proof.checkpoint import Checkpoint, Submission
from ledger.proof.note import COSIGNATURE, ED25519, BadNote, Note, VerifierKey, cosign, sign

VKEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
"""The key and the note by which Go's own implementation is tested."""
NOTE = (
    "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n"
    "\u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)
CHECKPOINT = (
    "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n"
    "\u2014 example.com/behind-the-sofa"
    " Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n"
    "\u2014 witness.example.com/w1"
    " jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==\n"
)
"""The example of c2sp.org/tlog-cosignature."""
ROOT = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="
SUBMISSION = (
    "old 20852014\n"
    "PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=\n"
    "jrJZDmY8Y7SyJE0MWLpLozkIVMSMZcD5kvuKxPC3swk=\n"
    "5+pKlUdi2LeF/BcMHBn+Ku6yhPGNCswZZD1X/6QgPd8=\n"
    "/6WVhPs2CwSsb5rYBH5cjHV/wSmA79abXAwhXw3Kj/0=\n"
    "\n" + CHECKPOINT
)
"""That of c2sp.org/tlog-witness."""
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))


def test_a_note_that_another_implementation_signed_is_verified() -> None:
    """Harm: witnesses of others, whose signatures this house takes for none."""
    key = VerifierKey.parse(VKEY)
    assert str(key) == VKEY
    note = Note.parse(NOTE)
    assert note.signers([key]) == {key: 0}
    assert str(note) == NOTE
    with pytest.raises(BadNote):
        Note(note.text.replace("problem", "question"), note.signatures).signers([key])


def test_the_examples_of_the_specifications_are_read_and_spelled_alike() -> None:
    """Harm: a body that every other witness refuses with 400."""
    note = Note.parse(CHECKPOINT)
    checkpoint = Checkpoint.parse(note.text)
    assert (checkpoint.origin, checkpoint.size, checkpoint.text) == (
        "example.com/behind-the-sofa",
        20_852_163,
        note.text,
    )
    assert [signature.name for signature in note.signatures] == [checkpoint.origin, "witness.example.com/w1"]
    assert int.from_bytes(note.signatures[1].content[:8], "big") == 1_679_315_147
    submission = Submission.parse(SUBMISSION.encode())
    assert (submission.old_size, len(submission.proof)) == (20_852_014, 4)
    assert bytes(submission).decode() == SUBMISSION


def test_a_cosignature_vouches_for_its_time_and_is_no_plain_signature() -> None:
    """Harm: a witness's word of yesterday that passes for one of today."""
    text = Checkpoint("house.example/books", 7, bytes(32)).text
    line, plain = cosign(KEY, "witness.example/w1", text, 1_700_000_000), sign(KEY, "house.example/books", text)
    witness, house = (
        VerifierKey.of("witness.example/w1", COSIGNATURE, KEY),
        VerifierKey.of("house.example/books", ED25519, KEY),
    )
    assert Note(text, (plain, line)).signers([house, witness]) == {house: 0, witness: 1_700_000_000}
    later = type(line)(line.name, line.key_id, (1_700_000_060).to_bytes(8, "big") + line.content[8:])
    with pytest.raises(BadNote):
        Note(text, (later,)).signers([witness])
    same_id = type(line)(line.name, house.id, line.content)
    assert Note(text, (same_id,)).signers([witness]) == {}


@pytest.mark.parametrize(
    "content",
    [
        "", "text\n", "text\n\n", "text\n\nno dash\n", CHECKPOINT.rstrip("\n"), CHECKPOINT.replace("\n\n", "\n"),
        CHECKPOINT.replace("behind", "be\thind"), CHECKPOINT.replace("OAYQ8=", "OAYQ8"),
        "text\n\n\u2014 a+b AAAAAAA=\n", "text\n\n\u2014 name AAAA\n",
    ],
)  # fmt: skip
def test_what_is_no_note_is_refused(content: str) -> None:
    """Harm: a reader that believes what the specification does not admit."""
    with pytest.raises(BadNote):
        Note.parse(content)


@pytest.mark.parametrize(
    "text",
    [
        "a\n1\n", "a\n01\nAAAA\n", f"\n1\n{ROOT}\n", f"a\n-1\n{ROOT}\n", f"a\n1\n{ROOT.rstrip('=')}\n",
        "a\n1\nCsUY\n", f"a\n1\n{ROOT}\n\nb\n", f"a\n1\n{ROOT}",
    ],
)  # fmt: skip
def test_what_is_no_checkpoint_is_refused(text: str) -> None:
    """Harm: two readings of one size."""
    with pytest.raises(BadNote):
        Checkpoint.parse(text)


@pytest.mark.parametrize("vkey", ["", "name", "name+00000000+AQ==", VKEY.replace("c74f", "c74e"), VKEY[:-4]])
def test_what_is_no_verifier_key_is_refused(vkey: str) -> None:
    """Harm: a mistyped key, with which nothing ever verifies."""
    with pytest.raises(BadNote):
        VerifierKey.parse(vkey)
