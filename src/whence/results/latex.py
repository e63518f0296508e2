"""Text and tables for LaTeX, with every special character escaped."""

from collections.abc import Sequence

# fmt: off
_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}", "[": "{[}", "]": "{]}", "\n": " ",
}
# fmt: on


def latex(text: str) -> str:
    r"""The text as LaTeX shows it literally. A quotation mark asks for `\usepackage[T1]{fontenc}`, as accents do."""
    return "".join(_SPECIAL.get(character, character) for character in text)


def latex_table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A tabular with the rules of the package booktabs."""
    lines = [" & ".join(latex(cell) for cell in row) + r" \\" for row in rows]
    head = " & ".join(latex(name) for name in names) + r" \\"
    begin = rf"\begin{{tabular}}{{{'l' * len(names)}}}"
    return "\n".join([begin, r"\toprule", head, r"\midrule", *lines, r"\bottomrule", r"\end{tabular}", ""])
