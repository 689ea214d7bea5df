// Small additions to the pages. Everything works without them, offline and from files.
"use strict";

// Pages opened as files may not read each other, so that search results come without excerpts.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

function addCopyButtons() {
  if (!navigator.clipboard) return;
  for (const block of document.querySelectorAll("div.highlight-python, div.highlight-bash, div.highlight-Python")) {
    const code = block.querySelector("pre");
    const button = document.createElement("button");
    button.className = "copy";
    button.type = "button";
    button.textContent = "copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(code.innerText);
      button.textContent = "copied";
      setTimeout(() => { button.textContent = "copy"; }, 1500);
    });
    block.querySelector("div.highlight").append(button);
  }
}

// The published pages of a version lie in a folder of its name; dev/ is built from main and knows all versions.
async function addVersions() {
  const place = location.pathname.match(/^(.*)\/(dev|stable|\d+(?:\.\d+)+)\/(.*)$/);
  if (!place || !location.protocol.startsWith("http")) return;
  const [, root, current, page] = place;
  const answer = await fetch(`${root}/dev/versions.json`);
  if (!answer.ok) return;
  const select = document.querySelector(".versions select");
  for (const { folder, title } of await answer.json()) {
    select.add(new Option(title, folder, false, folder === current));
  }
  select.addEventListener("change", async () => {
    const same = `${root}/${select.value}/${page}`;
    const found = await fetch(same, { method: "HEAD" });
    location.href = found.ok ? same : `${root}/${select.value}/`;
  });
  select.hidden = false;
}

document.addEventListener("DOMContentLoaded", () => { addCopyButtons(); addVersions(); });
