from pathlib import Path
from types import SimpleNamespace

import numpy as np

from dssc.cli.label_table import labels_as_bytes
from dssc.cli.reading.samples import Samples

X = np.ones((3, 2))


def text_of(model, samples):
    return labels_as_bytes(model, samples, Path("labels.csv")).decode()


def test_the_confidence_of_a_model_is_written():
    model = SimpleNamespace(labels_=np.array([0, 1, -1]), confidence_=np.array([1, 0.25, np.nan]))
    text = text_of(model, Samples("t.csv", X, names=["p", "q", "r, s"], name_column="name"))
    assert text == 'name,cluster,confidence\np,0,1.0000\nq,1,0.2500\n"r, s",-1,\n'


def test_samples_that_were_passed_over_are_in_their_place():
    model = SimpleNamespace(labels_=np.array([0, 1]))
    values = np.array([[1.0, 2], [0, 0], [3, 4]])
    images = Samples("photos", values, names=["b", "c", "d"], skipped={0: {"file": "a"}})
    samples = images.check(skip_bad=True)
    assert text_of(model, samples) == "file,cluster\na,-1\nb,0\nc,-1\nd,1\n"
    labels = labels_as_bytes(model, samples, Path("labels.npy"))
    assert labels.endswith(np.array([-1, 0, -1, 1]).tobytes())


def test_rows_of_several_files_are_named_by_both():
    model = SimpleNamespace(labels_=np.array([0, 1]))
    values = np.array([[1.0, 2], [np.nan, 0], [3, 4]])
    samples = Samples("two files", values, files=["a.csv", "a.csv", "b.csv"]).check(skip_bad=True)
    assert text_of(model, samples) == "file,index,cluster\na.csv,0,0\na.csv,1,-1\nb.csv,0,1\n"
