"""Templates filled and cards drawn by several processes: the files are those that one process makes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial
from hashlib import sha256

from msgspec.structs import replace

from ...base.diagnostics.model import Diagnostic, SiteError
from ...base.storage.site_cache import Rows
from ...model.documents import Output
from ...model.generated_files import GeneratedFile
from ...model.template_views import PageView
from ..output_plan import OutputFile
from .page_executor import died
from .pool import ProcessDied, ProcessPool

FEWEST = 40
"""Pages to make for which processes are worth their start."""
_SLOW = 20
"""Pages that take as long as a copy of a picture, with those of its copies that are made at once."""
_TOGETHER = 4
"""Files of one call: each takes a millisecond or two, and a call a fifth of one."""

MadeOutput = tuple[Output, tuple[Diagnostic, ...]]
"""A file, and what there is to say about it."""


def cost_of(planned: OutputFile) -> int:
    """How many pages take as long as making the file; 0 if that is nothing for another process."""
    content = planned.content
    if isinstance(content, GeneratedFile):
        return _SLOW if content.is_slow else int(bool(content.key) and not content.is_joint)
    return int(isinstance(content, PageView))


def is_feed(planned: OutputFile) -> bool:
    """Whether it is made of texts of pages: no reason to start processes, but work for those there are."""
    return isinstance(planned.content, GeneratedFile) and bool(planned.content.texts)


class PagePool:
    """Belongs to one build."""

    def __init__(self, make: Callable[[OutputFile], MadeOutput], rows: Rows, *, has_bytes: bool) -> None:
        """make: makes a file in any process. rows: what it reads. has_bytes: False if only digests are asked
        for."""
        self._make = make
        self._rows = rows
        self._has_bytes = has_bytes

    def make(
        self, files: Sequence[OutputFile], processes: int
    ) -> Generator[tuple[OutputFile, MadeOutput | SiteError], None, None]:
        """The files, or why they cannot be made, in some order; those that are to be made here are left out.

        Nothing is written to the rows meanwhile. To be closed by a caller that may stop before the end.
        SiteError if a process dies.
        """
        self._rows.share()
        # thousands of pages are made with the same templates
        known: dict[frozenset[str], frozenset[str]] = {}
        worker, numbers = partial(self._worker, files), range(len(files))
        try:
            with ProcessPool("fork", processes, worker) as pool:
                for number, made in pool.map(numbers, _TOGETHER):
                    if isinstance(made, SiteError):
                        yield files[number], made
                    elif made:
                        output, problems = made
                        templates = known.setdefault(output.templates, output.templates)
                        yield files[number], (replace(output, templates=templates), problems)
        except ProcessDied as error:
            origin = files[error.task].origin
            raise died(f"the process that filled the templates of {origin} {error.ending}") from error

    def _worker(self, files: Sequence[OutputFile]) -> Callable[[int], MadeOutput | SiteError | None]:
        self._rows.reopen()
        given_up = set[str]()

        def make(number: int) -> MadeOutput | SiteError | None:
            content = files[number].content
            layout = content.layout if isinstance(content, PageView) else ""
            if layout in given_up:
                # it takes too long, as another page has shown
                return None
            try:
                output, problems = self._make(files[number])
            except SiteError as error:
                if any(found.code == "template-limit" for found in error.diagnostics):
                    given_up.add(layout)
                return error
            data = output.data or b""
            digest = sha256(data).hexdigest()
            return replace(output, data=data if self._has_bytes else b"", digest=digest), problems

        return make
