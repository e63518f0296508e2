"""Programs that draw and judge saved tables where torch cannot be imported."""

WITHOUT_TORCH = """
import sys

class Refused:
    def find_spec(self, name, *_):
        if name.split(".")[0] in ("torch", "transformers"):
            raise ImportError(f"{name} is not to be imported")

sys.meta_path.insert(0, Refused())
from whence.cli import main
"""


JUDGED = """
import pandas as pd
from whence.results.experiment import experiment
table, name = pd.read_parquet(sys.argv[1]), sys.argv[2]
assert experiment(name).figure(table).axes
print(experiment(name).verdict(table).sentence)
"""
