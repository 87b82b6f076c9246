"""The tutorials of the manual: each step is done, and what the page says of it is true."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from blogsmith.cli.main import main
from tests.docs_fill import DOCS
from tests.test_performing_needs import Machine

_FENCE = re.compile(
    r'^(?P<ticks>`{3,4})(?P<lang>\w+)(?: title="(?P<file>[^"]+)")?\n(?P<text>.*?)^(?P=ticks)$', re.M | re.S
)


def steps(page: str) -> Iterator[tuple[str, str]]:
    """Yield each command, as `$` and the line, each file, as path and content, and each output, as `>`."""
    for fence in _FENCE.finditer((DOCS / page).read_text("utf-8")):
        if fence["lang"] == "console":
            yield from (("$", line.removeprefix("$ ")) for line in fence["text"].splitlines())
        elif fence["file"]:
            yield fence["file"], fence["text"]
        else:
            yield ">", fence["text"]


def without_times(text: str) -> str:
    return re.sub(r"\d+\.\d s", "… s", text)


class TestMovingABlog:
    """content/docs/moving-a-blog.md."""

    def test_every_step(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.chdir(tmp_path)
        report, post = "", ""
        for name, text in steps("moving-a-blog.md"):
            if name == ">":
                # the summary, entries of the report, the imported post
                seen = (without_times(capsys.readouterr().out), report, post)
                assert any(all(line in one for line in without_times(text).splitlines()) for one in seen), (
                    text
                )
            elif name != "$":
                Path(name).write_text(text, "utf-8")
            elif text.startswith("mkdir -p "):
                Path(text.split()[-1]).mkdir(parents=True)
            elif text.startswith("cd "):
                monkeypatch.chdir(text.removeprefix("cd "))
            else:
                program, *arguments = text.split()
                assert (program, main(arguments)) == ("blogsmith", 0), text
                if arguments[-1] == "new":
                    report = Path("new/import-report.md").read_text("utf-8")
                    post = Path("new/content/posts/softmax.md").read_text("utf-8")
                    settings = Path("new/blogsmith.yaml").read_text("utf-8")
        assert report and post and settings
        # the page says which lines to remove
        assert settings.splitlines()[:-2] == Path("blogsmith.yaml").read_text("utf-8").splitlines()
        assert settings.splitlines()[-2:] == ["diagnostics:", "  link-missing: warning"]
        public = tmp_path / "new/public"
        assert "<td" in (public / "posts/softmax/index.html").read_text("utf-8")
        assert "/notes/posts/softmax/" in (public / "softmax/index.html").read_text("utf-8")


_ARRAYS = """
import numpy

float16 = "float16"


class Tensor:
    def __init__(self, array):
        self.array = array
        _used.append(0)

    def to(self, dtype):
        return Tensor(self.array.astype(dtype))

    def __add__(self, number):
        return Tensor(self.array + numpy.float16(number))

    def __sub__(self, other):
        return Tensor(self.array - other.array)

    def float(self):
        return self.to("float32")

    def cpu(self):
        return self

    def numpy(self):
        return self.array


def arange(first, end, device):
    assert device == "cuda"
    return Tensor(numpy.arange(first, end))
"""
"""The part of torch that the tutorial uses, with half precision of NumPy: both follow IEEE 754."""


class TestAFigureAndAClaimFromAGpu:
    """content/docs/number-from-a-gpu.md, on a machine with a simulated device."""

    def test_every_step(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        machine = Machine(tmp_path, monkeypatch)
        torch = tmp_path / "with-cuda/torch.py"
        torch.write_text(torch.read_text("utf-8") + _ARRAYS, "utf-8")
        monkeypatch.chdir(tmp_path)
        printed, pages = {}, []
        post = Path("content/posts/counting-in-half-precision.md")
        for name, text in steps("number-from-a-gpu.md"):
            if name == ">":
                continue
            if name != "$":
                assert Path(name) == post
                post.write_text(text, "utf-8")
                continue
            program, *arguments = shlex.split(text)
            if program == "cd":
                monkeypatch.chdir(arguments[0])
            if program != "blogsmith":
                continue
            if arguments == ["trust"]:
                # the machine with the GPU
                code = main(["execute", "--needs", "cuda"])
                assert code == 1
                shown = [text for kind, text in steps("number-from-a-gpu.md") if kind == ">"]
                assert any(text in capsys.readouterr().err for text in shown)
                machine.with_cuda()
            if arguments == ["freeze", "status"]:
                # the laptop
                machine.without_cuda()
                post.write_text(post.read_text("utf-8").replace("draft: true\n", ""), "utf-8")
            assert main(arguments) == 0, text
            printed[text] = capsys.readouterr().out
            if arguments[0] == "build":
                pages.append(Path("public/posts/counting-in-half-precision/index.html").read_text("utf-8"))
        assert "3 not run: no " in printed["blogsmith build --drafts"]
        assert "3 on NVIDIA H200" in printed["blogsmith freeze status"]
        before, after = pages
        assert ("claim-open" in before, "claim-open" in after) == (True, False)
        assert "<svg" not in before and 'id="fig-steps"' in after
        assert "GPU (NVIDIA H200, CUDA 12.8)" in after
