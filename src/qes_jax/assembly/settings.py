"""One tree of settings for a whole run, and the presets. Evaluation rebuilds everything from the copy beside a run."""

from dataclasses import dataclass, field, replace
from typing import Literal

from qes_jax.env.config import EnvConfig, RandomizeConfig, RewardConfig, ablate
from qes_jax.model.character import CharacterConfig
from qes_jax.ppo.config import PPOConfig, cpu, paper

Ablation = Literal["full", "no_scene_obs", "no_contact", "no_randomization", "real_time", "headset_only"]
Engine = Literal["auto", "mujoco", "mjx", "mjx-warp"]


# Built-in clips and families of the library on flat ground, a stool and a chair: 80 clips, 23 minutes.
ROOMS = (
    *("walk", "walk_slow", "walk_fast", "walk_curves", "turn", "stand_gesture", "squat"),
    *("stool", "stool_side", "chair", "chair_side", "walk_line", "walk_bends", "walk_pace", "walk_stop", "walk_wander"),
    *("walk_turns", "walk_back", "walk_side", "stand and gesture", "write in the air", "stand_squat", "stand_reach"),
    *("sit_stool", "sit_chair"),
)

LARGE = (512, 256, 128)  # hidden layers that many clips need; for one walk they cost more time than they save

# Placement as in the paper, and devices as people hold them: our choice.
HELD = RandomizeConfig(grip=(0.02, 0.25), mount=(0.01, 0.06), noise=(0.002, 0.01), lost=(0.05, 0.4))


@dataclass(frozen=True)
class RunConfig:
    """Everything that a run's result depends on, and how it is watched. `presets` has starting points.

    >>> RunConfig(clips=("chair", "stool"), samples=2_000_000).ablation
    'full'
    """

    preset: str = "cpu"
    ablation: Ablation = "full"
    clips: tuple[str, ...] = ("walk",)  # built-in names, clip files or folders of them
    # Instead of clips: built-in training clips of these scenes ("all" for every one), or those that fit a scene file.
    scene: tuple[str, ...] = ()
    mirror: bool = False  # train on the mirror images too
    start_from: str | None = None  # a run or shipped weights whose learner this one carries on from
    seed: int = 0
    engine: Engine = "auto"
    samples: int = 4_000_000
    character: CharacterConfig = field(default_factory=CharacterConfig)
    env: EnvConfig = field(default_factory=EnvConfig)
    ppo: PPOConfig = field(default_factory=cpu)
    start_by_failure: bool = True
    evaluate_every: int = 40  # [iterations]
    evaluate_starts: int = 128
    checkpoint_every: int = 40  # [iterations]

    def __post_init__(self) -> None:
        for name, least in (("samples", 1), ("evaluate_starts", 1), ("evaluate_every", 0), ("checkpoint_every", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} is {getattr(self, name)}: expected at least {least}")


def presets() -> dict[str, RunConfig]:
    """The named starting points; every field can still be changed on the command line."""
    return {
        # python experiments/run.py: the walk on two cores.
        "cpu": RunConfig(),
        # One policy for many motions in furnished rooms: an hour or two.
        "rooms": RunConfig(
            preset="rooms",
            clips=ROOMS,
            ppo=replace(cpu(), actor_hidden=LARGE, critic_hidden=LARGE),
            samples=20_000_000,
            evaluate_every=180,
            evaluate_starts=96,
            checkpoint_every=60,
        ),
        # Recordings of people, given by --clips (docs/people.md): devices as people hold them, PD, a calm motion.
        "people": RunConfig(
            preset="people",
            clips=ROOMS,
            mirror=True,
            character=CharacterConfig(actuation="pd"),
            env=EnvConfig(randomize=HELD, reward=RewardConfig(jerk=0.006)),
            ppo=replace(cpu(), actor_hidden=LARGE, critic_hidden=LARGE, log_std_init=-2.0),
            samples=100_000_000,
            evaluate_every=0,
            checkpoint_every=60,
        ),
        # The paper's numbers, for a GPU: 4096 environments x 15 steps, minibatch 7680.
        "paper": RunConfig(preset="paper", ppo=paper(), samples=2_000_000_000, evaluate_starts=1024),
        # A minute, for tests and to see that all works.
        "smoke": RunConfig(
            preset="smoke",
            samples=8_192,
            ppo=replace(cpu(), n_envs=32, n_steps=16, minibatch=256, shuffle_blocks=4),
            evaluate_every=8,
            evaluate_starts=8,
            checkpoint_every=4,
        ),
    }


def effective_env(config: RunConfig) -> EnvConfig:
    """The environment after the ablation."""
    return ablate(config.env, config.ablation)
