import sys
from datetime import date

import numpy as np
import pytest

from dssc.cli.exits import CommandError
from dssc.cli.reading.dispatch import read_samples
from dssc.cli.reading.reader import ReadOptions

ROWS = [["name", "x", "y", "kind"], ["p", 1, 2.5, "u"], [], ["q", None, 4, "v"]]


def write(path, **sheets):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_a_sheet(tmp_path):
    path = write(tmp_path / "t.xlsx", one=ROWS)
    samples = read_samples(path, ReadOptions(id="name", labels="kind"))
    np.testing.assert_array_equal(samples.values, [[1, 2.5], [np.nan, 4]])
    assert samples.identification() == {"name": ["p", "q"]}
    assert samples.labels.tolist() == ["u", "v"]
    assert samples.lines == [2, 4]


def test_several_sheets_need_a_key(tmp_path):
    path = write(tmp_path / "t.xlsx", one=ROWS, two=[[1, 2], [3, 4]])
    with pytest.raises(CommandError, match="2 sheets; name one with --key: 'one', 'two'"):
        read_samples(path)
    with pytest.raises(CommandError, match="no sheet 'three'; it has 'one', 'two'"):
        read_samples(path, ReadOptions(key="three"))
    np.testing.assert_array_equal(
        read_samples(path, ReadOptions(key="two")).values, [[1, 2], [3, 4]]
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (["p", "1,5", 2], r"t\.xlsx, row 2, column 'x': '1,5' is not a number"),
        (["p", date(2020, 1, 2), 2], "row 2, column 'x': '2020-01-02.*' is not a number"),
        (["p", 1, 2, 3, 4], "row 2: 5 cells where the first row has 4"),
        ([None, 1, 2, "u"], "row 2: the column of names 'name' is empty"),
    ],
)
def test_a_wrong_cell_has_a_place(tmp_path, row, message):
    path = write(tmp_path / "t.xlsx", one=[ROWS[0], row])
    with pytest.raises(CommandError, match=message):
        read_samples(path, ReadOptions(id="name", drop=["kind"]))


def test_without_openpyxl_the_extra_is_named(tmp_path, monkeypatch):
    (tmp_path / "t.xlsx").write_bytes(b"PK")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(CommandError, match=r"pip install 'dssc\[tables\]'"):
        read_samples(tmp_path / "t.xlsx")
