"""Names of licences and checks of ORCID iDs, as front matter and settings write them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ..base.patterns import lazy_pattern

ORCID = lazy_pattern(r"(?:https?://orcid\.org/)?(\d{4}-\d{4}-\d{4}-\d{3}[\dX])")
DOI = lazy_pattern(r"(?:https?://(?:dx\.)?doi\.org/|doi:\s*)?(10\.\d{4,9}/[^\s<>\"]+)", 2)
_CC = lazy_pattern(r"CC[- ](BY(?:[- ](?:NC|SA|ND|NC[- ]SA|NC[- ]ND))?)(?:[- ](\d\.\d))?", 2)
_LICENSES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "cc0": ("CC0 1.0", "https://creativecommons.org/publicdomain/zero/1.0/"),
        "cc0-1.0": ("CC0 1.0", "https://creativecommons.org/publicdomain/zero/1.0/"),
        "mit": ("MIT", "https://opensource.org/license/mit"),
        "apache-2.0": ("Apache 2.0", "https://www.apache.org/licenses/LICENSE-2.0"),
        "gfdl-1.3": ("GFDL 1.3", "https://www.gnu.org/licenses/fdl-1.3.html"),
    }
)


def is_orcid(digits: str) -> bool:
    """Whether the last sign of an ORCID iD fits the others: ISO 7064, MOD 11-2."""
    total = 0
    for digit in digits.replace("-", "")[:-1]:
        total = (total + int(digit)) * 2
    check = (12 - total % 11) % 11
    return digits[-1] == ("X" if check == 10 else str(check))


def license_of(written: str) -> tuple[str, str]:
    """Name and address of a licence: of `CC-BY-4.0` and its like, an address, or any name without one."""
    found = _CC.fullmatch(written.strip())
    if found:
        kind, version = found[1].upper().replace(" ", "-"), found[2] or "4.0"
        address = f"https://creativecommons.org/licenses/{kind.lower()}/{version}/"
        return f"CC {kind} {version}", address
    if known := _LICENSES.get(written.strip().lower()):
        return known
    return (written, written) if written.startswith(("http://", "https://")) else (written, "")
