"""The command `dssc`: clusterings, reports and projections without writing code."""

import argparse
from typing import TypeAlias

# What `add_parser` of a subcommand takes; argparse has no public name for it.
Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
