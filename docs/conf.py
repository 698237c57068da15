# SPDX-License-Identifier: Apache-2.0
# `python -m sphinx -W -b html docs build/docs`, with docs/requirements.txt installed. Warnings are errors.
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
project = "TorchCudaStack"
author = "The TorchCudaStack authors"
release = version = (ROOT / "VERSION").read_text(encoding="utf-8").strip()

extensions = ["myst_parser", "sphinxcontrib.moderncmakedomain"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
primary_domain = "cmake"
html_theme = "furo"
html_title = f"TorchCudaStack {version}"
myst_heading_anchors = 4
# Each finding's page is reached from the list of its language; tests/pages holds all links, those into the sources too.
suppress_warnings = ["toc.not_included", "myst.xref_missing", "myst.domains"]
