"""The map from files of posts to the functions that draw them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from . import bars, growth, heads, kernels, masks, positions, running, twins

FIGURES: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        "posts/square-root-of-d-k/raw.svg": bars.raw,
        "posts/square-root-of-d-k/scaled.svg": bars.scaled,
        "posts/softmax-without-overflow/running.svg": running.running,
        "posts/three-masks/full.svg": masks.full,
        "posts/three-masks/causal.svg": masks.causal,
        "posts/three-masks/window.svg": masks.window,
        "posts/many-heads/bidirectional.svg": masks.full,
        "posts/many-heads/causal.svg": masks.causal,
        "posts/many-heads/cross.svg": masks.cross,
        "posts/many-heads/split.svg": heads.split,
        "posts/many-heads/previous.svg": heads.previous,
        "posts/many-heads/following.svg": heads.following,
        "posts/many-heads/first.svg": heads.first,
        "posts/many-heads/same.svg": heads.same,
        "posts/many-heads/subject.svg": heads.subject,
        "posts/many-heads/nearby.svg": heads.nearby,
        "posts/what-attention-costs/growth.svg": growth.growth,
        "posts/a-dictionary-that-blurs/blur.svg": kernels.blur,
        "posts/what-the-weights-do-not-say/middle.svg": twins.middle,
        "posts/what-the-weights-do-not-say/ends.svg": twins.ends,
        "posts/a-set-with-no-first-word/fading.svg": positions.fading,
    }
)
"""Path below `content/` → function that draws the file."""
