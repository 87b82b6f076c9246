"""What the translation of one page knows and leaves behind."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..model import Notice, NoticeKind
from ..text.pieces import Pieces
from ..text.segments import Lines
from .liquid_parser import LiquidOutput, LiquidTag
from .source import JekyllDocument, JekyllSite


@dataclass(slots=True)
class PageContext:
    """What tags of one page are given, and what they leave. Lives as long as its translation."""

    site: JekyllSite
    document: JekyllDocument
    lines: Lines
    finished: Pieces = field(default_factory=Pieces)
    notices: list[Notice] = field(default_factory=list)
    cited: list[str] = field(default_factory=list)
    """Keys of the bibliography that the page names."""
    start: int = 0
    """Where the tag of the page stands that an include is rendered for."""
    depth: int = 0
    """How many includes are being rendered."""

    def notice(
        self,
        kind: NoticeKind,
        message: str,
        *,
        line: int = 0,
        hint: str = "",
        removed: str = "",
        is_list: bool = False,
    ) -> None:
        """Add a notice about this page."""
        source = self.document.path.as_posix()
        self.notices.append(Notice(kind, message, source, line, hint, removed, is_list))

    def line_of(self, node: LiquidOutput | LiquidTag) -> int:
        """The line of a node; in an include that of the tag that names it."""
        return self.lines.at(self.start if self.depth else node.start)

    def leave(self, node: LiquidOutput | LiquidTag, why: str) -> str:
        """What stands for something that cannot be translated: itself, as text, with a comment."""
        self.notice("left", why, line=self.line_of(node), hint="it stands in the page as it was")
        return self.finished.mask(f"{{% raw %}}{node.source.strip()}{{% endraw %}}<!-- import: {why} -->")
