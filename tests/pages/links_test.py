#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Links between the repository's own pages lead somewhere, and each page can be reached from README.md."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = {".git", "build", "node_modules"}


def pages():
    for path in sorted(ROOT.rglob("*.md")):
        if not SKIPPED & set(path.relative_to(ROOT).parts):
            yield path


def prose(text):
    """Without code: what stands there is no link."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(text):
    """As GitHub makes them of headings."""
    found = set()
    for title in re.findall(r"^#+ +(.*)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), flags=re.M):
        title = re.sub(r"\]\([^)]*\)", "", title).lower().strip()
        found.add(re.sub(r"[^\w\- ]", "", title).replace(" ", "-"))
    return found


def main():
    texts = {path: path.read_text(encoding="utf-8") for path in pages()}
    wrong, leads = [], {path: set() for path in texts}
    for path, text in texts.items():
        name = path.relative_to(ROOT)
        for link in re.findall(r"\]\(([^)\s]+)\)", prose(text)):
            if "://" in link or link.startswith("mailto:"):
                continue
            file, _, anchor = link.partition("#")
            target = (path.parent / file).resolve() if file else path
            if not target.exists():
                wrong.append(f"{name}: nothing is at {link}")
            elif target in texts:
                leads[path].add(target)
                if anchor and anchor not in anchors(texts[target]):
                    wrong.append(f"{name}: {link}: no such heading")
        # Named without a link, in text or in what is printed.
        for file in re.findall(r"(?<![\w/])(docs/[\w/.-]+\.(?:md|json))\b", text):
            if not (ROOT / file).exists():
                wrong.append(f"{name}: {file} is not there")
            elif ROOT / file in texts:
                leads[path].add(ROOT / file)
    seen, queue = set(), [ROOT / "README.md"]
    while queue:
        path = queue.pop()
        if path not in seen:
            seen.add(path)
            queue += leads[path]
    wrong += [f"{path.relative_to(ROOT)}: no page leads here" for path in sorted(set(texts) - seen)]
    print("\n".join(wrong) or f"{len(texts)} pages, all links lead somewhere")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
