  const root = document.documentElement;
  const tip = document.getElementById("tip");
  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  // The data are JSON that was deflated and written in base64.
  async function unpack(id) {
    const packed = JSON.parse(document.getElementById(id).textContent);
    if (packed === null) return null;
    const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  }
  const data = await unpack("data");
  const sheet = await unpack("sheet");
  const places = sheet && new Map(sheet.samples.map((sample, place) => [sample, place]));

  const clusterOf = (sample) => data.labels[sample];
  const classOf = (sample) => (data.classes ? data.classNames[data.classes[sample]] : null);
  function nameOf(sample) {
    if (data.names) return data.names[sample];
    return (data.someNames && data.someNames[sample]) || `sample ${sample}`;
  }

  // A few lines that describe a sample.
  function linesOf(sample) {
    const lines = [`cluster ${clusterOf(sample)}`, `confidence ${data.confidence[sample]}%`];
    if (data.names || (data.someNames && data.someNames[sample])) lines.unshift(`sample ${sample}`);
    lines.unshift(nameOf(sample));
    if (data.classes) lines.push(`class ${classOf(sample)}`);
    return lines;
  }

  function colour(cluster, alpha) {
    return `oklch(${css("--dot-l")} ${css("--dot-c")} ${data.hues[cluster]} / ${alpha})`;
  }

  // An element; texts are set as text, because names come from files.
  function make(tag, kind, ...content) {
    const element = document.createElement(tag);
    if (kind) element.className = kind;
    element.append(...content);
    return element;
  }
  function makeButton(text, action, kind) {
    const button = make("button", kind, text);
    button.type = "button";
    button.addEventListener("click", action);
    return button;
  }

