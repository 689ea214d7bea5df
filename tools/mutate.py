"""Mutation testing: change one operator or constant of the source at a time, and run the tests.

    python tools/mutate.py [--seed 0] [--count 60] [--jobs 1] [--out mutants.jsonl]

takes a seeded sample of all mutants of `FILES`, tests each in a copy of the tree, and prints one
line per mutant: killed (a test fails), slow (the tests do not end) or survived. The tests of a file
run up to the first failure. Compiled kernels are not changed: NumPy twins judge them in
`tests/kernels`.
"""

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILES = [
    *sorted((ROOT / "src/dssc/stochastic").glob("*.py")),
    ROOT / "tests/judge.py",
    ROOT / "benchmarks/hostile_judge.py",
]
# Tests of each file, by its name without ending; the test that mirrors a file belongs to it anyway.
JUDGES = ["tests/test_judge.py", "tests/test_hostile.py"]
SOLVERS = ["tests/stochastic/test_solvers.py"]
SCANS = ["tests/stochastic/test_factored_similarity.py", "tests/stochastic/test_scan.py"]
TRANSPORT = ["tests/stochastic/test_transport.py"]
WORK = ["tests/stochastic/test_work.py"]
TESTS = {
    "judge": JUDGES,
    "hostile_judge": JUDGES,
    **dict.fromkeys(("active_set", "admm", "alternating_projections", "lbfgs"), SOLVERS),
    "marginal_correction": SOLVERS,
    **dict.fromkeys(("factored_similarity", "scan"), SCANS),
    **dict.fromkeys(("transport", "feasibility", "interior_point"), TRANSPORT),
    **dict.fromkeys(("eta2_by_neighbors", "eta2_by_components"), WORK),
}
# Tests of the other files.
OTHERS = [*WORK, "tests/stochastic/test_projection.py"]
# Parts of names of tests that take seconds each, most of the time in all.
LEFT_OUT = (
    "hard_cases",
    "rectangles",
    "two_hundred",
    "whole_matrix and False-0.001",
    "grows_to_the_full",
)
COPIED = ("src", "tests", "benchmarks", "pyproject.toml")
# Tests of one mutant that take longer count as slow. Without one they take less than a minute.
MOST_SECONDS = 180.0

SWAPS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
    ast.Lt: ast.GtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
NAMES = {"min": "max", "max": "min", "maximum": "minimum", "minimum": "maximum"}
NAMES |= {"any": "all", "all": "any"}


class Mutator(ast.NodeTransformer):
    """Apply the mutation with a given number; without one, count them."""

    def __init__(self, number=None):
        self.number, self.count, self.description = number, 0, ""

    def _is_chosen(self, node, description):
        self.count += 1
        if self.count - 1 != self.number:
            return False
        self.description = f"line {node.lineno}: {description}"
        return True

    def _swap(self, node, operator):
        other = SWAPS.get(type(operator))
        names = type(operator).__name__, other.__name__ if other else ""
        if other and self._is_chosen(node, f"{names[0]} -> {names[1]}"):
            return other()
        return operator

    def visit_BinOp(self, node):
        """Swap an arithmetic operator."""
        self.generic_visit(node)
        node.op = self._swap(node, node.op)
        return node

    def visit_AugAssign(self, node):
        """Swap the operator of an assignment."""
        self.generic_visit(node)
        node.op = self._swap(node, node.op)
        return node

    def visit_BoolOp(self, node):
        """Swap "and" and "or"."""
        self.generic_visit(node)
        node.op = self._swap(node, node.op)
        return node

    def visit_Compare(self, node):
        """Swap a comparison."""
        self.generic_visit(node)
        node.ops = [self._swap(node, operator) for operator in node.ops]
        return node

    def visit_UnaryOp(self, node):
        """Drop a sign or a "not"."""
        self.generic_visit(node)
        if self._is_chosen(node, f"{type(node.op).__name__} dropped"):
            return node.operand
        return node

    def visit_Call(self, node):
        """Swap a function for its opposite."""
        self.generic_visit(node)
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name in NAMES and self._is_chosen(node, f"{name} -> {NAMES[name]}"):
            field = "id" if isinstance(node.func, ast.Name) else "attr"
            setattr(node.func, field, NAMES[name])
        return node

    def visit_Constant(self, node):
        """Change a number or a truth value."""
        if isinstance(node.value, bool):
            other = not node.value
        elif isinstance(node.value, int):
            other = node.value + 1
        elif isinstance(node.value, float):
            other = 2 * node.value or 1.0
        else:
            return node
        if self._is_chosen(node, f"{node.value!r} -> {other!r}"):
            return ast.copy_location(ast.Constant(other), node)
        return node


def mutants():
    """Return all mutants as (file, number)."""
    pairs = []
    for path in FILES:
        counter = Mutator()
        counter.visit(ast.parse(path.read_text(encoding="utf-8")))
        pairs += [(path, number) for number in range(counter.count)]
    return pairs


def mutated(path, number):
    """Return the source with one mutation, and its description."""
    mutator = Mutator(number)
    tree = mutator.visit(ast.parse(path.read_text(encoding="utf-8")))
    return ast.unparse(ast.fix_missing_locations(tree)), mutator.description


def tests_for(path):
    """Return the tests of a file, the one that mirrors it first."""
    mirror = f"tests/stochastic/test_{path.stem}.py"
    tests = [mirror] * (ROOT / mirror).exists() + TESTS.get(path.stem, OTHERS)
    return list(dict.fromkeys(tests))


def run_tests(folder, tests, limit):
    """Return whether the tests pass, or None if they take too long, and their seconds."""
    chosen = ["-m", "not slow", "-k", f"not ({' or '.join(f'({part})' for part in LEFT_OUT)})"]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *chosen]
    environment = {
        **os.environ,
        "PYTHONPATH": f"{folder}/src{os.pathsep}{folder}",
        **dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"),
    }
    start = time.monotonic()
    try:
        done = subprocess.run(
            [*command, *tests], cwd=folder, env=environment, capture_output=True, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return None, limit
    if done.returncode not in (0, 1, 2):
        raise RuntimeError(done.stdout.decode() + done.stderr.decode())
    return done.returncode == 0, time.monotonic() - start


class Copies:
    """Copies of the tree, one per job, each with the compiled code of the kernels."""

    def __init__(self, parent, count):
        self.free = []
        for number in range(count):
            folder = Path(parent) / str(number)
            for name in COPIED:
                copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
                folder.mkdir(exist_ok=True)
                copy(ROOT / name, folder / name)
            self.free.append(folder)

    def outcome(self, path, number):
        """Return what the tests say of a mutant."""
        folder = self.free.pop()
        source, description = mutated(path, number)
        target = folder / path.relative_to(ROOT)
        original = target.read_text(encoding="utf-8")
        try:
            target.write_text(source, encoding="utf-8")
            passed, seconds = run_tests(folder, tests_for(path), MOST_SECONDS)
        finally:
            target.write_text(original, encoding="utf-8")
            self.free.append(folder)
        kind = {None: "slow", True: "survived", False: "killed"}[passed]
        name = str(path.relative_to(ROOT))
        return {"file": name, "mutant": description, "outcome": kind, "seconds": round(seconds, 1)}


def main(seed, count, jobs, out):
    """Run a sample of mutants; print and store their outcomes."""
    everything = mutants()
    sample = random.Random(seed).sample(everything, min(count, len(everything)))
    print(f"{len(sample)} of {len(everything)} mutants, seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as parent, ThreadPoolExecutor(jobs) as pool:
        copies = Copies(parent, jobs)
        tests = sorted({test for path, _ in sample for test in tests_for(path)})
        for folder in copies.free:  # compiles
            passed, seconds = run_tests(folder, tests, None)
            assert passed, "the tests fail without a mutant"
        print(f"without a mutant all of them pass in {seconds:.0f} s", flush=True)
        outcomes = []
        for line in pool.map(lambda pair: copies.outcome(*pair), sample):
            outcomes.append(line)
            print(json.dumps(line), flush=True)
            with open(out, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
    for kind in ("killed", "slow", "survived"):
        print(f"{kind}: {sum(line['outcome'] == kind for line in outcomes)}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", default="mutants.jsonl")
    arguments = parser.parse_args()
    main(arguments.seed, arguments.count, arguments.jobs, arguments.out)
