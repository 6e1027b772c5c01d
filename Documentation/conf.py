# SPDX-License-Identifier: MIT
"""Sphinx configuration; `make docs` runs it."""
import os
import sys

# The folder of the sources stays as it is.
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "sphinx"))

project = "NNPU"
extensions = ["headerdoc"]
exclude_patterns = ["sphinx"]
highlight_language = "none"
html_theme = "alabaster"
html_theme_options = {"page_width": "70em"}
html_copy_source = False
