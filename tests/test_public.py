import subprocess
import sys

import pytest

import dssc
from dssc import plotting


def test_importing_is_light():
    heavy = ["numba", "torch", "matplotlib", "sklearn", "scipy", "numpy"]
    code = f"import sys, dssc; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_exists_and_is_documented():
    assert set(dssc.__all__) == set(dssc._HOMES) == set(dir(dssc)) - {"__version__"}
    for name in dssc.__all__:
        assert getattr(dssc, name).__doc__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'nothing'"):
        dssc.nothing  # noqa: B018


def test_plotting_without_matplotlib_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'dssc\[plot\]'"):
        plotting.plot_affinity([[1.0]])
