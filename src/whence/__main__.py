"""`python -m whence`: the command line."""

import sys

from whence.cli import main

if __name__ == "__main__":
    sys.argv[0] = "whence"  # what the manifest says was run
    main()
