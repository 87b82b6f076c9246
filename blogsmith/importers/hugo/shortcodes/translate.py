"""Translation of all shortcodes of a text, by built-in handlers or by the site's own templates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ....api.importing import lazy_pattern
from ...text.containers import Replacement, append_replacement, strip_container_prefix
from ...text.segments import CODE, divide
from . import boxes, media
from .boxes import footnotes
from .parse import Call, CallContext, Literal, parse_shortcodes, write_source
from .template import expand_template

_HANDLERS = {**boxes.HANDLERS, **media.MEDIA_HANDLERS, **media.HANDLERS, **boxes.NOTES}
_LOADED_HTML = lazy_pattern(r"<(script|style)\b[\s\S]*?</\1\s*>|<link\b[^>]*>|<!--[\s\S]*?-->")
"""Scripts, styles and comments in a template. Formulas need no scripts in blogsmith."""


class HugoShortcodeTranslator:
    """Translator for the shortcodes of one page."""

    def __init__(self, context: CallContext, templates: Mapping[str, str]) -> None:
        """Initialize a translator.

        templates: names of the site's shortcodes → their template text.
        """
        self._context = context
        self._templates = templates
        self._code: tuple[range, ...] = ()

    def translate(self, text: str) -> str:
        """Translate the supported shortcodes of a text. Others stay, with a comment."""
        if "{{" not in text:
            return text
        media = (segment for segment in divide(text) if segment.kind in CODE)
        self._code = tuple(range(each.start, each.start + len(each.text)) for each in media)
        shown = self._join(parse_shortcodes(text))
        boxes = self._context.notes
        return shown.rstrip("\n") + "\n\n" + footnotes(boxes) if boxes else shown

    def _join(self, nodes: tuple[Literal | Call, ...]) -> str:
        done = ""
        for index, node in enumerate(nodes):
            if isinstance(node, Literal):
                done += self._literal_text(node)
                continue
            following = nodes[index + 1] if index + 1 < len(nodes) else None
            after = following.text if isinstance(following, Literal) else "\nx" if following else ""
            prefix = done[done.rfind("\n") + 1 :]
            done = append_replacement(done, self._replacement(node, prefix), after)
        return done

    def _literal_text(self, node: Literal) -> str:
        if not node.text.startswith(("{{<", "{{%")):
            return node.text
        # a call shown as text stays text, so hide it from further translation
        in_code = any(node.start in each for each in self._code)
        shown = node.text if in_code else node.text.replace("{{", "&#123;&#123;", 1)
        return self._context.finished.mask(shown)

    def _replacement(self, call: Call, prefix: str) -> Replacement:
        inner = strip_container_prefix(self._join(call.inner), prefix) if call.inner is not None else ""
        if call.name.endswith(".inline"):
            return self._inline_template(call)
        handler = _HANDLERS.get(call.name) or _HANDLERS.get(call.name.rpartition("/")[2])
        template = self._templates.get(call.name)

        def translate() -> Replacement | None:
            return handler(call, inner, self._context) if handler else None

        def expand() -> Replacement | None:
            return None if template is None else expand_template(template, call, inner, self._context)

        ways = (expand, translate) if call.name in boxes.INLINE_SHORTCODES else (translate, expand)
        found = next((made for way in ways if (made := way()) is not None), None)
        return self._keep_call(call, inner) if found is None else found

    def _inline_template(self, call: Call) -> Replacement:
        """Expand a shortcode `name.inline`, which contains its own template."""
        template = _LOADED_HTML.sub("", write_source(call.inner or ()))
        found = expand_template(template, replace(call, inner=None), "", self._context)
        if found is None:
            return self._keep_call(call, self._join(call.inner or ()))
        if not found.text.strip():
            self._context.notice("dropped", f'shortcode "{call.name}" has no output', "", "")
        return found

    def _keep_call(self, call: Call, inner: str) -> Replacement:
        """Return the call unchanged, with its inner text translated."""
        put = self._context.finished.mask
        if any(call.start in each for each in self._code):
            return Replacement(put(call.opener) + inner + call.closer)
        hint = "rewrite it, or define it as a shortcode of the new site"
        self._context.notice("left", f'unknown shortcode "{call.name}"', hint, "")
        opener = put(f"<!-- import: shortcode {call.name.replace('--', '- -')} -->") + put(call.opener)
        is_block = "\n" in inner
        return Replacement(opener + inner + (put(call.closer) if call.closer else ""), is_block=is_block)
