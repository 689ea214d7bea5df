"""The report of a real run in a real browser."""

import numpy as np
import pytest

from dssc.cli.main import main
from tests.browser import chromium
from tests.cli.conftest import write_images

COLOURS = """
const canvas = document.getElementById(arguments[0]);
const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
const colours = new Set();
for (let i = 0; i < pixels.length; i += 4) {
  if (pixels[i + 3]) colours.add(pixels.slice(i, i + 3).join());
}
return colours.size;
"""
PLACE = """
const canvas = document.getElementById("embedding");
canvas.scrollIntoView({block: "center"});
const box = canvas.getBoundingClientRect();
const data = JSON.parse(document.getElementById("data").textContent);
const [x, y] = [data.points.x[arguments[0]], data.points.y[arguments[0]]].map((v) => v / data.grid);
return [box.left + 14 + x * (box.width - 28), box.top + 14 + (1 - y) * (box.height - 28)];
"""
MIDDLE = """
const canvas = document.getElementById("affinity");
canvas.scrollIntoView({block: "center"});
const box = canvas.getBoundingClientRect();
return [box.left + box.width / 2, box.top + box.height / 2];
"""
TIP = 'const tip = document.getElementById("tip"); return tip.hidden ? null : tip.innerText;'
PAPER = "return getComputedStyle(document.body).backgroundColor"
CONTRAST = """
const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
const light = (c) => c.slice(0, 3).map((v) => v / 255)
  .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
function paper(element) {
  for (let e = element; e; e = e.parentElement) {
    const colour = numbers(getComputedStyle(e).backgroundColor);
    if (colour.length === 3 || colour[3] === 1) return colour;
  }
}
let worst = [99, ""];
const texts = "h1, h2, h3, h4, p, th, td, button, .name, .value, .text";
for (const e of document.querySelectorAll(texts)) {
  if (!e.innerText.trim()) continue;
  const [a, b] = [light(numbers(getComputedStyle(e).color)), light(paper(e))];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < worst[0]) worst = [ratio, e.outerHTML.slice(0, 80)];
}
return worst;
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The report that the command makes of a folder of images in three classes."""
    folder = tmp_path_factory.mktemp("run")
    rng = np.random.default_rng(0)
    patterns = rng.uniform(0, 120, (3, 2, 12, 12))
    weights = rng.uniform(0.2, 1, (90, 2))
    images = [np.tensordot(w, patterns[i % 3], 1) for i, w in enumerate(weights)]
    names = [f"<b>kind {i % 3}</b>/{i}.png" for i in range(90)]
    write_images(folder / "pictures", images, names)
    path = folder / "report.html"
    arguments = [
        "cluster", folder / "pictures", "-k", 3, "--features", "raw", "--labels", "folders",
        "-o", folder / "labels.csv", "--report", path, "-q",
    ]  # fmt: skip
    assert main([str(argument) for argument in arguments]) == 0
    return path


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


def test_a_reader_can_look_hover_and_switch(browser, report):
    browser.resize(1200, 900)
    browser.prefer("light")
    browser.open(report)
    assert browser.run("return document.documentElement.dataset.drawn") == "true"
    assert browser.run(COLOURS, "embedding") > 3
    assert browser.run(COLOURS, "affinity") > 3
    assert browser.run("return document.querySelectorAll('#spectrum circle').length") == 9
    assert browser.run("return document.querySelectorAll('.members .thumb').length") == 3 * 16

    browser.hover(*browser.run(PLACE, 7))
    tip = browser.run(TIP)
    assert "<b>kind" in tip  # as text
    assert "sample " in tip
    assert "cluster " in tip
    assert browser.run("return document.querySelectorAll('#tip .thumb').length") == 1
    browser.hover(5, 5)
    assert browser.run(TIP) is None

    browser.hover(*browser.run(MIDDLE))
    assert "cluster " in browser.run(TIP)
    browser.hover(5, 5)

    browser.type("#embedding", "\ue014")  # the right arrow key
    assert "sample " in browser.run(TIP)

    before = browser.run(PAPER)
    browser.click("#theme")
    assert browser.run(PAPER) != before
    browser.click("#theme")
    assert browser.run(PAPER) == before

    browser.click('.chip[data-cluster="1"]')
    pressed = "return document.querySelector('.chip[aria-pressed=true]').dataset.cluster"
    assert browser.run(pressed) == "1"

    assert browser.log("browser") == []
    asked = browser.requests()
    assert asked[0] == report.resolve().as_uri()
    assert [address for address in asked[1:] if not address.startswith("data:")] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 360])
def test_it_fits_and_can_be_read(browser, report, scheme, width):
    browser.resize(width, 800)
    browser.prefer(scheme)
    browser.open(report)
    assert browser.run("return document.documentElement.scrollWidth") <= width
    ratio, element = browser.run(CONTRAST)
    assert ratio >= 4.5, element


def test_every_picture_has_a_text(browser, report):
    browser.open(report)
    pictures = ("canvas", "svg", ".members .thumb")
    unnamed = ", ".join(f"{picture}:not([aria-label])" for picture in pictures)
    assert browser.run("return document.querySelectorAll(arguments[0]).length", unnamed) == 0
