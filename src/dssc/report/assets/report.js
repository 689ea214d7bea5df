"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const tip = document.getElementById("tip");
  const embedding = document.getElementById("embedding");
  const affinity = document.getElementById("affinity");
  const points = data.points;
  let highlighted = null;
  let current = null;

  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  // A canvas in device pixels, whatever its size on the page.
  function prepare(canvas) {
    const ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    return { context, width, height };
  }

  function colour(cluster, alpha) {
    return `oklch(${css("--dot-l")} ${css("--dot-c")} ${data.hues[cluster]} / ${alpha})`;
  }

  const MARGIN = 14;
  function place(i) {
    const width = embedding.clientWidth - 2 * MARGIN;
    const height = embedding.clientHeight - 2 * MARGIN;
    return [MARGIN + (points.x[i] / data.grid) * width, MARGIN + (1 - points.y[i] / data.grid) * height];
  }

  function drawEmbedding() {
    const { context, width } = prepare(embedding);
    const radius = Math.max(1.8, Math.min(4, width / (7 * Math.sqrt(points.x.length))));
    const full = data.hues.map((_, cluster) => colour(cluster, 0.85));
    const faint = data.hues.map((_, cluster) => colour(cluster, 0.08));
    for (let i = 0; i < points.x.length; i++) {
      const cluster = points.cluster[i];
      context.fillStyle = highlighted === null || highlighted === cluster ? full[cluster] : faint[cluster];
      context.beginPath();
      context.arc(...place(i), radius, 0, 2 * Math.PI);
      context.fill();
    }
    if (current !== null) {
      context.strokeStyle = css("--ink");
      context.lineWidth = 2;
      context.beginPath();
      context.arc(...place(current), radius + 3, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  const side = data.affinity.side;
  const levels = Uint8Array.from(atob(data.affinity.levels), (c) => c.charCodeAt(0));
  const STRIP = 7;

  function rgb(text) {
    const value = parseInt(text.slice(1), 16);
    return [value >> 16, (value >> 8) & 255, value & 255];
  }

  function drawAffinity() {
    const { context, width, height } = prepare(affinity);
    const [paper, ink] = [rgb(css("--card")), rgb(css("--accent"))];
    const image = new ImageData(side, side);
    for (let i = 0; i < levels.length; i++) {
      const share = levels[i] / 255;
      for (let c = 0; c < 3; c++) image.data[4 * i + c] = paper[c] + share * (ink[c] - paper[c]);
      image.data[4 * i + 3] = 255;
    }
    const buffer = document.createElement("canvas");
    buffer.width = buffer.height = side;
    buffer.getContext("2d").putImageData(image, 0, 0);
    context.imageSmoothingEnabled = side > width;
    context.drawImage(buffer, STRIP, STRIP, width - STRIP, height - STRIP);
    context.strokeStyle = css("--line");
    context.strokeRect(STRIP + 0.5, STRIP + 0.5, width - STRIP - 1, height - STRIP - 1);
    let start = 0;
    data.affinity.bounds.forEach((end, cluster) => {
      const [a, b] = [start, end].map((share) => STRIP + share * (width - STRIP));
      context.fillStyle = colour(cluster, 1);
      context.fillRect(a, 0, Math.max(1, b - a - 1), STRIP - 2);
      context.fillRect(0, a, STRIP - 2, Math.max(1, b - a - 1));
      context.strokeStyle = colour(cluster, 0.7);
      context.strokeRect(a + 0.5, a + 0.5, b - a - 1, b - a - 1);
      start = end;
    });
  }

  // Text is set as text: names come from files.
  function showTip(x, y, lines, thumb) {
    tip.replaceChildren();
    if (thumb) tip.append(thumb);
    lines.forEach((line, i) => {
      if (i) tip.append(document.createElement("br"));
      tip.append(line);
    });
    tip.hidden = false;
    const left = Math.min(x + 14, root.scrollLeft + root.clientWidth - tip.offsetWidth - 8);
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${y + 14}px`;
  }

  function hideTip() {
    tip.hidden = true;
    if (current !== null) {
      current = null;
      drawEmbedding();
    }
  }

  function thumbOf(i) {
    if (!data.sheet) return null;
    const { places, columns, rows, width, height } = data.sheet;
    const thumb = document.createElement("span");
    thumb.className = "thumb";
    thumb.style.cssText =
      `--col:${places[i] % columns};--row:${Math.floor(places[i] / columns)};` +
      `--cols:${columns};--rows:${rows};aspect-ratio:${width}/${height}`;
    return thumb;
  }

  function showPoint(i) {
    current = i;
    drawEmbedding();
    const lines = [`sample ${points.index[i]}`, `cluster ${points.cluster[i]}`];
    if (data.names) lines.unshift(data.names[i]);
    if (data.classes) lines.push(`class ${data.classes[i]}`);
    lines.push(`${points.inside[i]}% of its affinity inside`);
    const box = embedding.getBoundingClientRect();
    const [x, y] = place(i);
    showTip(box.left + window.scrollX + x, box.top + window.scrollY + y, lines, thumbOf(i));
  }

  function nearest(x, y) {
    let best = null;
    let distance = 14 ** 2;
    for (let i = 0; i < points.x.length; i++) {
      if (highlighted !== null && points.cluster[i] !== highlighted) continue;
      const [px, py] = place(i);
      const d = (px - x) ** 2 + (py - y) ** 2;
      if (d < distance) [best, distance] = [i, d];
    }
    return best;
  }

  function overEmbedding(event) {
    const i = nearest(event.offsetX, event.offsetY);
    if (i === null) hideTip();
    else if (i !== current) showPoint(i);
  }
  embedding.addEventListener("pointermove", overEmbedding);
  embedding.addEventListener("pointerdown", overEmbedding);
  embedding.addEventListener("pointerleave", hideTip);
  embedding.addEventListener("blur", hideTip);
  embedding.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") hideTip();
    if (!step) return;
    event.preventDefault();
    const allowed = points.x.map((_, i) => i).filter((i) => highlighted === null || points.cluster[i] === highlighted);
    if (!allowed.length) return;
    const at = allowed.indexOf(current);
    showPoint(allowed[at < 0 ? 0 : (at + step + allowed.length) % allowed.length]);
  });

  function overAffinity(event) {
    const inner = affinity.clientWidth - STRIP;
    const [row, column] = [event.offsetY, event.offsetX].map((v) => (v - STRIP) / inner);
    if (row < 0 || column < 0 || row >= 1 || column >= 1) return hideTip();
    const [p, q] = [row, column].map((v) => Math.floor(v * side));
    const [a, b] = [row, column].map((v) => data.affinity.bounds.findIndex((end) => v < end));
    const lines = [a === b ? `inside cluster ${a}` : `from cluster ${a} to cluster ${b}`];
    const order = data.affinity.order;
    if (order) lines.push(`samples ${order[p]} and ${order[q]}`);
    lines.push(levels[p * side + q] ? "connected" : "not connected");
    showTip(event.pageX, event.pageY, lines, null);
  }
  affinity.addEventListener("pointermove", overAffinity);
  affinity.addEventListener("pointerdown", overAffinity);
  affinity.addEventListener("pointerleave", hideTip);

  const chips = [...document.querySelectorAll(".chip")];
  chips.forEach((chip) =>
    chip.addEventListener("click", () => {
      const cluster = Number(chip.dataset.cluster);
      highlighted = highlighted === cluster ? null : cluster;
      chips.forEach((other) => other.setAttribute("aria-pressed", String(Number(other.dataset.cluster) === highlighted)));
      hideTip();
      drawEmbedding();
    })
  );

  function draw() {
    drawEmbedding();
    drawAffinity();
  }
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  document.getElementById("theme").addEventListener("click", () => {
    const now = root.dataset.theme || (dark.matches ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
    draw();
  });
  dark.addEventListener("change", draw);
  new ResizeObserver(draw).observe(embedding);
  draw();
  root.dataset.drawn = "true";
})();
