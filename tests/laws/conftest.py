"""Tell at the end how many laws held for how many families."""

import re


def pytest_terminal_summary(terminalreporter):
    held: dict[str, set[str]] = {}
    for report in terminalreporter.stats.get("passed", []):
        law = re.search(r"test_laws\.py::test_(\w+)\[([\w-]+?)(?:-(?:float32|bfloat16))?\]$", report.nodeid)
        if law and report.when == "call":
            held.setdefault(law[1], set()).add(law[2])
    if held:
        families = set().union(*held.values())
        terminalreporter.section("laws")
        terminalreporter.line(f"{len(held)} laws held, {len(families)} families in all")
        for law, names in sorted(held.items()):
            terminalreporter.line(f"  {len(names):3d} families: {law.replace('_', ' ')}")
