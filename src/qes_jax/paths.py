"""Where the package's own files lie, in the checkout or inside an installed wheel, and its cache and configuration."""

from pathlib import Path

import platformdirs


def cache_dir() -> Path:
    """The folder of the user's cache that is ours."""
    return platformdirs.user_cache_path("qes_jax", appauthor=False)


def config_dir() -> Path:
    """The folder of the user's configuration that is ours."""
    return platformdirs.user_config_path("qes_jax", appauthor=False)


def mjcf_dir() -> Path:
    """Folder of the character's and the scenes' MJCF. Raises FileNotFoundError on a broken installation."""
    return _find("mjcf", packaged="mjcf")


def weights_dir() -> Path:
    """Folder of the shipped trained policies, one folder each. Raises FileNotFoundError on a broken installation."""
    return _find("experiments/weights", packaged="weights")


def policy_dirs() -> list[Path]:
    """Folders of shipped policies: `weights_dir`, and in a checkout those that may not be used commercially."""
    apart = weights_dir().with_name("weights_noncommercial")
    return [weights_dir(), *([apart] if apart.is_dir() else [])]


def _find(in_checkout: str, packaged: str) -> Path:
    package = Path(__file__).resolve().parent
    repo = package.parents[1]
    if (repo / "pyproject.toml").is_file() and (repo / in_checkout).is_dir():
        return repo / in_checkout
    if (package / packaged).is_dir():
        return package / packaged
    raise FileNotFoundError(
        f"{packaged}/ is missing: neither {repo / in_checkout} nor {package / packaged} is a folder"
    )
