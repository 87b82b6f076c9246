"""Libraries that make charts of cells interactive: names, sizes and digests of the files that a site
copies."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

FOLDER = "static/live"
"""Folder of the site that contains one folder for each library."""


class LibraryFile(Struct, frozen=True):
    """A script of a library."""

    name: str
    package: str
    """Package on npm with its version, such as `vega@6.4.0`."""
    path: str
    """Path of the file in the package."""
    size: int
    """Size in bytes."""
    sha256: str


class Library(Struct, frozen=True):
    """A library that draws charts in browsers."""

    title: str
    """Name of the library as readers know it."""
    licence: str
    files: tuple[LibraryFile, ...]
    """Scripts in the order they are loaded."""


LIBRARIES: Mapping[str, Library] = MappingProxyType(
    {
        "plotly": Library(
            "Plotly",
            "MIT, © Plotly, Inc.",
            (
                LibraryFile(
                    "plotly.min.js",
                    "plotly.js-dist-min@4.1.2",
                    "plotly.min.js",
                    4_834_409,
                    "2f645d1bade8182fce161b7f10f89402f8b315805250ff4a94672a28d23c390a",
                ),
            ),
        ),
        "vega": Library(
            "Vega",
            "BSD-3-Clause, © University of Washington Interactive Data Lab",
            (
                LibraryFile(
                    "vega.min.js",
                    "vega@6.4.0",
                    "build/vega.min.js",
                    521_123,
                    "8f6a3587cf8d4f42c7e08120e3eb05d067e746d554e39d2dcf52acc0bd5ba28f",
                ),
                LibraryFile(
                    "vega-lite.min.js",
                    "vega-lite@6.4.3",
                    "build/vega-lite.min.js",
                    250_845,
                    "35a9821df838825b05a6a73e9414b58747a1b18321583858ed903c66393a5c7e",
                ),
                LibraryFile(
                    "vega-interpreter.min.js",
                    "vega-interpreter@1.2.1",
                    "build/vega-interpreter.min.js",
                    5_296,
                    "ee191cf04168e0c043214cea7c4e5ef80e908daa0e757c19c8061df5f898cf89",
                ),
            ),
        ),
        "bokeh": Library(
            "Bokeh",
            "BSD-3-Clause, © Anaconda, Inc. and Bokeh contributors",
            (
                LibraryFile(
                    "bokeh.min.js",
                    "@bokeh/bokehjs@3.9.2",
                    "build/js/bokeh.min.js",
                    1_268_134,
                    "532c29e9d071a023b60ca0fea169a1195e100cbd0eb85fe20ba1fc0587fefd48",
                ),
            ),
        ),
    }
)
"""Name of a library, as on the command line → its files on npm."""
