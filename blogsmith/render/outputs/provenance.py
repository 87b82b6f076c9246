"""The provenance line after an output: date, device and versions of the run that gave it.

No value is guessed. The text leaves out unknown values; the `data-` attributes for programs say `unknown`.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping
from html import escape
from types import MappingProxyType

from markupsafe import Markup
from msgspec import Struct
from msgspec.structs import replace

from ...base.patterns import lazy_pattern
from ...languages.language import ENGLISH, Language
from ...model.cells import ProvenanceStyle
from ...model.results import CellResult, Machine
from ...model.units import format_duration
from .ansi import plain_output

UNKNOWN = "unknown"

_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "PIL": "Pillow",
        "altair": "Altair",
        "bokeh": "Bokeh",
        "cupy": "CuPy",
        "cv2": "OpenCV",
        "dask": "Dask",
        "einops": "einops",
        "flax": "Flax",
        "jax": "JAX",
        "keras": "Keras",
        "matplotlib": "Matplotlib",
        "networkx": "NetworkX",
        "numba": "Numba",
        "numpy": "NumPy",
        "plotly": "Plotly",
        "polars": "Polars",
        "pyarrow": "PyArrow",
        "scipy": "SciPy",
        "skimage": "scikit-image",
        "sklearn": "scikit-learn",
        "sympy": "SymPy",
        "tensorflow": "TensorFlow",
        "torch": "PyTorch",
        "triton": "Triton",
        "xarray": "Xarray",
    }
)
"""Import name of a module → name of its project. Other modules are shown under their import name."""
# parts of a processor's name that carry no information
_PROCESSOR_NOISE = lazy_pattern(r"\((?:R|TM|C)\)|\b(?:CPU|Processor)\b|@.*$|\b\d+-Core\b", re.IGNORECASE)
_DAY = lazy_pattern(r"\d{4}-\d\d-\d\d")
_NOT_RECORDED = "never"
_PACKAGE = "flash-attn"
_LONG_S = 1.0
"""Minimum duration in seconds that is shown for a later result of a run whose details the page has
printed."""


class RunLine(Struct, frozen=True):
    """A run whose details a page has printed, so that later results of the same run need not repeat them."""

    session: str
    date: str
    device: str
    machine: Machine | None
    seed: int | None
    is_recorded: bool
    packages: frozenset[tuple[str, str]]
    """Packages with versions that the page has printed for this run so far."""

    def is_same(self, other: RunLine | None) -> bool:
        """Return whether everything except the packages is equal."""
        return other is not None and replace(self, packages=other.packages) == other


def run_line(result: CellResult, session: str, seed: int | None, freeze: str) -> RunLine:
    """Return the data of a result's provenance line, to compare it with other lines. The other arguments are
    options of the cell."""
    packages = frozenset(result.packages.items())
    kept = freeze != _NOT_RECORDED
    return RunLine(session, result.date, result.device, result.machine, seed, kept, packages)


def provenance(
    result: CellResult,
    seed: int | None,
    freeze: str = "auto",
    language: Language = ENGLISH,
    *,
    style: ProvenanceStyle = "full",
    previous: RunLine | None = None,
) -> str:
    """Return the `<p class="provenance">`. seed: seed that the author set. freeze: `never` means that the
    result is not recorded. previous: an earlier line about the same run; only differences from it are
    printed. A line without text is hidden, but keeps its attributes for programs."""
    machine = result.machine or Machine()
    attributes = _attributes(result, machine, seed)
    shown = "".join(f' data-{name}="{_safe(value)}"' for name, value in attributes.items())
    date = _format_date(result.date, "Run" if freeze == _NOT_RECORDED else "Recorded", language)
    seconds = escape(language.translate(format_duration(result.seconds))) if result.seconds else ""
    attention = map(_safe, _attention(result))
    notes = [
        escape(language.translate(note))
        for note, applies in (("not repeatable", result.reasons), ("accepted by hand", result.accepted))
        if applies
    ]
    if result.signer:
        notes.append(language.translate("signed by {name}", name=Markup(_safe(result.signer))))
    if style == "none":
        parts = []
    elif style == "short":
        parts = [date, _safe(_device(result.device, Machine())), seconds, *notes]
    elif previous:
        new = _versions(item for item in result.packages.items() if item not in previous.packages)
        parts = [*attention, _safe(new), seconds if result.seconds >= _LONG_S else "", *notes]
    else:
        python = f"Python {machine.python}" if machine.python else ""
        parts = [
            date,
            _safe(_device(result.device, machine)),
            *attention,
            _safe(", ".join(filter(None, (python, _versions(result.packages.items()))))),
            escape(language.translate("seed {number}", number=seed)) if seed is not None else "",
            seconds,
            *notes,
        ]
    if language.direction == "rtl":
        # text from right to left would reorder names of machines and numbers
        parts = [f"<bdi>{part}</bdi>" if part else "" for part in parts]
    # the no-break space keeps the dot on the line before it
    text = "\u00a0· ".join(part for part in parts if part)
    hidden = "" if text else " hidden"
    return f'<p class="provenance"{shown}{hidden}>{text}</p>\n'


def _versions(packages: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{_NAMES.get(name, name)} {version}" for name, version in packages if version)


def _safe(text: str) -> str:
    # a record may contain characters that pages must not contain
    return escape(plain_output(text))


def _attributes(result: CellResult, machine: Machine, seed: int | None) -> dict[str, str]:
    """Return the `data-` attributes of a line: first those that every line has, then optional ones."""
    packages = ", ".join(f"{name} {version or UNKNOWN}" for name, version in result.packages.items())
    found = {
        "device": result.device or UNKNOWN,
        "python": machine.python or UNKNOWN,
        "packages": packages or ("none" if result.machine else UNKNOWN),
        "seed": "none" if seed is None else str(seed),
        "seconds": f"{result.seconds:.6g}" if result.seconds else UNKNOWN,
        "date": result.date or UNKNOWN,
    }
    more = {"platform": machine.platform, "cpu": machine.cpu, "gpu": machine.gpu}
    more |= {"capability": machine.capability, "driver": machine.driver, "cuda": machine.cuda}
    more["sdpa"] = ", ".join(result.sdpa)
    more["unrepeatable"] = ", ".join(result.reasons)
    more["accepted"] = result.accepted
    more["signer"] = result.signer
    more["threads"] = str(machine.threads or "")
    if result.device != "cuda":
        # leave out hardware that did not compute the result
        for name in ("gpu", "capability", "driver", "cuda"):
            more[name] = ""
    return found | {name: value for name, value in more.items() if value}


def _format_date(date: str, verb: str, language: Language) -> str:
    try:
        day = dt.date.fromisoformat(date) if _DAY.fullmatch(date) else None
    except ValueError:
        day = None
    if day is None:
        return escape(language.translate(verb))
    shown = escape(language.format_date(day, is_short=True))
    return language.translate(f"{verb} {{date}}", date=Markup(f'<time datetime="{date}">{shown}</time>'))


def _device(device: str, machine: Machine) -> str:
    """Return the device of a run, as in `CPU (AMD EPYC 7B13)` or `GPU (NVIDIA H200, CUDA 12.8)`. Empty if not
    known."""
    if device == "cuda":
        details = [machine.gpu, f"CUDA {machine.cuda}" if machine.cuda else ""]
        return _with_details("GPU", details)
    return _with_details("CPU", [" ".join(_PROCESSOR_NOISE.sub(" ", machine.cpu).split())]) if device else ""


def _attention(result: CellResult) -> tuple[str, ...]:
    """Return the attention backends, as in `SDPA flash, math (CPU)`, and the separate package
    `flash-attn`."""
    names: dict[str, None] = {}
    for entry in result.sdpa:
        backend, _, operator = entry.partition(" ")
        on_cpu = result.device == "cpu" or operator.endswith((" cpu", "_for_cpu"))
        names[f"{backend} (CPU)" if on_cpu else backend] = None
    package = names.keys() & {_PACKAGE}
    sdpa = ", ".join(name for name in names if name != _PACKAGE)
    return (f"SDPA {sdpa}" if sdpa else "", *package)


def _with_details(name: str, details: list[str]) -> str:
    known = ", ".join(detail for detail in details if detail)
    return f"{name} ({known})" if known else name
