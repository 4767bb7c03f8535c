"""Signals ask for a stop; the second Ctrl-C does not ask."""

import os
import signal
import subprocess
import sys
import time

import pytest

from qes_jax.runs.stop import StopFlag

SLEEPS = """
import time, ctypes
from qes_jax.runs.stop import StopFlag
with StopFlag() as stop:
    print("ready", flush=True)
    {wait}
"""
IN_PYTHON = "time.sleep(30); time.sleep(30)"
# A lock that is already held, as C code sees it: no signal gets it out of there, so no Python handler runs.
IN_C = (
    "lib, lock = ctypes.CDLL(None), ctypes.create_string_buffer(64); [lib.pthread_mutex_lock(lock) for _ in range(2)]"
)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_sets_the_flag_and_handlers_are_put_back(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with StopFlag() as stop:
        assert not stop.requested
        os.kill(os.getpid(), number)
        assert stop.requested
        assert stop.signal == number
    assert signal.getsignal(number) is before


@pytest.mark.parametrize("wait", [IN_PYTHON, IN_C], ids=["python", "c"])
def test_the_second_interrupt_ends_at_once(wait: str) -> None:
    command = [sys.executable, "-c", SLEEPS.format(wait=wait)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.1)
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)
            assert process.poll() is None
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=10) == 130
        finally:
            process.kill()


def test_sigterm_twice_still_only_asks() -> None:
    with StopFlag() as stop:
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.05)
        assert stop.signal == signal.SIGTERM
