"""Merkle trees of RFC 9162, section 2.1: roots, inclusion proofs and consistency proofs."""

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256

EMPTY = sha256(b"").digest()
"""The root of a tree without leaves."""


class Unproved(Exception):
    """A proof that does not lead to the expected root."""


def leaf_hash(leaf: bytes) -> bytes:
    """The hash of a leaf, with a prefix that prevents a leaf from passing for a node."""
    return sha256(b"\x00" + leaf).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of two subtrees, in order, with a prefix that prevents a node from passing for a leaf."""
    return sha256(b"\x01" + left + right).digest()


class MerkleTree:
    """A tree that leaves can be appended to. It stores one hash per full subtree, so memory grows with the logarithm of
    its size."""

    def __init__(self, leaves: Iterable[bytes] = (), *, size: int = 0, full: Sequence[bytes] = ()) -> None:
        """Start from leaves, or continue from ``size`` leaves with the hashes of their ``full`` subtrees, the largest
        first."""
        self.size = size
        self._full = list(full)
        for leaf in leaves:
            self.add(leaf)

    def add(self, leaf: bytes) -> list[bytes]:
        """Append a leaf. Returns the hashes of all subtrees that it completes, the leaf's own first; stored, they
        suffice for any proof.

        Each trailing 1 in the binary form of the old size is a subtree that the leaf completes.
        """
        hashes, size = [leaf_hash(leaf)], self.size
        while size & 1:
            hashes.append(node_hash(self._full.pop(), hashes[-1]))
            size >>= 1
        self._full.append(hashes[-1])
        self.size += 1
        return hashes

    @property
    def root(self) -> bytes:
        """The root of the leaves so far."""
        if not self._full:
            return EMPTY
        digest = self._full[-1]
        for left in reversed(self._full[:-1]):
            digest = node_hash(left, digest)
        return digest


def root(leaves: Iterable[bytes]) -> bytes:
    return MerkleTree(leaves).root


# --- Making proofs --------------------------------------------------------------------------------------------


class TreeProofs:
    """Makes proofs about a tree of ``size`` leaves from stored hashes of its full subtrees.

    ``subtree(level, index)`` returns the hash of the index-th full subtree of 2**level leaves.
    """

    def __init__(self, size: int, subtree: Callable[[int, int], bytes]) -> None:
        self._size = size
        self._subtree = subtree

    @property
    def root(self) -> bytes:
        return self._root(0, self._size) if self._size else EMPTY

    def inclusion(self, index: int) -> list[bytes]:
        """The hashes that lead from the leaf with this index to the root. Raises ValueError for an index outside of the
        tree."""
        start, stop = 0, self._size
        if not start <= index < stop:
            raise ValueError(f"a tree of {stop} leaves has none with the index {index}")
        path = []
        while stop - start > 1:
            middle = start + _split(stop - start)
            if index < middle:
                path.append(self._root(middle, stop))
                stop = middle
            else:
                path.append(self._root(start, middle))
                start = middle
        return path[::-1]

    def consistency(self, old: int) -> list[bytes]:
        """The hashes that prove that the tree of the first ``old`` leaves grew into the whole tree. Raises ValueError
        for an impossible size."""
        start, stop = 0, self._size
        if not 0 < old <= stop:
            raise ValueError(f"a tree of {stop} leaves did not grow out of one of {old}")
        path = []
        while old < stop:
            middle = start + _split(stop - start)
            if old <= middle:
                path.append(self._root(middle, stop))
                stop = middle
            else:
                path.append(self._root(start, middle))
                start = middle
        # The verifier already has the root of the old tree, so it is left out.
        return ([self._root(start, stop)] if start else []) + path[::-1]

    def _root(self, start: int, stop: int) -> bytes:
        width = stop - start
        if width & (width - 1) == 0:  # a full subtree: it begins at a multiple of its width
            level = width.bit_length() - 1
            return self._subtree(level, start >> level)
        middle = start + _split(width)
        return node_hash(self._root(start, middle), self._root(middle, stop))


class Proofs(TreeProofs):
    """Makes proofs about leaves in memory. Each subtree is hashed once, for any number of proofs."""

    def __init__(self, leaves: Iterable[bytes]) -> None:
        self._levels = [[leaf_hash(leaf) for leaf in leaves]]
        super().__init__(len(self._levels[0]), self._hashed)

    def _hashed(self, level: int, index: int) -> bytes:
        while len(self._levels) <= level:
            below = self._levels[-1]
            pairs = zip(below[::2], below[1::2], strict=False)
            self._levels.append([node_hash(left, right) for left, right in pairs])
        return self._levels[level][index]


def inclusion(index: int, leaves: Iterable[bytes]) -> list[bytes]:
    """The hashes that lead from the leaf with this index to the root. Raises ValueError for an index outside of the
    tree."""
    return Proofs(leaves).inclusion(index)


def consistency(old: int, leaves: Iterable[bytes]) -> list[bytes]:
    """The hashes that prove that the tree of the first ``old`` leaves grew into the tree of all. Raises ValueError for
    an impossible size."""
    return Proofs(leaves).consistency(old)


def _split(size: int) -> int:
    """The largest power of two that is less than the size."""
    return 1 << (size - 1).bit_length() - 1


# --- Checking proofs ------------------------------------------------------------------------------------------


def check_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes], expected: bytes) -> None:
    """Raise Unproved unless the path leads from the leaf to this root of a tree of ``size`` leaves."""
    if not 0 <= index < size:
        raise Unproved(f"a tree of {size} leaves has none with the index {index}")
    digest, node, last_node = leaf_hash(leaf), index, size - 1
    for sibling in path:
        if last_node == 0:
            raise Unproved("the path is longer than the tree is high")
        if node & 1 or node == last_node:
            digest = node_hash(sibling, digest)
            while node and not node & 1:
                node, last_node = node >> 1, last_node >> 1
        else:
            digest = node_hash(digest, sibling)
        node, last_node = node >> 1, last_node >> 1
    if last_node:
        raise Unproved("the path ends below the root")
    if digest != expected:
        raise Unproved("the path leads to another root")


def check_consistency(old: int, new: int, old_root: bytes, new_root: bytes, path: Sequence[bytes]) -> None:
    """Raise Unproved unless the path proves that the tree with the old root grew into the one with the new root."""
    if not 0 < old <= new:
        raise Unproved(f"a tree of {new} leaves did not grow out of one of {old}")
    if old == new:
        if path or old_root != new_root:
            raise Unproved("two trees of one size are the same tree, or nothing proves it")
        return
    # A full old tree is a subtree of the new one, so its root starts the proof and is left out of it.
    steps = [old_root, *path] if old & (old - 1) == 0 else list(path)
    if not steps:
        raise Unproved("the path is empty")
    node, last_node = old - 1, new - 1
    while node & 1:
        node, last_node = node >> 1, last_node >> 1
    before = after = steps[0]
    for sibling in steps[1:]:
        if last_node == 0:
            raise Unproved("the path is longer than the tree is high")
        if node & 1 or node == last_node:
            before, after = node_hash(sibling, before), node_hash(sibling, after)
            while node and not node & 1:
                node, last_node = node >> 1, last_node >> 1
        else:
            after = node_hash(after, sibling)
        node, last_node = node >> 1, last_node >> 1
    if last_node:
        raise Unproved("the path ends below the root")
    if before != old_root:
        raise Unproved("the path leads to another old root")
    if after != new_root:
        raise Unproved("the path leads to another new root")
