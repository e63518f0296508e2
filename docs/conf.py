"""The documentation site: Sphinx, MyST-NB (tutorials are run), furo. `make docs` builds it, strictly and offline."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "scripts")]

import whence  # noqa: E402

project = "Whence"
author = "Whence maintainers"
copyright = "Whence maintainers; Apache-2.0"  # noqa: A001
release = version = whence.__version__
language = "en"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "mathml",
    "plugin_pages",
    "root_pages",
]
html_math_renderer = "mathml"
exclude_patterns = ["_build", "_ext", "images", "reproductions/results", "jupyter_execute"]
suppress_warnings = ["config.cache"]
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(torch|numpy|pandas|matplotlib|jaxtyping|pydantic|transformers|typing)\b.*")]

html_theme = "furo"
html_title = f"Whence {release}"
html_static_path = ["_static"]
html_css_files = ["whence.css"]
html_copy_source = False
html_show_sourcelink = False

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist", "html_image"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE / "_build" / "jupyter-cache")
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_merge_streams = True
nb_execution_in_temp = True
nb_kernel_rgx_aliases = {".*": "python3"}

autodoc_typehints = "none"
autodoc_member_order = "bysource"
copybutton_prompt_text = "$ "
