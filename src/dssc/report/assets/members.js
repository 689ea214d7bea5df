  // Members of clusters: thumbnails or names, all of them page by page, and enlarged images.
  const PAGE = 60;
  const viewer = document.getElementById("viewer");

  function thumbOf(sample) {
    if (!places || !places.has(sample)) return null;
    const place = places.get(sample);
    const thumb = make("span", "thumb");
    thumb.style.cssText =
      `--col:${place % sheet.columns};--row:${Math.floor(place / sheet.columns)};` +
      `--cols:${sheet.columns};--rows:${sheet.rows};aspect-ratio:${sheet.width}/${sheet.height}`;
    return thumb;
  }

  function memberOf(sample, all) {
    const thumb = thumbOf(sample);
    const words = linesOf(sample).join(", ");
    if (!thumb) {
      const tag = make("span", "tag", nameOf(sample), make("small", "", `${data.confidence[sample]}%`));
      tag.title = words;
      return tag;
    }
    const button = makeButton("", () => enlarge(sample, all), "member");
    button.append(thumb);
    button.title = words;
    button.setAttribute("aria-label", words);
    return button;
  }

  // Samples with an image come first in a list, so that thumbnails and names do not alternate.
  function listOf(samples) {
    const list = make("div", "list");
    const shown = places ? samples.filter((s) => places.has(s)) : [];
    const named = places ? samples.filter((s) => !places.has(s)) : samples;
    if (shown.length) list.append(make("div", "thumbs", ...shown.map((s) => memberOf(s, shown))));
    if (named.length) list.append(make("div", "tags", ...named.map((s) => memberOf(s))));
    return list;
  }

  // A list of any length, some of it at a time.
  function pagedList(samples) {
    const box = make("div", "paged");
    const last = Math.max(0, Math.ceil(samples.length / PAGE) - 1);
    let page = 0;
    function show(next) {
      page = Math.min(last, Math.max(0, next));
      const part = samples.slice(page * PAGE, (page + 1) * PAGE);
      box.replaceChildren(listOf(part));
      if (!last) return;
      const back = makeButton("← Previous", () => show(page - 1));
      const on = makeButton("Next →", () => show(page + 1));
      back.disabled = page === 0;
      on.disabled = page === last;
      const range = `${page * PAGE + 1}–${page * PAGE + part.length} of ${samples.length.toLocaleString("en")}`;
      box.append(make("p", "tools", back, on, make("span", "soft", range)));
    }
    show(0);
    return box;
  }

  function enlarge(sample, all) {
    const at = all.indexOf(sample);
    const step = (by) => enlarge(all[(at + by + all.length) % all.length], all);
    const image = thumbOf(sample);
    image.style.setProperty("--ratio", sheet.width / sheet.height);
    const words = make("div", "words", ...linesOf(sample).map((line, i) => make("p", i ? "soft" : "", line)));
    const tools = make("p", "tools", makeButton("← Previous", () => step(-1)), makeButton("Next →", () => step(1)));
    tools.append(makeButton("Close", () => viewer.close()));
    viewer.replaceChildren(image, words, tools);
    viewer.onkeydown = (event) => {
      if (event.key === "ArrowRight") step(1);
      if (event.key === "ArrowLeft") step(-1);
    };
    if (!viewer.open) viewer.showModal();
    viewer.focus();
  }
  viewer.addEventListener("click", (event) => event.target === viewer && viewer.close());

  const byCluster = data.hues.map(() => []);
  data.labels.forEach((cluster, sample) => cluster >= 0 && byCluster[cluster].push(sample));

  function group(title, ...content) {
    return make("div", "group", make("h4", "", title), ...content);
  }

  function featureTable(features) {
    const most = Math.max(...features.map((feature) => Math.abs(feature[3])));
    const rows = features.map(([name, inside, outside, difference]) => {
      const bar = make("span", difference < 0 ? "less" : "more");
      bar.style.width = `${(50 * Math.abs(difference)) / most}%`;
      const cells = [inside, outside, `${difference > 0 ? "+" : "−"}${Math.abs(difference).toFixed(1)}`];
      return make("tr", "", make("th", "", name), ...cells.map((text) => make("td", "num", text)), make("td", "sides", bar));
    });
    const heads = ["feature", "mean here", "elsewhere", "difference", ""].map((text, i) => make("th", i && i < 4 ? "num" : "", text));
    const table = make("table", "features", make("thead", "", make("tr", "", ...heads)), make("tbody", "", ...rows));
    return make("div", "scroll", table);
  }

  function contactRow([other, share, joining, samples]) {
    const link = make("a", "", `cluster ${other}`);
    link.href = `#cluster-${other}`;
    const words = make("p", "", link, `: ${share}% of the smaller one’s affinity, through ${joining.toLocaleString("en")} of the members here, above all`);
    return make("div", "contact", words, listOf(samples));
  }

  function fill(card) {
    const body = card.querySelector(".body");
    if (!card.open || body.childElementCount) return;
    const cluster = Number(card.dataset.cluster);
    const { typical, doubtful, touches, features } = data.clusters[cluster];
    const members = byCluster[cluster];
    const both = make("div", "pair");
    if (typical.length) both.append(group("Typical", listOf(typical)));
    if (doubtful.length) both.append(group("Doubtful", listOf(doubtful)));
    body.append(both);
    if (features && features.length) body.append(group("What sets it apart (difference in standard deviations)", featureTable(features)));
    if (touches.length) body.append(group("Touches", ...touches.map(contactRow)));
    const all = make("details", "", make("summary", "", `All ${members.length.toLocaleString("en")} members, the least confident first`));
    all.addEventListener("toggle", () => {
      if (!all.open || all.querySelector(".paged")) return;
      const sorted = [...members].sort((a, b) => data.confidence[a] - data.confidence[b] || a - b);
      all.append(pagedList(sorted));
    });
    body.append(all);
  }
  const cards = [...document.querySelectorAll(".card")];
  cards.forEach((card) => card.addEventListener("toggle", () => fill(card)));
  cards.forEach(fill);
  const openAll = (open) => cards.forEach((card) => (card.open = open));
  document.getElementById("unfold").addEventListener("click", () => openAll(true));
  document.getElementById("fold").addEventListener("click", () => openAll(false));

  // A link to a folded card opens it.
  function openTarget() {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (target && target.matches(".card")) {
      target.open = true;
      target.scrollIntoView();
    }
  }
  window.addEventListener("hashchange", openTarget);
  openTarget();

  // Points of one class in one cluster, below the confusion matrix.
  const confused = document.getElementById("confused");
  const cells = [...document.querySelectorAll(".cell")];
  cells.forEach((cell) =>
    cell.addEventListener("click", () => {
      const [kind, cluster] = [Number(cell.dataset.class), Number(cell.dataset.in)];
      const members = byCluster[cluster].filter((sample) => data.classes[sample] === kind);
      cells.forEach((other) => other.setAttribute("aria-pressed", String(other === cell)));
      const title = `Class ${data.classNames[kind]} in cluster ${cluster}: ${members.length.toLocaleString("en")}`;
      confused.replaceChildren(make("h3", "", title), pagedList(members));
    })
  );

