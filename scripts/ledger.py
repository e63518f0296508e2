"""Write the pages of docs/reproductions anew from the results that are kept there, and their summary: `make ledger`."""

from pathlib import Path

from whence.reproducing.ledger import rewrite_ledger
from whence.reproducing.study_files import names, read

PAGE = Path(__file__).parents[1] / "docs" / "reproductions.md"

if __name__ == "__main__":
    for page in rewrite_ledger([read(name) for name in names()], PAGE):
        print(page)
