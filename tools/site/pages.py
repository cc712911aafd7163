"""Writes the pages of the documentation as a generator of sites needs them: pages.py FOLDER

FOLDER gets docs/ with the pages and their pictures, the pages of the repository's root in docs/project/, mkdocs.yml and
theme/. A link to a file of the source code, which the site does not have, becomes its text. The names of code blocks
("```yaml bench.yaml") become titles.
"""

import posixpath
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Pages of the repository's root that the site has.
PROJECT = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
NAMED = re.compile(r"^(```[a-z]+) (\S+)$", re.MULTILINE)
CODE = re.compile(r"(^```.*?^```$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)


def main(into):
    pages = into / "docs"
    shutil.copytree(ROOT / "docs", pages)
    (pages / "project").mkdir()
    for name in PROJECT:
        shutil.copy(ROOT / name, pages / "project" / name)
    history = pages / "project" / "CHANGELOG.md"
    history.write_text("---\nsearch: {exclude: true}\n---\n" + history.read_text())  # it mentions everything
    shutil.copy(ROOT / "tools/site/mkdocs.yml", into)
    shutil.copytree(ROOT / "tools/site/theme", into / "theme")
    for page in pages.rglob("*.md"):
        page.write_text(adapted(page.read_text(), page.relative_to(pages), pages))


def adapted(text, name, pages):
    """A page's text with links that lead to where the site has their pages."""
    parts = CODE.split(text)
    parts[::2] = [LINK.sub(lambda m: link(m, name, pages), part) for part in parts[::2]]
    return NAMED.sub(r'\1 title="\2"', "".join(parts))


def link(match, name, pages):
    picture, text, target = match.groups()
    path, mark, anchor = target.partition("#")
    if not path or ":" in path:
        return match.group()
    home = "" if name.parts[0] == "project" else "docs"  # the page's folder in the repository
    place = posixpath.normpath(posixpath.join(home, path))
    there = f"project/{place}" if place in PROJECT else posixpath.relpath(place, "docs")
    if (pages / there).is_file():
        return f"{picture}[{text}]({posixpath.relpath(there, name.parent)}{mark}{anchor})"
    return text if (ROOT / place).exists() else match.group()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
