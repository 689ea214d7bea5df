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
    assert set(dssc.__all__) == set(dir(dssc)) - {"__version__"}
    for name in dssc.__all__:
        public = getattr(dssc, name)
        assert public.__doc__
        assert public.__module__.startswith("dssc.")


def test_names_of_quick_modules_do_not_load_the_others():
    code = "import sys, dssc; dssc.resize_images; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "False"


def test_names_can_be_imported_with_a_star():
    names = {}
    exec("from dssc import *", names)
    assert set(dssc.__all__) <= set(names)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'nothing'"):
        dssc.nothing  # noqa: B018


def test_plotting_without_matplotlib_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'dssc\[plot\]'"):
        plotting.plot_affinity([[1.0]])
