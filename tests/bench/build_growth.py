"""Cost of a post and memory of our builds, by the number of posts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from .build_rounds import run_step
from .build_runs import Run, run_build
from .build_sites import write_empty_site, write_site
from .build_subjects import Subject

FLAT = 1.2
"""Limit on the cost of a post in the largest site, relative to the smallest."""


@dataclass(frozen=True, slots=True)
class Growth:
    """Builds of one size."""

    posts: int
    empty: Run
    """A build of a site without posts in the same rounds: the fixed cost of a build."""
    cold: Run
    unchanged: Run
    post: Run

    @property
    def wall_ms(self) -> float:
        """Wall-clock milliseconds per post."""
        return 1e3 * (self.cold.wall_s - self.empty.wall_s) / self.posts

    @property
    def cpu_ms(self) -> float:
        """CPU milliseconds per post."""
        return 1e3 * (self.cold.cpu_s - self.empty.cpu_s) / self.posts


def measure_growth(
    subject: Subject, folder: Path, sizes: Sequence[int], rounds: int, seed: int
) -> Iterator[Growth]:
    """Build sites of these sizes, each `rounds` times."""
    for posts in sizes:
        site = write_site(subject, folder / f"posts-{posts}", posts, seed)
        empty = write_empty_site(subject, folder / f"empty-{posts}")
        found: dict[str, list[Run]] = {"empty": [], "cold": [], "unchanged": [], "post": []}
        for number in range(rounds):
            empty.clear()
            found["empty"].append(run_build(empty))
            found["cold"].append(run_step(site, "cold", ""))
            found["unchanged"].append(run_step(site, "unchanged", ""))
            found["post"].append(run_step(site, "post", f"mark{number}"))
        yield Growth(posts, **{name: _median(runs) for name, runs in found.items()})


def _median(runs: Sequence[Run]) -> Run:
    wall, cpu = median(run.wall_s for run in runs), median(run.cpu_s for run in runs)
    return Run(wall, cpu, max(run.peak_bytes for run in runs))


HEAD = (
    f"{'':>8}{'cold':>10}{'a post':>10}{'a post':>10}{'peak':>8}{'nothing':>10}{'one post':>10}\n"
    f"{'posts':>8}{'wall s':>10}{'wall ms':>10}{'CPU ms':>10}{'MB':>8}{'wall s':>10}{'wall s':>10}"
)


def growth_line(growth: Growth) -> str:
    peak_mb = growth.cold.peak_bytes / 1e6
    costs = f"{growth.cold.wall_s:10.2f}{growth.wall_ms:10.2f}{growth.cpu_ms:10.2f}{peak_mb:8.0f}"
    return f"{growth.posts:8}{costs}{growth.unchanged.wall_s:10.3f}{growth.post.wall_s:10.3f}"


def flatness_line(measured: Sequence[Growth]) -> str:
    """Return a line that compares the cost of a post in the largest and in the smallest site."""
    first, last = measured[0], measured[-1]
    wall, cpu = last.wall_ms / first.wall_ms, last.cpu_ms / first.cpu_ms
    verdict = "must" if cpu <= FLAT else "MISSED"
    sizes = f"{last.posts} posts to {first.posts}"
    return f"a post, {sizes}: wall {wall:.2f}, CPU {cpu:.2f}; must be at most {FLAT} in CPU: {verdict}"
