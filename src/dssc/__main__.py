"""Run the command as ``python -m dssc``."""

import sys

from dssc.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
