"""Writes the pages of the documentation as a generator of sites needs them: pages.py FOLDER

FOLDER gets docs/ with the pages and their pictures, the pages of the repository's root in docs/project/, mkdocs.yml and
theme/. The navigation is that of the tables in docs/README.md: a section for each row. A link to a file of the source code, which the site does not have, becomes its text. The names of code blocks
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
    settings = (ROOT / "tools/site/mkdocs.yml").read_text()
    (into / "mkdocs.yml").write_text(settings + navigation((ROOT / "docs/README.md").read_text()))
    shutil.copytree(ROOT / "tools/site/theme", into / "theme")
    for page in pages.rglob("*.md"):
        page.write_text(adapted(page.read_text(), page.relative_to(pages), pages))


def navigation(index):
    """The setting nav: a section for each row of the index, or one for a table that names other tools."""
    sections, seen = {"Start": ["README.md"]}, {"README.md"}
    for heading, table in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", index, re.MULTILINE | re.DOTALL):
        for row in re.findall(r"^\| (.*?) \| (.*) \|$", table, re.MULTILINE):
            name = row[0].capitalize() if heading == "By task" else heading
            for _, _, target in LINK.findall(row[1]):
                path = target.partition("#")[0]
                path = path.replace("../", "project/")
                if path and path not in seen:
                    seen.add(path)
                    sections.setdefault(name, []).append(path)
    return "nav:\n" + "".join(f"  - {name}: [{', '.join(paths)}]\n" for name, paths in sections.items())


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
