"""The reference has an entry for every public name, method and fitted attribute."""

import importlib.util
import inspect
import re
from pathlib import Path

import pytest

import dssc
from dssc import make_union_of_subspaces

ROOT = Path(__file__).parents[1]
REFERENCE = (ROOT / "docs" / "reference.md").read_text("utf-8")
LISTED = re.findall(r"^   ([A-Za-z][\w.]*)$", REFERENCE, re.M)


def load_extension():
    """Return the extension of the pages that says which members of a class they show."""
    path = ROOT / "docs" / "_ext" / "class_members.py"
    spec = importlib.util.spec_from_file_location("class_members", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MEMBERS = load_extension()


def resolve(name):
    """Return what a name of the reference means, and its full name."""
    module, _, last = f"dssc.{name}".rpartition(".")
    return getattr(importlib.import_module(module), last), f"{module}.{last}"


CLASSES = [name for name in LISTED if inspect.isclass(resolve(name)[0])]
ESTIMATORS = [name for name in CLASSES if name in dssc.__all__]


def shown(name):
    """Return all that the page of a class shows, and the pages of the classes it inherits from."""
    found = set()
    listed = {resolve(other)[0]: resolve(other)[1] for other in CLASSES}
    for parent in resolve(name)[0].__mro__:
        if parent in listed:
            names = re.findall(r"^ *(\w+(?:, \w+)*) : ", parent.__doc__ or "", re.M)
            found |= {part for entry in names for part in entry.split(", ")}
            found |= set(MEMBERS.documented_methods(listed[parent]))
            found |= set(MEMBERS.documented_properties(listed[parent]))
    return found


def test_every_public_name_is_listed_once():
    assert set(dssc.__all__) <= set(LISTED)
    assert len(LISTED) == len(set(LISTED))


@pytest.mark.parametrize("name", CLASSES)
def test_public_members_are_shown(name):
    cls = resolve(name)[0]
    own = {
        member
        for parent in cls.__mro__
        if parent.__module__.startswith("dssc")
        for member, value in vars(parent).items()
        if not member.startswith("_") and (inspect.isroutine(value) or isinstance(value, property))
    }
    own.discard("set_fit_request")  # scikit-learn adds it where fit takes sample_weight
    assert own <= shown(name), own - shown(name)
    for member in own:
        assert inspect.getdoc(getattr(cls, member)), member


@pytest.mark.parametrize("name", [name for name in CLASSES if not hasattr(resolve(name)[0], "fit")])
def test_fields_of_results_are_described(name):
    fields = getattr(resolve(name)[0], "__dataclass_fields__", {})
    public = {field for field in fields if not field.startswith("_")}
    assert public <= shown(name), public - shown(name)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_fitted_attributes_and_parameters_are_described(name):
    X, _ = make_union_of_subspaces(60, n_subspaces=2, random_state=0)
    model = resolve(name)[0](n_clusters=2, random_state=0)
    if name == "GraphClustering":
        model.set_params(affinity="nearest_neighbors")
    model.fit(X)
    set_by_fit = {key for key in vars(model) if key.endswith("_") and not key.startswith("_")}
    documented = shown(name)
    inherited_from_sklearn = {"n_features_in_", "feature_names_in_"}
    assert set_by_fit - inherited_from_sklearn <= documented, set_by_fit - documented
    assert set(model.get_params()) <= documented, set(model.get_params()) - documented


def test_the_methods_people_look_for_have_an_entry():
    wanted = ["predict", "predict_proba", "transform", "subspace_bases_", "separation", "stability"]
    wanted += ["summary", "labels_for", "explore", "outlier_scores", "subspaces", "fit_predict"]
    assert set(wanted) <= shown("ADSSC")
