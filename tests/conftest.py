"""What all tests share: a quiet environment, repeatable properties, and the CommonMark examples."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parent.parent
SPEC = ROOT / ".cache" / "node_modules" / "commonmark-spec" / "spec.txt"

# The same examples in every run, and no clock: a slow machine is not a failure.
settings.register_profile("blogsmith", derandomize=True, deadline=None, database=None)
settings.load_profile("blogsmith")

# A shell that starts tests in the background lets them ignore Ctrl-C, and all that they start inherits it.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# The same with `nohup` and the end of a terminal.
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
# No proxy that the environment names can reach servers on this machine.
os.environ["no_proxy"] = os.environ["NO_PROXY"] = "*"


@pytest.fixture(autouse=True)
def quiet_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Settings of the user's shell decide no test, and no test trusts a site for the user."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
    for name in ("NO_COLOR", "FORCE_COLOR", "SOURCE_DATE_EPOCH", "COLUMNS", "_BLOGSMITH_COMPLETE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def commonmark_spec() -> str:
    """The text of the CommonMark specification; `make test` fetches it, `.ci/run` insists on it."""
    path = Path(os.environ.get("BLOGSMITH_COMMONMARK_SPEC", SPEC))
    if not path.is_file():
        reason = f"{path} is missing; `make test` fetches it with npm"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    return path.read_text("utf-8")
