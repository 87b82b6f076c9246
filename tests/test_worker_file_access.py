"""The worker: records of files, modules, packages and the machine; seeds."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from blogsmith.model.results import SDPA
from tests.cuda_stand_in import put_tool, put_torch
from tests.worker_client import Client, Start, start_worker, worker

__all__ = ["start_worker", "worker"]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Create a site with data, modules, its own environment and output."""
    files = {
        "data/a.txt": "a",
        "data/b.txt": "b",
        "lib/__init__.py": "",
        "lib/m.py": "import pathlib\ndef load(): return pathlib.Path('data/b.txt').read_text()\n",
        "env/pyvenv.cfg": "",
        "env/lib/tool.py": "x = 1\n",
        "env/lib/tool.txt": "t",
        "_freeze/old.json": "{}",
        "other/site-packages/dep.py": "__version__ = '9.1'\n",
        "posts/x.py": "y = 2\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_files_read_are_noted_once(start_worker: Start, site: Path) -> None:
    worker = start_worker(site)
    done = worker.run(f"open('data/a.txt').read()\nopen({str(site / 'data/a.txt')!r}, 'rb').read();").done
    assert (done["reads"], done["modules"]) == (["data/a.txt"], [])
    done = worker.run("open('data/a.txt')\nimport lib.m\nlib.m.load();").done
    assert (done["reads"], done["modules"]) == (["data/b.txt"], ["lib/__init__.py", "lib/m.py"])
    done = worker.run("import lib.m\nlib.m.load();").done
    assert (done["reads"], done["modules"]) == ([], [])


@pytest.mark.parametrize(
    ("code", "reads"),
    [
        ("os.read(os.open('data/a.txt', os.O_RDONLY), 1);", ["data/a.txt"]),
        ("os.open(b'data/b.txt', os.O_RDWR);", ["data/b.txt"]),
        (
            "os.chdir('data'); open('a.txt'); os.chdir('../posts'); open('../data/b.txt');",
            ["data/a.txt", "data/b.txt"],
        ),
        ("open('data/../data//a.txt');", ["data/a.txt"]),
        ("exec(open('posts/x.py').read())", ["posts/x.py"]),
        ("open('data/a.txt', 'r+').write('c');", ["data/a.txt"]),
        ("open('new', 'w').close(); open('new').read();", []),
        ("open('n', 'w').close(); os.replace('n', 'm'); open('m').read();", []),
        ("open('data/a.txt', 'a').close(); open('data/a.txt').read();", []),
        ("os.path.exists('data/a.txt') or open('gone');", []),
        ("open('_freeze/old.json');", []),
        ("open('env/lib/tool.txt');", []),
        ("open('other/site-packages/dep.py');", []),
        ("open('/etc/passwd');", []),
        ("open(os.devnull);", []),
        ("open(os.dup(0));", []),
        (
            "import threading; t = threading.Thread(target=open, args=['data/a.txt']); t.start(); t.join()",
            ["data/a.txt"],
        ),
    ],
)
def test_which_files_count(start_worker: Start, site: Path, code: str, reads: list[str]) -> None:
    worker = start_worker(site, exclude=[str(site / "_freeze")])
    assert worker.run("import os; import warnings; warnings.simplefilter('ignore')").done["reads"] == []
    ended = worker.run(code)
    assert (ended.done["reads"], ended.status) == (reads, "ok")


def test_a_missing_file_is_not_read(start_worker: Start, site: Path) -> None:
    done = start_worker(site).run("try: open('gone')\nexcept OSError: pass").done
    assert (done["status"], done["reads"]) == ("ok", [])


def test_a_site_behind_a_link(
    start_worker: Start, site: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    link = tmp_path_factory.mktemp("links") / "site"
    link.symlink_to(site)
    assert start_worker(link).run("open('data/a.txt');").done["reads"] == ["data/a.txt"]


def test_installed_modules_do_not_count(start_worker: Start, site: Path) -> None:
    code = "import sys\nsys.path += ['env/lib', 'other/site-packages']\nimport tool, dep, json, posts.x"
    done = start_worker(site).run(code).done
    assert (done["modules"], done["reads"]) == (["posts/x.py"], [])
    assert done["imports"] == ["dep", "tool"]


def test_the_working_folder_and_the_path(start_worker: Start, site: Path) -> None:
    worker = start_worker(site, folder=str(site / "posts"), sys_path=[str(site / "posts"), str(site)])
    done = worker.run("import os, sys, x, lib\nprint(os.getcwd())\nopen('../data/a.txt');").done
    assert (done["modules"], done["reads"]) == (["lib/__init__.py", "posts/x.py"], ["data/a.txt"])


def test_what_a_value_reads_is_told(start_worker: Start, site: Path) -> None:
    assert start_worker(site).value("open('data/a.txt').read()")["reads"] == ["data/a.txt"]


def test_the_machine(start_worker: Start, site: Path) -> None:
    worker = start_worker(site, environ={"OMP_NUM_THREADS": "2"})
    worker.run("import sys\nsys.path += ['other/site-packages']\nimport json, lib")
    worker.run("def f():\n    import dep as d\nf()")
    worker.run("try:\n    import nothing_like_this\nexcept ImportError:\n    pass")
    worker.send(op="machine")
    (machine,) = worker.until("machine")
    assert machine.pop("event") == "machine"
    cpu = machine.pop("cpu")
    assert "/proc" not in cpu and "\n" not in cpu
    assert machine == {
        "python": worker.ready["python"],
        "platform": f"{os.uname().sysname} {os.uname().machine}",
        "gpu": "",
        "capability": "",
        "driver": "",
        "cuda": "",
        "threads": 2,
        "packages": {"dep": "9.1"},
    }


def test_versions_of_packages_without_one_of_their_own(start_worker: Start, site: Path) -> None:
    package = site / "other/site-packages"
    (package / "silent.py").write_text("")
    (package / "unknown.py").write_text("")
    (package / "silent-4.5.dist-info").mkdir()
    (package / "silent-4.5.dist-info/METADATA").write_text(
        "Metadata-Version: 2.1\nName: silent\nVersion: 4.5\n"
    )
    worker = start_worker(site)
    worker.run("import sys\nsys.path += ['other/site-packages']\nimport silent, unknown")
    worker.send(op="machine")
    assert worker.until("machine")[-1]["packages"] == {"silent": "4.5", "unknown": ""}


@pytest.mark.parametrize(
    ("used", "gpu"),
    [
        ((0,), "A100 MIG 1g.5gb"),
        ((1,), "H200"),
        ((1, 2, 2), "2 × H200"),
        ((0, 1), "A100 MIG 1g.5gb, H200"),
        ((9,), "A100 MIG 1g.5gb"),
    ],
)
def test_cuda_counts_once_it_is_used(
    start_worker: Start, site: Path, tmp_path: Path, used: tuple[int, ...], gpu: str
) -> None:
    put_torch(site, ("A100  MIG 1g.5gb", "H200", "H200"))
    put_tool(tmp_path / "bin")
    worker = start_worker(site, {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"})
    assert worker.run("import torch").done["device"] == "cpu"
    assert worker.run(f"for n in {used}: torch.use(n)").done["device"] == "cuda"
    worker.send(op="machine")
    machine = worker.until("machine")[-1]
    assert (machine["gpu"], machine["capability"], machine["cuda"]) == (gpu, "9.0", "12.8")
    if not Path("/proc/driver/nvidia/version").exists():
        assert machine["driver"] == "570.86.15"


def test_a_device_that_says_nothing_any_more_is_unknown(start_worker: Start, site: Path) -> None:
    put_torch(site)
    worker = start_worker(site)
    worker.run("import torch; torch.use()\ntorch.cuda.get_device_name = lambda n: 1/0")
    worker.send(op="machine")
    machine = worker.until("machine")[-1]
    assert (machine["gpu"], machine["capability"]) == ("", "9.0")


def test_rows_that_are_drawn_are_read_whoever_wrote_them(start_worker: Start, site: Path) -> None:
    worker = start_worker(site)
    adds = "import sys\nfor name in ('data/new.jsonl', 'data/a.txt'): open(name, 'a').close()"
    assert worker.run(adds).done["reads"] == []
    tells = (
        "for path in ('data/new.jsonl', 'data/none', '/etc/hosts', 7): sys.audit('blogsmith.lab.rows', path)"
    )
    assert worker.run(tells).done["reads"] == ["data/new.jsonl"]
    assert worker.run(f"open('data/new.jsonl').read()\n{tells}").done["reads"] == []
    assert worker.run("sys.audit('blogsmith.lab.rows'); open('data/a.txt').read()").done["reads"] == []


# -- attention --

FLASH = "aten::_scaled_dot_product_flash_attention_for_cpu"


def raised(*events: object) -> str:
    """Return code that raises the lab's event with these arguments."""
    return f"import sys\nfor event in {events!r}:\n    sys.audit('blogsmith.lab.ran', *event)"


def test_what_computed_attention_is_told_with_its_cell(start_worker: Start, site: Path) -> None:
    worker = start_worker(site)
    math = ("cpu", "math", "aten::_safe_softmax")
    done = worker.run(raised(math, ("cpu", "flash", FLASH), ("cuda", *math[1:]), math)).done
    assert done["sdpa"] == [f"flash {FLASH}", "math aten::_safe_softmax", "math aten::_safe_softmax cpu"]
    assert all(re.fullmatch(SDPA, entry) for entry in done["sdpa"])
    assert worker.run("print(1)").done["sdpa"] == []
    worker.value("__import__('sys').audit('blogsmith.lab.ran', 'cpu', 'math', 'aten::_softmax')")
    assert worker.run("print(1)").done["sdpa"] == []


@pytest.mark.parametrize(
    "event",
    [
        (),
        ("cpu", "flash"),
        ("cpu", "flash", FLASH, "more"),
        ("tpu", "flash", FLASH),
        (None, "flash", FLASH),
        ("cpu", ["flash"], FLASH),
        ("cpu", {}, b"x"),
        ("cpu", "fla sh", FLASH),
        ("cpu", "flash", "<b>"),
        ("cpu", "flash", "a" * 81),
        ("cpu", "flash\n", FLASH),
        ("cpu", "flash", "\udc80"),
    ],
)
def test_events_of_another_form_are_nothing(
    start_worker: Start, site: Path, event: tuple[object, ...]
) -> None:
    ended = start_worker(site).run(raised(event, ("cpu", "flash", FLASH)))
    assert (ended.status, ended.done["sdpa"]) == ("ok", [f"flash {FLASH}"])


def test_strings_with_methods_of_their_own_are_not_asked(start_worker: Start, site: Path) -> None:
    code = """
        import sys
        class Text(str):
            def __len__(self): 1 / 0
            def __eq__(self, other): 1 / 0
            __hash__ = str.__hash__
        sys.audit("blogsmith.lab.ran", Text("cpu"), Text("flash"), Text("aten::x"))
    """
    ended = start_worker(site).run(code)
    assert (ended.status, ended.done["sdpa"]) == ("ok", [])


def test_ten_thousand_events_are_sixteen(start_worker: Start, site: Path) -> None:
    code = (
        "import sys\nfor n in range(10_000): sys.audit('blogsmith.lab.ran', 'cuda', 'math', f'aten::op{n}')"
    )
    ended = start_worker(site).run(code)
    assert (ended.status, len(ended.done["sdpa"])) == ("ok", 16)


TORCH = """
seeded = []
manual_seed = seeded.append
"""


def test_seeds(start_worker: Start, site: Path) -> None:
    (site / "torch.py").write_text(TORCH)
    pictures = []
    for _ in range(2):
        worker = start_worker(site)
        first = worker.run("import random\nprint(random.random())", seed=5)
        again = worker.run("print(random.random())", seed=5)
        assert first.text() == again.text()
        assert worker.run("import torch\nprint(torch.seeded)", seed=7).text() == "[7]\n"
        assert (
            worker.run("print(torch.seeded, torch.__loader__ is torch.__spec__.loader)", seed=8).text()
            == "[7, 8] True\n"
        )
        pictures.append(first.text())
    assert pictures[0] == pictures[1]


def test_numpy_is_seeded_however_it_comes_in(start_worker: Start, site: Path) -> None:
    worker = start_worker(site)
    worker.need("numpy")
    (site / "mine.py").write_text("import numpy\ndef draw(): return numpy.random.rand()\n")
    late = start_worker(site).run("import mine\nprint(mine.draw())", seed=2**40 + 3)
    assert late.text() == worker.run("print(numpy.random.rand())", seed=2**40 + 3).text()
    assert late.text() != worker.run("print(numpy.random.rand())", seed=4).text()


def test_fresh_seeds_differ() -> None:
    import random

    from blogsmith.execute.worker import seeds

    state = random.getstate()
    random.seed(1)
    seeds.fresh()
    assert random.getstate() != (random.seed(1), random.getstate())[1]
    random.setstate(state)


def test_the_stdlib_is_no_package(worker: Client) -> None:
    assert worker.run("import os, json, email.mime.text, unittest").done["imports"] == []


def test_torch_counts_as_imported_where_it_computed_attention(start_worker: Start, site: Path) -> None:
    elsewhere = site.parent / "packages"
    elsewhere.mkdir()
    (elsewhere / "torch.py").write_text("__version__ = '9'\nclass cuda:\n    is_initialized = lambda: False")
    (elsewhere / "tool.py").write_text("import torch")
    worker = start_worker(site, sys_path=[str(elsewhere)])
    assert worker.run("import tool").done["imports"] == ["tool"]
    ran = "import sys; sys.audit('blogsmith.lab.ran', 'cpu', 'math', 'aten::bmm')"
    assert worker.run(ran).done["imports"] == ["tool", "torch"]
