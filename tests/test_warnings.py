import linecache
import threading
import warnings

import pytest
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline

from dssc._warnings import warn_user


def in_module(name, source):
    """Run source code as if it were the module `name`, and return its names."""
    names = {"__name__": name, "warn_user": warn_user}
    exec(compile(source, f"{name}.py", "exec"), names)
    return names


INSIDE = in_module(
    "dssc.spectral.inside",
    "def inner():\n    warn_user('too many pieces', RuntimeWarning)\n\ndef outer():\n    inner()\n",
)


def line_of(record):
    """Return the line of this file that the only recorded warning points at."""
    assert len(record) == 1
    assert record[0].filename == __file__
    return linecache.getline(__file__, record[0].lineno).strip()


def test_points_at_the_line_that_called_the_package():
    with pytest.warns(RuntimeWarning, match="too many pieces") as record:
        INSIDE["outer"]()
    assert line_of(record) == 'INSIDE["outer"]()'


def test_a_direct_call_points_at_itself():
    with pytest.warns(UserWarning, match="here") as record:
        warn_user("here", UserWarning)
    assert line_of(record) == 'warn_user("here", UserWarning)'


def test_skips_the_frames_of_wrappers():
    wrapper = in_module("joblib.parallel", "def call(function):\n    function()\n")["call"]
    with pytest.warns(RuntimeWarning, match="too many pieces") as record:
        wrapper(INSIDE["outer"])
    assert line_of(record) == 'wrapper(INSIDE["outer"])'


def test_skips_the_frames_of_a_pipeline():
    class Warns(BaseEstimator):
        fit = in_module(
            "dssc.estimators.example",
            "def fit(self, X, y=None):\n    warn_user('x', UserWarning)\n    return self\n",
        )["fit"]

    with pytest.warns(UserWarning, match="x") as record:
        make_pipeline(Warns()).fit([[0.0]])
    assert line_of(record) == "make_pipeline(Warns()).fit([[0.0]])"


def test_packages_of_a_similar_name_are_the_users():
    outside = in_module("dssc_tools", "def call(function):\n    function()\n")["call"]
    with pytest.warns(RuntimeWarning, match="too many pieces") as record:
        outside(INSIDE["outer"])
    assert (record[0].filename, record[0].lineno) == ("dssc_tools.py", 2)


def test_warns_in_a_thread_without_a_line_of_the_user():
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        thread = threading.Thread(target=INSIDE["outer"])
        thread.start()
        thread.join()
    assert [str(warning.message) for warning in record] == ["too many pieces"]
    assert record[0].filename.endswith("threading.py")
