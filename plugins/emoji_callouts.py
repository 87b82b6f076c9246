"""Callouts from paragraphs that start with an emoji and a label: `💡 Key insight: …`."""

from blogsmith.hooks import Hooks


def register(hooks: Hooks) -> None:
    hooks.callout_kind("insight", "Key insight", prefix="💡 Key insight:", icon="bulb", color="amber")
    hooks.callout_kind("analogy", "Analogy", prefix="💡 Analogy:", icon="bulb", color="teal")
    hooks.callout_kind(
        "research", "Research insight", prefix="🔬 Research insight:", icon="lens", color="purple"
    )
