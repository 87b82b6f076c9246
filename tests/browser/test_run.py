"""Code run by readers: nothing before the click, the output, and how a run ends."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from .browser_python import LOST, NOT_RUN, PAGE, POST, SOURCE, THEME, VISIBLE, Blocks, of
from .conftest import Served
from .reader import DESKTOP, PHONE, WITHOUT_SCRIPTS, Reader


def test_nothing_is_loaded_before_the_click(run_site: Served, fresh: Blocks) -> None:
    asked = fresh.reader.requests()
    names = {url.split("?")[0].rpartition("/")[2] for url in asked}
    assert "run.js" in names
    assert not names & {"run-session.js", "run-output.js", "run-worker.js", "run.py"}
    assert not [url for url in asked if "pyodide" in url]
    assert (THEME / "run.js").stat().st_size < 10_700
    loads = r"Runs here, in your browser; loads up to 1\d MB of Python first"
    assert re.fullmatch(loads, fresh.text("more", ".run-status"))
    assert fresh.reader.problems() == []


def test_without_scripts_the_recorded_page_is_whole(run_site: Served, reader: Reader) -> None:
    reader.open(run_site.url(PAGE), WITHOUT_SCRIPTS)
    assert not reader.ask(VISIBLE, ".run-button")
    assert reader.ask(VISIBLE, f"{of('same')} .cell-output")
    assert reader.ask(VISIBLE, f"{of('same')} .provenance")


def test_a_page_without_such_code_has_none_of_it(widgets: Served) -> None:
    assert "run.js" not in widgets.text("/posts/widgets/")
    assert "run.css" not in widgets.text("/posts/widgets/")


LARGE_PHONE = replace(PHONE, width_px=390)
# The height of every bar after each change in one.
WATCH_BARS = """
const bars = [...document.querySelectorAll(".run-bar")];
const measure = () => window.heights.push(bars.map((bar) => bar.offsetHeight));
window.heights = [];
measure();
const watch = new MutationObserver(measure);
for (const bar of bars) watch.observe(bar, { childList: true, subtree: true, characterData: true });
"""


def test_nothing_moves_while_python_is_loaded(fresh: Blocks) -> None:
    """The first test that loads Python; the following tests continue with its page."""
    fresh.reader.ask("window.kept = true")
    fresh.reader.take_on(LARGE_PHONE)
    fresh.ask("count", WATCH_BARS)
    fresh.reader.find(f"{of('count')} .run-button").click()
    assert fresh.said("count").startswith("Ran in ")
    heights = fresh.ask("count", "return window.heights")
    assert isinstance(heights, list)
    assert len(heights) > 2, "the meter was seen"
    assert [each for each in heights if each != heights[0]] == []
    fresh.reader.take_on(DESKTOP)


class TestRecorded:
    def test_the_same(self, blocks: Blocks) -> None:
        assert blocks.run("same") == "Same output as recorded"
        # The blocks before it in its session ran first.
        assert blocks.text("square").count("squares of 0 1 4 9") == 1
        assert blocks.text("same") == "9\n16"
        fold = f"{of('same')} > .run-recorded"
        assert blocks.reader.ask(VISIBLE, f"{of('same')} .run-output")
        assert not blocks.reader.ask(VISIBLE, f"{fold} > .cell-output")
        assert not blocks.reader.ask(VISIBLE, f"{fold} > .provenance")
        blocks.reader.find(f"{of('same')} .run-reset").click()
        assert blocks.reader.ask(VISIBLE, f"{of('same')} > .cell-output + .provenance")
        assert not blocks.reader.ask(VISIBLE, f"{of('same')} .run-output")
        assert blocks.reader.problems() == []

    def test_up_to_rounding(self, blocks: Blocks) -> None:
        assert blocks.run("rounding") == "Same up to rounding"
        assert "0.30000000000000004" in blocks.text("rounding")

    def test_differs(self, blocks: Blocks) -> None:
        assert blocks.run("differs") == "Differs from the recorded output"
        assert blocks.text("differs", ".run-recorded pre") == "machine\n"

    @pytest.mark.parametrize("label", ["captioned", "quiet", "claimed"])
    def test_what_only_the_post_says_or_hides(self, blocks: Blocks, label: str) -> None:
        assert blocks.run(label) == "Same output as recorded"
        assert not blocks.text(label, ".run-output .output-stderr")

    def test_the_truth_of_a_claim_is_shown(self, blocks: Blocks) -> None:
        blocks.run("claimed")
        assert blocks.text("claimed") == "counted\nTrue"

    @pytest.mark.parametrize("code", ["square(3) == 10", "square(3) == 10,", "claimed = 1"])
    def test_a_claim_that_a_reader_finds_false_does_not_pass_for_the_same(
        self, blocks: Blocks, code: str
    ) -> None:
        """The value of a claim is not part of the compared output, so without it nothing would differ."""
        blocks.ask("claimed", "block.querySelector('details').open = true")
        blocks.write("claimed", f'print("counted")\n{code}')
        assert blocks.run("claimed") == "Here the claim is not found true"
        blocks.reader.find(f"{of('claimed')} .run-reset").click()

    def test_edited_code_is_not_compared(self, blocks: Blocks) -> None:
        blocks.write("rounding", "print('other')")
        assert blocks.run("rounding").startswith("Ran in ")
        blocks.reader.find(f"{of('rounding')} .run-reset").click()


class TestSession:
    def test_blocks_share_their_names(self, blocks: Blocks) -> None:
        # Code that no other test has used, so that it runs again.
        blocks.write("count", "count = 1  # anew")
        blocks.run("more")
        assert blocks.text("more") == "count is 2\n"
        blocks.run("more")
        assert blocks.text("more") == "count is 3\n", "only the block itself runs again"
        blocks.write("count", "count = 10")
        blocks.run("more")
        assert blocks.text("more") == "count is 11\n", "what was edited runs before it"
        blocks.reader.find(f"{of('count')} .run-reset").click()

    def test_other_sessions_do_not(self, blocks: Blocks) -> None:
        blocks.run("more")
        blocks.write("values", "count")
        assert blocks.run("values") == "Ended with an error"
        assert "NameError: name 'count' is not defined" in blocks.text("values")
        blocks.reader.find(f"{of('values')} .run-reset").click()

    def test_a_failure_ends_the_row(self, blocks: Blocks) -> None:
        blocks.write("count", "1 / 0")
        assert blocks.run("more") == NOT_RUN
        assert "ZeroDivisionError" in blocks.text("count")
        blocks.reader.find(f"{of('count')} .run-reset").click()

    def test_one_that_is_meant_does_not(self, blocks: Blocks) -> None:
        assert blocks.run("after").startswith("Ran in ")
        assert "ZeroDivisionError" in blocks.text("meant")


class TestOutput:
    def test_a_traceback_names_lines_of_the_post(self, blocks: Blocks) -> None:
        assert blocks.run("wrong") == "Ended with an error"
        lines = (SOURCE / POST).read_text("utf-8").split("\n")
        outer, inner = lines.index("invert(0)") + 1, lines.index("    return 1 / x") + 1
        text = blocks.text("wrong", ".output-error")
        places = re.findall(r'File "(.*)", line (\d+)', text)
        assert places == [(POST, str(outer)), (POST, str(inner))], text
        assert "    return 1 / x\n" in text
        assert text.endswith("ZeroDivisionError: division by zero\n")

    def test_the_same_for_syntax(self, blocks: Blocks) -> None:
        blocks.write("syntax", "print(1)\nif True print(2)")
        blocks.run("syntax")
        text = blocks.text("syntax", ".output-error")
        assert text.startswith('  File "edited code", line 2\n    if True print(2)\n')
        blocks.reader.find(f"{of('syntax')} .run-reset").click()

    def test_texts(self, blocks: Blocks) -> None:
        assert blocks.run("texts").startswith("Ran in ")
        markup = blocks.html("texts")
        assert (
            '<pre class="output output-stdout">100 %\n<span class="ansi-red ansi-bold">red</span>' in markup
        )
        assert " &lt;b&gt;&amp;amp;&lt;/b&gt;\n</pre>" in markup
        line = (SOURCE / POST).read_text("utf-8").split("\n").index('warnings.warn("take care")') + 1
        warning = f'{POST}:{line}: UserWarning: take care\n  warnings.warn("take care")\n'
        assert blocks.text("texts", ".output-stderr") == f"to stderr\n{warning}"

    def test_values(self, blocks: Blocks) -> None:
        blocks.run("values")
        markup = blocks.html("values", ".table-wrap")
        assert markup == (
            '<table><thead><tr><th scope="col">n</th><th scope="col">n²\n        </th></tr></thead>'
            '<tbody><tr><td colspan="2">none</td></tr><tr><td class="align-right">2</td>'
            '<td class="align-right">4</td></tr></tbody></table>'
        )
        assert blocks.reader.ask("return document.title") != "taken"
        assert "/z" not in blocks.html("values")
        size = "const i = block.querySelector('.output-image img'); return [i.naturalWidth, i.naturalHeight]"
        blocks.reader.wait_for(lambda: blocks.ask("values", size) == [40, 30])
        # A formula is text here, as Python writes it, or as LaTeX if Python has no text for it.
        texts = "return [...block.querySelectorAll('.output-value > pre')].map(e => e.textContent)"
        assert blocks.ask("values", texts) == ["x**2", "$y^2$", "[0, 1, 4]"]

    def test_there_is_an_end_to_text(self, blocks: Blocks) -> None:
        assert blocks.run("flood").startswith("Ran in ")
        assert len(blocks.text("flood", ".output-stdout")) == 1024 * 1024
        assert blocks.text("flood", ".output-dropped") == "… 2.0 MB more are not kept"
        assert blocks.text("flood", ".output-more") == "All 10,486 lines"
        assert blocks.ask("flood", "return block.querySelector('.output-long').clientHeight") < 800

    def test_too_deep_is_an_error_like_others(self, blocks: Blocks) -> None:
        blocks.run("deep")
        assert "RecursionError" in blocks.text("deep", ".output-error")

    def test_nobody_answers(self, blocks: Blocks) -> None:
        blocks.run("ends")
        assert blocks.text("ends", ".output-stdout") == "input\nfrom below\n"
        assert blocks.text("ends", ".output-error").splitlines()[-1].startswith("EOFError")


class TestEnding:
    def test_stop(self, blocks: Blocks) -> None:
        blocks.run("more")
        blocks.press("endless")
        blocks.reader.wait_for(lambda: blocks.text("endless") == "begun\n")
        blocks.reader.wait_for(lambda: blocks.text("endless", ".run-button") == "Stop")
        assert blocks.ask("more", "return block.querySelector('.run-button').disabled")
        blocks.press("endless")
        assert blocks.said("endless") == f"Stopped. {LOST}"
        assert blocks.text("endless") == "begun\n"
        # The block that it depends on runs again.
        blocks.run("more")
        assert blocks.text("more") == "count is 2\n"

    def test_a_time_limit(self, blocks: Blocks) -> None:
        # In the first run Python may still be slow.
        blocks.run("more")
        assert blocks.run("late") == f"Stopped after 3 s, the limit of this page. {LOST}"
        assert blocks.text("late") == "begun\n"

    def test_a_broken_python(self, blocks: Blocks) -> None:
        blocks.write("ends", "import os\nos._exit(3)")
        words = "Python broke down: Program terminated with exit(3)"
        assert blocks.run("ends") == f"{words}. {LOST}"
        blocks.reader.find(f"{of('ends')} .run-reset").click()
        assert blocks.reader.problems() == []
