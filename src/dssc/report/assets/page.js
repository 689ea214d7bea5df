  // The table of labels, made in the page: nothing is sent anywhere.
  function labelTable() {
    const cell = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const columns = ["index", ...(data.names ? ["name"] : []), "cluster", "confidence", ...(data.classes ? ["class"] : [])];
    const lines = data.labels.map((cluster, sample) => {
      const cells = [String(sample)];
      if (data.names) cells.push(data.names[sample]);
      cells.push(String(cluster), (data.confidence[sample] / 100).toFixed(2));
      if (data.classes) cells.push(classOf(sample));
      return cells.map(cell).join(",");
    });
    return [columns.join(","), ...lines].join("\r\n") + "\r\n";
  }
  document.getElementById("download").addEventListener("click", () => {
    const link = make("a");
    link.href = URL.createObjectURL(new Blob([labelTable()], { type: "text/csv" }));
    link.download = "labels.csv";
    link.click();
    URL.revokeObjectURL(link.href);
  });

  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  document.getElementById("theme").addEventListener("click", () => {
    const now = root.dataset.theme || (dark.matches ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
    draw();
  });
  dark.addEventListener("change", draw);

  // Paper is light, and cannot be unfolded. Cards are printed as they are: there may be many.
  const short = [...document.querySelectorAll("#verdict details, #again details")];
  let before = null;
  window.addEventListener("beforeprint", () => {
    before = { theme: root.dataset.theme, closed: short.filter((details) => !details.open) };
    root.dataset.theme = "light";
    short.forEach((details) => (details.open = true));
    draw();
  });
  window.addEventListener("afterprint", () => {
    if (before.theme) root.dataset.theme = before.theme;
    else delete root.dataset.theme;
    before.closed.forEach((details) => (details.open = false));
    draw();
  });

  new ResizeObserver(draw).observe(embedding);
  draw();
  root.dataset.drawn = "true";
