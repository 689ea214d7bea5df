  // Pictures on canvases: the embedding, the affinity of points, and that of clusters.
  const embedding = document.getElementById("embedding");
  const affinity = document.getElementById("affinity");
  const contacts = document.getElementById("contacts");
  const points = data.points;
  let highlighted = null;
  let current = null;

  // A canvas in device pixels, whatever its size on the page.
  function prepare(canvas) {
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    return { context, width, height };
  }

  const MARGIN = 14;
  function place(i) {
    const width = embedding.clientWidth - 2 * MARGIN;
    const height = embedding.clientHeight - 2 * MARGIN;
    return [MARGIN + (points.x[i] / data.grid) * width, MARGIN + (1 - points.y[i] / data.grid) * height];
  }
  const isShown = (i) => highlighted === null || clusterOf(points.index[i]) === highlighted;

  function drawEmbedding() {
    const { context, width } = prepare(embedding);
    const radius = Math.max(1.8, Math.min(4, width / (7 * Math.sqrt(points.x.length))));
    const full = data.hues.map((_, cluster) => colour(cluster, 0.85));
    const faint = data.hues.map((_, cluster) => colour(cluster, 0.08));
    for (let i = 0; i < points.x.length; i++) {
      context.fillStyle = (isShown(i) ? full : faint)[clusterOf(points.index[i])];
      context.beginPath();
      context.arc(...place(i), radius, 0, 2 * Math.PI);
      context.fill();
    }
    if (current === null) return;
    context.strokeStyle = css("--ink");
    context.lineWidth = 2;
    context.beginPath();
    context.arc(...place(current), radius + 3, 0, 2 * Math.PI);
    context.stroke();
  }

  function rgb(text) {
    const value = parseInt(text.slice(1), 16);
    return [value >> 16, (value >> 8) & 255, value & 255];
  }

  // A square of levels from 0 to 1, with the colours of the clusters along its sides.
  const STRIP = 7;
  function drawSquare(canvas, side, level, bounds) {
    const { context, width, height } = prepare(canvas);
    const [paper, ink] = [rgb(css("--card")), rgb(css("--accent"))];
    const image = new ImageData(side, side);
    for (let i = 0; i < side * side; i++) {
      for (let c = 0; c < 3; c++) image.data[4 * i + c] = paper[c] + level(i) * (ink[c] - paper[c]);
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
    bounds.forEach((end, cluster) => {
      const [a, b] = [start, end].map((share) => STRIP + share * (width - STRIP));
      context.fillStyle = colour(cluster, 1);
      context.fillRect(a, 0, Math.max(1, b - a - 1), STRIP - 2);
      context.fillRect(0, a, STRIP - 2, Math.max(1, b - a - 1));
      start = end;
    });
    return { context, width };
  }

  const side = data.affinity.side;
  const levels = Uint8Array.from(atob(data.affinity.levels), (c) => c.charCodeAt(0));
  function drawAffinity() {
    const { context, width } = drawSquare(affinity, side, (i) => levels[i] / 255, data.affinity.bounds);
    let start = 0;
    data.affinity.bounds.forEach((end, cluster) => {
      const [a, b] = [start, end].map((share) => STRIP + share * (width - STRIP));
      context.strokeStyle = colour(cluster, 0.7);
      context.strokeRect(a + 0.5, a + 0.5, b - a - 1, b - a - 1);
      start = end;
    });
  }

  const count = data.hues.length;
  const evenly = data.hues.map((_, cluster) => (cluster + 1) / count);
  function drawContacts() {
    if (!contacts) return;
    const { shares, proved } = data.contacts;
    const level = (i) => Math.min(1, Math.sqrt(shares[i] / 25));
    const { context, width } = drawSquare(contacts, count, level, evenly);
    const step = (width - STRIP) / count;
    context.fillStyle = css("--soft");
    context.font = "12px sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    // The diagonal is empty, and has space for the numbers of the clusters.
    for (let p = 0; p < count && step > 16; p++) context.fillText(p, STRIP + (p + 0.5) * step, STRIP + (p + 0.5) * step);
    for (let i = 0; i < count * count; i++) {
      const [p, q] = [Math.floor(i / count), i % count];
      if (p === q || !proved || !proved[i]) continue;
      context.beginPath();
      context.arc(STRIP + (q + 0.5) * step, STRIP + (p + 0.5) * step, Math.min(3, step / 5), 0, 2 * Math.PI);
      context.fill();
    }
  }

  function showTip(x, y, lines, thumb) {
    tip.replaceChildren(...(thumb ? [thumb] : []));
    lines.forEach((line, i) => tip.append(...(i ? [document.createElement("br")] : []), line));
    tip.hidden = false;
    const left = Math.min(x + 14, root.scrollLeft + root.clientWidth - tip.offsetWidth - 8);
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${y + 14}px`;
  }
  function hideTip() {
    tip.hidden = true;
    if (current === null) return;
    current = null;
    drawEmbedding();
  }

  function showPoint(i) {
    current = i;
    drawEmbedding();
    const box = embedding.getBoundingClientRect();
    const [x, y] = place(i);
    const sample = points.index[i];
    showTip(box.left + window.scrollX + x, box.top + window.scrollY + y, linesOf(sample), thumbOf(sample));
  }

  function nearest(x, y) {
    let best = null;
    let distance = 14 ** 2;
    for (let i = 0; i < points.x.length; i++) {
      if (!isShown(i)) continue;
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
  embedding.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") hideTip();
    if (!step) return;
    event.preventDefault();
    const allowed = points.x.map((_, i) => i).filter(isShown);
    if (!allowed.length) return;
    const at = allowed.indexOf(current);
    showPoint(allowed[at < 0 ? 0 : (at + step + allowed.length) % allowed.length]);
  });
  embedding.addEventListener("blur", hideTip);

  // The place of the pointer in a square, as shares of its sides.
  function sharesAt(canvas, event) {
    const inner = canvas.clientWidth - STRIP;
    const found = [event.offsetY, event.offsetX].map((v) => (v - STRIP) / inner);
    return found.every((v) => v >= 0 && v < 1) ? found : null;
  }
  const pairText = (a, b) => (a === b ? `inside cluster ${a}` : `between clusters ${a} and ${b}`);

  function overAffinity(event) {
    const found = sharesAt(affinity, event);
    if (!found) return hideTip();
    const [p, q] = found.map((v) => Math.floor(v * side));
    const [a, b] = found.map((v) => data.affinity.bounds.findIndex((end) => v < end));
    const lines = [pairText(a, b)];
    const order = data.affinity.order;
    if (order) lines.push(`${nameOf(order[p])} and ${nameOf(order[q])}`);
    lines.push(levels[p * side + q] ? "connected" : "not connected");
    showTip(event.pageX, event.pageY, lines, null);
  }

  function overContacts(event) {
    const found = sharesAt(contacts, event);
    if (!found) return hideTip();
    const [p, q] = found.map((v) => Math.floor(v * count));
    const { shares, joining, proved } = data.contacts;
    const lines = [pairText(p, q)];
    if (p !== q) {
      lines.push(`${shares[p * count + q]}% of the smaller one’s affinity`);
      lines.push(`through ${joining[p * count + q]} and ${joining[q * count + p]} points`);
      if (proved) lines.push(proved[p * count + q] ? "proved separate" : "not proved separate");
    }
    showTip(event.pageX, event.pageY, lines, null);
  }
  [[embedding, overEmbedding], [affinity, overAffinity], [contacts, overContacts]].forEach(([canvas, over]) => {
    if (!canvas) return;
    canvas.addEventListener("pointermove", over);
    canvas.addEventListener("pointerdown", over);
    canvas.addEventListener("pointerleave", hideTip);
  });

  document.getElementById("highlight").addEventListener("change", (event) => {
    highlighted = event.target.value === "" ? null : Number(event.target.value);
    hideTip();
    drawEmbedding();
  });

  function draw() {
    if (!embedding.clientWidth) return; // not laid out yet; it will be drawn when it is
    drawEmbedding();
    drawAffinity();
    drawContacts();
  }

