"""Where metrics are shown besides the run folder: nowhere, Weights & Biases, or TensorBoard.

A tracker is a window, not a record: whatever fails in one is said once, and training goes on.
"""

import logging
import netrc
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, Protocol

from qes_jax.runs.folder import RunFolder, as_json, write_text

log = logging.getLogger(__name__)

TrackerName = Literal["none", "wandb", "tensorboard"]
WandbMode = Literal["online", "offline", "disabled"]


class Tracker(Protocol):
    """What a run tells a tracker."""

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        """Metrics of one iteration, under the number of samples so far."""
        ...

    def close(self) -> None: ...


class NoTracker:
    """Shows nothing."""

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        pass

    def close(self) -> None:
        pass


class WandbTracker:
    """One Weights & Biases run, the same one after a resume.

    Steps that were logged before a kill and are computed again are dropped by wandb; they are equal anyway.
    """

    def __init__(self, run: RunFolder, config: Any, mode: WandbMode, project: str) -> None:
        import wandb

        settings = wandb.Settings(console="off", silent=True, init_timeout=30, finish_timeout=30)
        self._run = wandb.init(
            project=project,
            name=run.name,
            id=_wandb_id(run),
            resume="allow",
            dir=str(run.path),
            mode=mode,
            config=as_json(config),
            settings=settings,
        )

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        self._run.log(dict(metrics), step=step)

    def close(self) -> None:
        self._run.finish()


class TensorboardTracker:
    """Event files below the run folder; points after `purge_step` that a killed run left behind are hidden."""

    def __init__(self, run: RunFolder, purge_step: int) -> None:
        try:
            from tensorboardX import SummaryWriter
        except ImportError as error:
            raise ImportError("TensorBoard needs: pip install 'qes_jax[tensorboard]'") from error
        self._writer = SummaryWriter(str(run.path / "tensorboard"), purge_step=purge_step)

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        for name, value in metrics.items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        self._writer.close()


class Guarded:
    """A tracker that never raises: after the first failure it warns, and shows nothing more."""

    def __init__(self, make: Callable[[], Tracker], name: str) -> None:
        self._name = name
        self._tracker: Tracker = NoTracker()
        self._tracker = self._attempt(make) or self._tracker

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        self._attempt(lambda: self._tracker.log(metrics, step))

    def close(self) -> None:
        self._attempt(lambda: self._tracker.close())

    def _attempt(self, action: Callable[[], Any]) -> Any:
        try:
            return action()
        except Exception as error:
            log.warning("tracker %s is off from here on, training goes on: %s", self._name, error)
            self._tracker = NoTracker()
            return None


def make_tracker(
    name: TrackerName,
    run: RunFolder,
    config: Any,
    environ: Mapping[str, str],
    step: int = 0,
    project: str = "qes_jax",
) -> Tracker:
    """The tracker called `name`. Never asks anything and never raises for what goes wrong outside.

    environ: the environment variables, for wandb's key and mode (`wandb_mode`).
    step: samples of the checkpoint that the run goes on from.
    Raises ValueError where there is no such tracker.
    """
    if name == "none":
        return NoTracker()
    if name == "tensorboard":
        return Guarded(lambda: TensorboardTracker(run, step), name)
    if name == "wandb":
        mode = wandb_mode(environ)
        return Guarded(lambda: _wandb(run, config, mode, environ.get("WANDB_PROJECT", project)), name)
    raise ValueError(f"no tracker {name!r}; there are: none, wandb, tensorboard")


def wandb_mode(environ: Mapping[str, str]) -> WandbMode:
    """$WANDB_MODE where it is set, else online with a key in $WANDB_API_KEY or the netrc file, else offline."""
    if environ.get("WANDB_MODE") in ("online", "offline", "disabled"):
        return environ["WANDB_MODE"]  # type: ignore[return-value]
    if environ.get("WANDB_API_KEY"):
        return "online"
    host = environ.get("WANDB_BASE_URL", "https://api.wandb.ai").split("//")[-1].split("/")[0].split(":")[0]
    file = Path(environ.get("NETRC") or Path(environ.get("HOME", "~")).expanduser() / ".netrc")
    try:
        return "online" if netrc.netrc(file).authenticators(host) else "offline"
    except (OSError, netrc.NetrcParseError):
        return "offline"


def _wandb(run: RunFolder, config: Any, mode: WandbMode, project: str) -> Tracker:
    """Falls back to offline where the server cannot be reached: `wandb sync` uploads later."""
    try:
        return WandbTracker(run, config, mode, project)
    except Exception as error:
        if mode != "online":
            raise
        log.warning("wandb cannot be reached, its run is kept offline: %s", error)
        return WandbTracker(run, config, "offline", project)


def _wandb_id(run: RunFolder) -> str:
    path = run.path / "wandb_id"
    if not path.is_file():
        write_text(path, secrets.token_hex(4) + "\n")
    return path.read_text().strip()
