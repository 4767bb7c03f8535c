"""Hooks of `make docs`: the README is the first page, tables of results and a page for each room are added."""

import ast
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

REPO = Path(__file__).resolve().parents[1]
PACKAGE = REPO / "src" / "qes_jax"
FIRST = ("model", "motion", "env", "ppo", "runs")  # rooms in the order in which data goes; the others follow
RESULTS = sorted(p.relative_to(REPO).as_posix() for p in REPO.glob("experiments/*/**/*.md"))
SHALLOW = "    options: {show_submodules: false}"
LINK = re.compile(r"(?P<text>!?\[[^\]]*\])\((?P<to>[^)#\s]+)(?P<part>#[^)]*)?\)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The navigation: whatever lies in docs, results, rooms."""
    guides = sorted(p.relative_to(REPO / "docs").as_posix() for p in (REPO / "docs").glob("*.md"))
    config.nav = [
        {"qes_jax": "index.md"},
        {"Guides": guides},
        {"Results": RESULTS},
        {"Reference": ["api/index.md", *(f"api/{room}.md" for room in rooms())]},
    ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that lie elsewhere or are made."""
    made = {"index.md": linked("README.md"), "api/index.md": front()}
    made |= {path: linked(path) for path in RESULTS} | {f"api/{room}.md": page(room) for room in rooms()}
    for path in sorted(REPO.glob("experiments/*/**/*.png")):
        made[path.relative_to(REPO).as_posix()] = path.read_bytes()
    for name, content in made.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """What lies in docs links to the repository's files as they lie there; here they have other places."""
    name = page.file.src_uri
    return relinked(markdown, name, f"docs/{name}") if (REPO / "docs" / name).is_file() else markdown


def linked(source: str) -> str:
    """A text that lies elsewhere in the repository, with links as its page has them."""
    text = (REPO / source).read_text(encoding="utf-8")
    return relinked(text, "index.md" if source == "README.md" else source, source)


def relinked(text: str, name: str, source: str) -> str:
    """Links of the repository's file `source` as they hold on the site's page `name`; text where there is no page.

    What is not in the repository either is left: the build then names it.
    """

    def change(link: re.Match) -> str:
        target = (REPO / source).parent.joinpath(link["to"]).resolve()
        if "://" in link["to"] or not target.exists():
            return link[0]
        place = site_name(target)
        up = "../" * name.count("/")
        return f"{link['text']}({up}{place}{link['part'] or ''})" if place else link["text"].strip("![]")

    return LINK.sub(change, text)


def site_name(target: Path) -> str | None:
    """Where the site has a file of the repository, from the site's top; None where it does not."""
    if target == REPO / "README.md":
        return "index.md"
    if target.is_relative_to(REPO / "docs"):
        return target.relative_to(REPO / "docs").as_posix()
    if target.is_dir():
        target = target / "README.md"
    known = target.suffix in (".md", ".png") and target.is_relative_to(REPO / "experiments")
    return target.relative_to(REPO).as_posix() if known else None


def rooms() -> list[str]:
    """The package's rooms."""
    there = {p.parent.name for p in PACKAGE.glob("*/__init__.py")}
    return [*FIRST, *sorted(there - set(FIRST))]


def front() -> str:
    """The public names, and the rooms with what each is for."""
    lines = [f"- [`qes_jax.{room}`]({room}.md): {first_words(room)}" for room in rooms()]
    return "\n".join(["# Reference", "", "::: qes_jax", SHALLOW, "", "## Rooms", "", *lines, ""])


def first_words(room: str) -> str:
    """The first line of a room's docstring."""
    text = ast.get_docstring(ast.parse((PACKAGE / room / "__init__.py").read_text(encoding="utf-8")))
    return (text or "").partition("\n")[0]


def page(room: str) -> str:
    """A room's page: each of its modules with its public functions and classes."""
    paths = sorted(p.relative_to(PACKAGE.parent).with_suffix("") for p in (PACKAGE / room).rglob("*.py"))
    names = [".".join(p.parts).removesuffix(".__init__") for p in paths]
    blocks = [f"::: {name}\n{SHALLOW}\n" for name in names]
    return "\n".join([f"# {room}", "", *blocks])
