"""Corpora of 10³ to 10⁶ rows: time and peak memory of `whence run score --limit 50` on a CSV table of so many rows.

One process for each size, measured from outside (`resource.getrusage`): imports, the model and the evaluation of
fifty texts are in all of them, so what grows is reading. The last column is without what the smallest table takes.
"""

import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from whence.api import train

SIZES = (10**3, 10**4, 10**5, 10**6)
WORDS = ("film", "plot", "actor", "scene", "music", "end", "good", "bad", "dull", "great", "a", "the", "of", "is")


def report() -> str:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train("additive", "reviews", out=folder / "model", epochs=1, limit=400)
        rows = [measured(folder, n) for n in SIZES]
    least = rows[0][0]
    lines = ["| rows | size | CPU | wall | peak memory | CPU above the smallest |", "|---|---|---|---|---|---|"]
    for n, (cpu, wall, memory, size) in zip(SIZES, rows, strict=True):
        lines.append(f"| {n:,} | {size:.1f} MB | {cpu:.1f} s | {wall:.1f} s | {memory:.0f} MB | {cpu - least:.1f} s |")
    return "\n".join(lines)


def write_table(path: Path, n: int) -> Path:
    rng = random.Random(0)
    with path.open("w") as file:
        file.write("text,label\n")
        for _ in range(n):
            words = rng.choices(WORDS, k=rng.randint(5, 30))
            quoted = f'"{" ".join(words)}, so"' if rng.random() < 0.3 else " ".join(words)
            file.write(f"{quoted},{rng.choice(('negative', 'positive'))}\n")
    return path


def measured(folder: Path, n: int) -> tuple[float, float, float, float]:
    """CPU seconds, wall seconds, MB of peak memory and MB of the table."""
    table = write_table(folder / f"{n}.csv", n)
    command = [sys.executable, __file__, str(folder / "model"), str(table), str(folder / f"out-{n}")]
    found = subprocess.check_output(command, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    cpu, wall, memory = map(float, found.splitlines()[-1].split())
    return cpu, wall, memory, table.stat().st_size / 1e6


def child(model: str, table: str, out: str) -> None:
    """Run the command in a process of its own, and print what it took."""
    import time

    began = time.perf_counter()
    words = ["run", "score", "--model", model, "--data", table, "--limit", "50", "--quiet", "--out", out]
    subprocess.run([sys.executable, "-m", "whence", *words], check=True, stdout=subprocess.DEVNULL)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(used.ru_utime + used.ru_stime, time.perf_counter() - began, used.ru_maxrss / 1024)


if __name__ == "__main__":
    child(*sys.argv[1:])
