"""The site: Sphinx reads the repository's own pages, with README.md as the first one. `make docs` builds it.

The pages are plain Markdown that also reads well without a site; docs/README.md lists them, and that list is the
site's menu. What only the site has is in tools/site_parts.py: the menu, downloads of the gallery, llms.txt.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tools"))
from mfbai import __version__  # noqa: E402

project = "mfbai"
author = "the mfbai developers"
copyright = author
version = release = __version__
language = "en"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx_copybutton", "docstrings", "site_parts"]
root_doc = "README"
include_patterns = ["*.md", "docs/*.md", "docs/**/*.md", "examples/**/*.md", "examples/**/*.ipynb"]
exclude_patterns = [".*", "build", "dist", "src", "tests"]

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4  # links to headings are as on code hosts
nb_execution_mode = "auto"  # what has no outputs yet: `make notebook` gives the example notebook its own
nb_execution_raise_on_error = True
nb_execution_timeout = 600  # of a cell: kernels may have to compile
nb_execution_show_tb = True
nb_execution_in_temp = True
nb_merge_streams = True
nb_number_source_lines = False
nb_code_prompt_show = "Show the code"
nb_code_prompt_hide = "Hide the code"
suppress_warnings = ["mystnb.unknown_mime_type"]

copybutton_prompt_text = r"\$ |>>> |\.\.\. "  # the button copies what one types, without prompts and output
copybutton_prompt_is_regexp = True

autodoc_member_order = "bysource"
autodoc_typehints = "none"
toc_object_entries = False  # the headings of docs/api are the names

html_theme = "furo"
html_title = f"mfbai {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = True
html_favicon = "../src/mfbai/web/static/icon.svg"
html_show_search_summary = False  # pages opened from the disk may not read each other
html_show_sourcelink = False
pygments_style = "default"
pygments_dark_style = "monokai"
html_theme_options = {"navigation_with_keys": True, "footer_icons": []}
