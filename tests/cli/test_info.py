import json

import numpy as np


def test_info_names_versions_and_threads(run):
    code, out, _ = run("info", "--json")
    environment = json.loads(out)
    assert code == 0
    assert environment["packages"]["numpy"] == np.__version__
    assert environment["threads"]["numba"] >= 1
    assert "numba" in run("info")[1]
