"""The line under an output: when and on what it was computed. What is unknown is never guessed.

The text leaves unknown things out; the `data-` attributes, for programs, say `unknown`.
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
"""Import name → how the project writes itself; others as they are imported."""
# what a processor's name says that tells nobody anything
_NOISE = lazy_pattern(r"\((?:R|TM|C)\)|\b(?:CPU|Processor)\b|@.*$|\b\d+-Core\b", re.IGNORECASE)
_DAY = lazy_pattern(r"\d{4}-\d\d-\d\d")
_NOT_KEPT = "never"
_PACKAGE = "flash-attn"
_LONG_S = 1.0
"""Seconds from which on a reader may want to know them of a result that shares its line with others."""


class RunLine(Struct, frozen=True):
    """A run that a line of the page tells, for all results below it that it is true of."""

    session: str
    date: str
    device: str
    machine: Machine | None
    seed: int | None
    is_kept: bool
    packages: frozenset[tuple[str, str]]
    """Those that the page has named since, with their versions."""

    def is_same(self, other: RunLine | None) -> bool:
        """Whether all but the packages is."""
        return other is not None and replace(self, packages=other.packages) == other


def run_line(result: CellResult, session: str, seed: int | None, freeze: str) -> RunLine:
    """What the line of a result tells of its run."""
    packages = frozenset(result.packages.items())
    kept = freeze != _NOT_KEPT
    return RunLine(session, result.date, result.device, result.machine, seed, kept, packages)


def provenance(
    result: CellResult,
    seed: int | None,
    freeze: str = "auto",
    language: Language = ENGLISH,
    *,
    style: ProvenanceStyle = "full",
    told: RunLine | None = None,
) -> str:
    """`<p class="provenance">`. seed: as the author set it; freeze: `never` means that nothing is kept.

    told: what the page has said of the same run before; then what this result has for itself. A line that
    says nothing is hidden, and holds for programs what it holds ever.
    """
    machine = result.machine or Machine()
    attributes = _attributes(result, machine, seed)
    shown = "".join(f' data-{name}="{_safe(value)}"' for name, value in attributes.items())
    date = _format_date(result.date, "Run" if freeze == _NOT_KEPT else "Recorded", language)
    seconds = escape(language.translate(format_duration(result.seconds))) if result.seconds else ""
    attention = map(_safe, _attention(result))
    if style == "none":
        parts = []
    elif style == "short":
        parts = [date, _safe(_device(result.device, Machine())), seconds]
    elif told:
        new = _versions(item for item in result.packages.items() if item not in told.packages)
        parts = [*attention, _safe(new), seconds if result.seconds >= _LONG_S else ""]
    else:
        python = f"Python {machine.python}" if machine.python else ""
        parts = [
            date,
            _safe(_device(result.device, machine)),
            *attention,
            _safe(", ".join(filter(None, (python, _versions(result.packages.items()))))),
            escape(language.translate("seed {number}", number=seed)) if seed is not None else "",
            seconds,
        ]
    if language.direction == "rtl":
        # names of machines and their numbers would be put in another order among words that run the other way
        parts = [f"<bdi>{part}</bdi>" if part else "" for part in parts]
    # the dot stays with what it follows: no line begins with one
    text = "\u00a0· ".join(part for part in parts if part)
    hidden = "" if text else " hidden"
    return f'<p class="provenance"{shown}{hidden}>{text}</p>\n'


def _versions(packages: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{_NAMES.get(name, name)} {version}" for name, version in packages if version)


def _safe(text: str) -> str:
    # a record may hold what no page can
    return escape(plain_output(text))


def _attributes(result: CellResult, machine: Machine, seed: int | None) -> dict[str, str]:
    """What every line says, then what only some can."""
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
    more["threads"] = str(machine.threads or "")
    if result.device != "cuda":
        # what stands in the machine but did not compute this
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
    """`CPU (AMD EPYC 7B13)`, `GPU (NVIDIA H200, CUDA 12.8)`."""
    if device == "cuda":
        details = [machine.gpu, f"CUDA {machine.cuda}" if machine.cuda else ""]
        return _with_details("GPU", details)
    return _with_details("CPU", [" ".join(_NOISE.sub(" ", machine.cpu).split())]) if device else ""


def _attention(result: CellResult) -> tuple[str, ...]:
    """`SDPA flash, math (CPU)`, and `flash-attn`, which is a package of its own."""
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
