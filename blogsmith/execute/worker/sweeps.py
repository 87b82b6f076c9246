"""State of a session (names and random generators), saved before a run of a sweep so that its changes can be
undone.

Objects that existed before the run are not copied, so changes inside them remain. For lists, dictionaries,
sets and arrays, this is detected and the run fails, because it would affect the results of other runs.
"""

from __future__ import annotations

import sys
from pickle import dumps
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    from typing import Any

_CONTAINERS = (list, dict, set, bytearray)
_MAX_BYTES = 256 * 1024 * 1024
"""Maximum size of an array that is checked, in bytes."""


class SessionState:
    """State of a session at one moment."""

    def __init__(self, namespace: dict[str, Any], others: frozenset[str] = frozenset()) -> None:
        """Save the state. others: names that belong to a shell, not to the author."""
        self._namespace = namespace
        self._others = others
        self._names = {name: value for name, value in namespace.items() if not self._is_other(name)}
        self._marks = {
            name: mark for name, value in self._names.items() if (mark := _fingerprint(name, value))
        }
        self._random = _random_states()

    def restore(self) -> str:
        """Restore the saved state. Return the name of a variable that was changed in place, or an empty
        string."""
        changed = [
            name for name, mark in self._marks.items() if _fingerprint(name, self._names[name]) != mark
        ]
        # Never empty: threads of earlier cells may look up names.
        for name in [name for name in self._namespace if name not in self._names]:
            if not self._is_other(name):
                self._namespace.pop(name, None)
        self._namespace.update(self._names)
        for module, method, state in self._random:
            getattr(module, method)(state)
        return changed[0] if changed else ""

    def _is_other(self, name: str) -> bool:
        return bool(self._others) and (name in self._others or name.startswith("_"))


def changed_in_place(name: str) -> dict[str, Any]:
    """Return the fields of the message that ends a run because the run has changed the existing variable
    `name` in place."""
    message = f'the cell changes "{name}", which existed before it: the other values would see the change'
    failure = {
        "name": "SweepError",
        "message": message,
        "text": f"SweepError: {message}\n",
        "cell": 0,
        "line": 0,
    }
    return {"status": "error", "problem": f"SweepError: {message}", "failure": failure}


def _fingerprint(name: str, value: object) -> tuple[int, int] | None:
    """Return length and checksum of the content of a container or a NumPy array. Return None for other
    values, for large arrays, for content that cannot be pickled, and if `name` starts with `__`."""
    kind = type(value)
    if name.startswith("__"):
        return None
    try:
        if kind in _CONTAINERS:
            data: Any = dumps(value, 4)
        elif kind.__name__ == "ndarray" and kind.__module__ == "numpy" and value.nbytes <= _MAX_BYTES:  # type: ignore[attr-defined]
            data = value.tobytes()  # type: ignore[attr-defined]
        else:
            return None
    except Exception:  # pickling an object runs the author's code
        return None
    return len(data), crc32(data)


def _random_states() -> list[tuple[Any, str, Any]]:
    """Return (module, setter of its state, state) for every loaded generator."""
    found: list[tuple[Any, str, Any]] = []
    for name, get, put in (
        ("random", "getstate", "setstate"),
        ("numpy.random", "get_state", "set_state"),
        ("torch", "get_rng_state", "set_rng_state"),
    ):
        module = sys.modules.get(name)
        if module is not None and hasattr(module, get):
            found.append((module, put, getattr(module, get)()))
    torch = sys.modules.get("torch")
    cuda = getattr(torch, "cuda", None)
    if cuda is not None and cuda.is_initialized():
        found.append((cuda, "set_rng_state_all", cuda.get_rng_state_all()))
    return found
