"""Timeouts that interrupt work, even if the first alarm is lost."""

from __future__ import annotations

import time

import pytest

from blogsmith.base.timeout import alarm, has_alarm

pytestmark = pytest.mark.skipif(not has_alarm(), reason="this system has no alarms")


class TooLong(BaseException):
    """The exception that ends the work."""


def test_work_is_ended() -> None:
    with pytest.raises(TooLong), alarm(0.01, TooLong):
        time.sleep(5)


def test_short_work_is_not() -> None:
    with alarm(5, TooLong):
        pass


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_bell_that_is_lost_ends_it_at_its_end() -> None:
    """An exception raised during object deletion is lost."""

    class Slow:
        def __del__(self) -> None:
            time.sleep(0.2)

    with pytest.raises(TooLong), alarm(0.05, TooLong):
        one = Slow()
        del one


def test_a_judge_is_asked_again_until_it_ends_the_work() -> None:
    answers = iter((None, None, TooLong))
    with pytest.raises(TooLong), alarm(0.01, ValueError, interval_s=0.01, choose_error=lambda: next(answers)):
        time.sleep(5)
