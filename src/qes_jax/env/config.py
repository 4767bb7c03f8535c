"""All that defines the task, with the paper's ablations. What the paper does not give is our choice, and says so."""

import math
from dataclasses import dataclass, field, replace
from typing import Literal

ABLATIONS = ("full", "no_scene_obs", "no_contact", "no_randomization", "real_time", "headset_only")


@dataclass(frozen=True)
class RewardConfig:
    """Weight and kernel width of each term: w exp(-k mean square error). Our choice throughout; the paper's are lost.

    Imitation: joint angles [rad], joint velocities [rad/s], link positions [m], link velocities [m/s], sensor
    positions [m], sensor orientations [rad], root orientation [rad]. Contact: w times the overlap of simulated and
    labelled contacts. Regularisation: the sum of squared actions and of squared changes of action, subtracted.
    """

    joint_pos: tuple[float, float] = (0.20, 15.0)
    joint_vel: tuple[float, float] = (0.08, 0.15)
    link_pos: tuple[float, float] = (0.17, 20.0)
    link_vel: tuple[float, float] = (0.08, 1.5)
    sensor_pos: tuple[float, float] = (0.20, 30.0)
    sensor_rot: tuple[float, float] = (0.05, 4.0)
    root_rot: tuple[float, float] = (0.07, 4.0)
    contact: float = 0.15
    effort: float = 0.002
    jerk: float = 0.002


@dataclass(frozen=True)
class RandomizeConfig:
    """Placement: up to 8 cm in all directions, height included, 0.1 rad about Z (the paper). The rest is our choice."""

    place: float = 0.08  # [m]
    yaw: float = 0.1  # [rad]
    joint_pos: float = 0.03  # [rad] at reset
    joint_vel: float = 0.1  # [rad/s] at reset
    push: float = 0.0  # [m/s] greatest sudden change of the root's velocity along X and Y, 0 for none
    push_every: int = 108  # [frames] mean time between pushes
    # How people wear and hold their devices, standard deviations of place [m] and turn [rad] by axis, for an episode.
    grip: tuple[float, float] = (0.0, 0.0)
    mount: tuple[float, float] = (0.0, 0.0)  # the headset's
    noise: tuple[float, float] = (0.0, 0.0)  # the same, of every frame anew
    lost: tuple[float, float] = (0.0, 0.4)  # how often a controller is lost from sight [1/s], and for how long [s]


@dataclass(frozen=True)
class SceneObsConfig:
    """How the policy sees the room. A height map: n_x x n_y points around the root in its heading frame, `spacing`
    apart, its middle `ahead` [m] of the root. Or "distances": from each link to the nearest surface. Or "none".
    """

    kind: Literal["heightmap", "distances", "none"] = "heightmap"
    n_x: int = 11
    n_y: int = 9
    spacing: float = 0.15  # [m]
    ahead: float = 0.15  # [m]


@dataclass(frozen=True)
class TerminateConfig:
    """An episode fails where a sensor is farther off than `sensor` [m] or the root's height than `height` [m].

    Both are our choice. `speed` [rad/s, m/s] guards against a simulation that goes astray: beyond it the episode fails,
    which is counted.
    """

    sensor: float = 0.5
    height: float = 0.3
    speed: float = 100.0


@dataclass(frozen=True)
class EnvConfig:
    """The environment. Control at 36 Hz (our choice, as in a third party's reimplementation), physics faster."""

    ctrl_dt: float = 1.0 / 36.0  # [s]
    n_substeps: int = 3
    max_frames: int = 300  # [frames] of an episode in training
    future: int = 6  # [frames] how far ahead the one future observation lies; 0: real time
    controllers: bool = True  # False: the headset alone
    pd_scale: float = 1.0  # [rad] a PD target's distance from the mean pose at an action of 1
    reward: RewardConfig = field(default_factory=RewardConfig)
    randomize: RandomizeConfig = field(default_factory=RandomizeConfig)
    scene_obs: SceneObsConfig = field(default_factory=SceneObsConfig)
    terminate: TerminateConfig = field(default_factory=TerminateConfig)

    def __post_init__(self) -> None:
        if not 0.0 < self.ctrl_dt < math.inf:
            raise ValueError(f"EnvConfig.ctrl_dt is {self.ctrl_dt} s: expected a positive number")
        for name, least in (("n_substeps", 1), ("max_frames", 1), ("future", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"EnvConfig.{name} is {getattr(self, name)}: expected at least {least}")

    @property
    def sim_dt(self) -> float:
        """Physics step [s]."""
        return self.ctrl_dt / self.n_substeps


def ablate(config: EnvConfig, ablation: str) -> EnvConfig:
    """The config of one of the paper's ablations. Raises ValueError that lists the valid names."""
    if ablation == "full":
        return config
    if ablation == "no_scene_obs":
        return replace(config, scene_obs=replace(config.scene_obs, kind="none"))
    if ablation == "no_contact":
        return replace(config, reward=replace(config.reward, contact=0.0))
    if ablation == "no_randomization":
        return replace(config, randomize=replace(config.randomize, place=0.0, yaw=0.0))
    if ablation == "real_time":
        return replace(config, future=0)
    if ablation == "headset_only":
        return replace(config, controllers=False)
    raise ValueError(f"unknown ablation {ablation!r}: expected one of {ABLATIONS}")
