"""Follows the links of a built site, to pages, sections, pictures and files: links.py FOLDER"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The ids of a page and what it refers to."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.ids.add(value)
            elif name in ("href", "src") and value:
                self.links.append((tag, value))


site = Path(sys.argv[1]).resolve()
pages = {path: Page(path.read_text()) for path in site.rglob("*.html")}
dead, followed = [], 0
for path, page in pages.items():
    if path.name == "404.html":
        continue  # its links begin at the root of the server
    for tag, link in page.links:
        parts = urlsplit(link)
        where = f"{path.relative_to(site)}: {link}"
        if parts.scheme in ("http", "https", "mailto", "data"):
            if tag in ("script", "link", "img") and parts.scheme.startswith("http"):
                dead.append(f"{where}: loads from another server")
            continue
        followed += 1
        there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        if there.is_dir():
            there /= "index.html"
        if not there.is_relative_to(site) or not there.is_file():
            dead.append(f"{where}: no such file")
        elif parts.fragment and there in pages and unquote(parts.fragment) not in pages[there].ids:
            dead.append(f"{where}: no such section")
print(f"{len(pages)} pages, {followed} links")
if len(pages) < 40 or followed < 1000:
    dead.append("the site is not complete")
if dead:
    sys.exit("\n".join(dead))
