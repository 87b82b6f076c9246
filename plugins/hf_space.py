"""Hugging Face Space, loaded on click: `<div class="hf-space" data-src="owner/space" data-height="600">`."""

import re
from collections.abc import Mapping

from blogsmith.hooks import Hooks

SPACE = re.compile(r"[\w.-]+/[\w.-]+")
DEFAULT_HEIGHT_PX = 600


def register(hooks: Hooks) -> None:
    hooks.block_div("hf-space", "hf-space")

    @hooks.shortcode_data("hf-space")
    def space(args: Mapping[str, str], document: object) -> dict[str, str | int]:
        name = args.get("src", "")
        if not SPACE.fullmatch(name):
            raise ValueError(f'invalid value "{name}" of "src": expected owner/space')
        height = args.get("height", str(DEFAULT_HEIGHT_PX))
        if not height.isdigit() or not 100 <= int(height) <= 4000:
            raise ValueError(f'invalid value "{height}" of "height": expected pixels from 100 to 4000')
        owner, _, own_name = name.partition("/")
        return {
            "url": f"https://huggingface.co/spaces/{name}",
            # The Space's host joins owner and name with a hyphen, which also replaces all other characters.
            "embed_url": f"https://{re.sub(r'[^a-z0-9]+', '-', name.lower())}.hf.space",
            "title": args.get("title", "") or f"{own_name} by {owner}",
            # For a title in the language of the page.
            "name": "" if args.get("title", "") else own_name,
            "owner": owner,
            "height": int(height),
            "widget": "embed",
        }
