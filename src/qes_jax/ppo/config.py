"""Settings of PPO. Frozen and static: changing one recompiles."""

from dataclasses import dataclass

ACTIVATIONS = ("tanh", "relu", "elu", "swish")


@dataclass(frozen=True)
class PPOConfig:
    """Numbers of the learner. The defaults are those of `cpu()`.

    Raises ValueError, naming the fields, where sizes do not divide each other.
    """

    # Samples: each iteration collects n_envs * n_steps of them.
    n_envs: int = 256
    n_steps: int = 32
    minibatch: int = 1024
    epochs: int = 3
    # Environments fall into this many groups. Every minibatch takes equally many samples of each, shuffled within it,
    # so that the samples of a minibatch do not depend on the number of devices (which must divide it).
    shuffle_blocks: int = 8

    # Learning rate: fixed where target_kl is None, else multiplied or divided by lr_factor after each iteration.
    lr: float = 5e-4
    target_kl: float | None = 0.05  # of the last epoch
    lr_min: float = 1e-5
    lr_max: float = 1e-3
    lr_factor: float = 1.5
    max_grad_norm: float = 1.0  # of actor, critic and log_std, each by itself

    gamma: float = 0.97
    lam: float = 0.95
    clip: float = 0.2
    value_coef: float = 1.0
    entropy_coef: float = 0.0
    bound_coef: float = 1.0  # on the square of what |mean action| exceeds 1 by: the environment clips there
    mirror_weight: float = 0.0  # of the mirrored copy of each minibatch, against 1 of the samples themselves

    actor_hidden: tuple[int, ...] = (300, 200, 100)
    critic_hidden: tuple[int, ...] = (300, 200, 100)
    activation: str = "elu"
    last_layer_scale: float = 0.01  # of the actor: first mean actions are near zero
    log_std_init: float = -1.6
    log_std_min: float = -3.3
    obs_clip: float = 5.0  # in standard deviations
    obs_std_min: float = 0.01  # a nearly constant feature is not blown up to unit deviation

    def __post_init__(self) -> None:
        for name in ("n_envs", "n_steps", "minibatch", "shuffle_blocks", "epochs"):
            if getattr(self, name) < 1:
                raise ValueError(f"PPOConfig.{name} is {getattr(self, name)}: expected at least 1")
        if self.activation not in ACTIVATIONS:
            raise ValueError(f"PPOConfig.activation is {self.activation!r}; known: {', '.join(ACTIVATIONS)}")
        if self.n_envs % self.shuffle_blocks:
            raise ValueError(f"PPOConfig.shuffle_blocks={self.shuffle_blocks} must divide n_envs={self.n_envs}")
        if self.minibatch % self.shuffle_blocks:
            raise ValueError(f"PPOConfig.shuffle_blocks={self.shuffle_blocks} must divide minibatch={self.minibatch}")
        if self.n_samples % self.minibatch:
            raise ValueError(f"PPOConfig.minibatch={self.minibatch} must divide n_envs * n_steps = {self.n_samples}")

    @property
    def n_samples(self) -> int:
        """Samples of one iteration."""
        return self.n_envs * self.n_steps

    @property
    def n_minibatches(self) -> int:
        """Gradient steps of one epoch."""
        return self.n_samples // self.minibatch


def paper() -> PPOConfig:
    """QuestEnvSim's numbers (Lee et al. 2023). Activation, epochs, deviation, clips, initialisation are our choice."""
    return PPOConfig(
        n_envs=4096,
        n_steps=15,
        minibatch=7680,
        epochs=5,
        lr=1.2e-4,
        target_kl=None,
        actor_hidden=(300, 200, 100),
        critic_hidden=(400, 400, 300, 200),
        activation="tanh",
    )


def cpu() -> PPOConfig:
    """What learned fastest on two cores: many small updates."""
    return PPOConfig()
