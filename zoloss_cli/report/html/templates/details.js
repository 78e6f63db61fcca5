// The dialog: an enlarged figure, or the splits of a table row.
const detail = document.getElementById("detail");
const content = detail.querySelector(".content");
let putBack = () => {};

function open(title, ...nodes) {
  document.getElementById("detail-title").textContent = title;
  content.replaceChildren(...nodes);
  detail.showModal();
}

detail.addEventListener("close", () => (putBack(), (putBack = () => {}), content.replaceChildren()));
detail.querySelector(".close").addEventListener("click", () => detail.close());
detail.addEventListener("click", (event) => event.target === detail && detail.close());

function make(name, text = "", attributes = {}) {
  const element = document.createElement(name);
  element.textContent = text;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

function addButton(place, text, label, action) {
  const button = make("button", text, { type: "button", class: "button", "aria-label": label });
  button.addEventListener("click", action);
  place.append(button);
  return button;
}

function save(text, type, name) {
  const link = make("a", "", { download: name, href: URL.createObjectURL(new Blob([text], { type })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// -- figures ---------------------------------------------------------------------------------------------

function enlarge(svg, title) {
  const mark = document.createComment("");
  svg.replaceWith(mark); // moved, not copied: the ids in it must stay unique
  putBack = () => mark.replaceWith(svg);
  open(title, svg);
}

for (const figure of document.querySelectorAll("figure")) {
  const tools = make("p", "", { class: "tools" });
  const drawings = [...figure.querySelectorAll("svg")];
  drawings.forEach((svg, i) => {
    const page = drawings.length > 1 ? ` ${i + 1}` : "";
    const title = svg.getAttribute("aria-label") + (page && `, page${page}`);
    addButton(tools, `Enlarge${page}`, `Enlarge ${title}`, () => enlarge(svg, title));
    addButton(tools, `SVG${page}`, `Save ${title} as SVG`, () => {
      const name = figure.dataset.name + (i ? `-${i + 1}` : "");
      save(new XMLSerializer().serializeToString(svg), "image/svg+xml", `${name}.svg`);
    });
    svg.addEventListener("click", () => detail.open || enlarge(svg, title));
  });
  figure.insertBefore(tools, figure.querySelector("figcaption"));
}

// -- the values of each split ----------------------------------------------------------------------------

const loaded = new Map();

async function load(section) {
  if (!loaded.has(section)) {
    const packed = section.querySelector("template.splits").content.textContent;
    const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    loaded.set(section, JSON.parse(await new Response(stream).text()));
  }
  return loaded.get(section);
}

function unpack(cell) {
  const values = cell.values ?? [...cell.codes].map((c) => cell.distinct[c.charCodeAt(0) - 35]);
  return { values, splits: cell.splits ?? values.map((_, i) => i) };
}

function quote(text) {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function listRows(datasets) {
  const rows = [["dataset", "learner", "split", "value"]];
  for (const [dataset, cells] of Object.entries(datasets)) {
    for (const [learner, cell] of Object.entries(cells)) {
      const { values, splits } = unpack(cell);
      values.forEach((value, i) => rows.push([dataset, learner, splits[i], value]));
    }
  }
  return rows.map((row) => row.map((part) => quote(String(part))).join(",")).join("\n") + "\n";
}

function summarize(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share) => {
    const place = share * (sorted.length - 1);
    const low = Math.floor(place);
    return sorted[low] + (place - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
  };
  const [q1, median, q3] = [at(0.25), at(0.5), at(0.75)];
  const inside = sorted.filter((v) => v >= q1 - 1.5 * (q3 - q1) && v <= q3 + 1.5 * (q3 - q1));
  const outside = new Set(sorted.filter((v) => v < inside[0] || v > inside[inside.length - 1]));
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  return { q1, median, q3, mean, low: inside[0], high: inside[inside.length - 1], outside, sorted };
}

function chooseStep(range) {
  const rough = range / 6 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((m) => m * power).find((step) => step >= rough);
}

function drawBoxes(cells, metric) {
  const names = Object.keys(cells);
  const boxes = names.map((name) => summarize(unpack(cells[name]).values));
  const [low, high] = [Math.min(...boxes.map((b) => b.sorted[0])), Math.max(...boxes.map((b) => b.sorted.at(-1)))];
  const [left, width, row] = [170, 560, 30];
  const x = (value) => left + 10 + ((value - low) / (high - low || 1)) * (width - 20);
  const parts = [];
  const step = chooseStep(high - low);
  for (let tick = Math.ceil(low / step) * step; tick <= high + 1e-9; tick += step) {
    const at = x(tick).toFixed(1);
    parts.push(`<path class="grid" d="M${at} 0V${row * names.length}"/>`);
    parts.push(`<text x="${at}" y="${row * names.length + 16}" text-anchor="middle">${+tick.toPrecision(6)}</text>`);
  }
  boxes.forEach((b, i) => {
    const y = row * i + row / 2;
    const [p, q, r, s] = [b.low, b.q1, b.q3, b.high].map((v) => x(v).toFixed(1));
    parts.push(`<path d="M${p} ${y}H${q}M${r} ${y}H${s}M${p} ${y - 5}v10M${s} ${y - 5}v10M${q} ${y - 9}H${r}v18H${q}z"/>`);
    parts.push(`<path class="median" d="M${x(b.median).toFixed(1)} ${y - 9}v18"/>`);
    for (const v of b.outside) parts.push(`<circle cx="${x(v).toFixed(1)}" cy="${y}" r="2"/>`);
    const m = x(b.mean);
    parts.push(`<path class="mean" d="M${m - 4} ${y}l4 -4 4 4 -4 4z"/>`);
  });
  const height = row * names.length + 40;
  const svg = make("div", "", { class: "boxes" });
  svg.innerHTML =
    `<svg viewBox="0 0 ${left + width} ${height}" role="img" xmlns="http://www.w3.org/2000/svg">${parts.join("")}</svg>`;
  names.forEach((name, i) => {
    const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
    text.textContent = name; // as text: a name may look like markup
    text.setAttribute("x", left - 6);
    text.setAttribute("y", row * i + row / 2 + 4);
    text.setAttribute("text-anchor", "end");
    svg.firstChild.append(text);
  });
  const axis = document.createElementNS("http://www.w3.org/2000/svg", "text");
  axis.textContent = metric;
  axis.setAttribute("x", left + width / 2);
  axis.setAttribute("y", height - 4);
  axis.setAttribute("text-anchor", "middle");
  svg.firstChild.append(axis);
  svg.firstChild.setAttribute("aria-label", `Box plots of ${metric}: ${names.join(", ")}`);
  return svg;
}

function listSplits(cells) {
  const names = Object.keys(cells);
  const found = names.map((name) => unpack(cells[name]));
  const at = found.map(({ values, splits }) => new Map(splits.map((split, i) => [split, values[i]])));
  const splits = [...new Set(found.flatMap((f) => f.splits))].sort((a, b) => a - b);
  const table = make("table", "", { class: "plain" });
  const head = table.createTHead().insertRow();
  for (const name of ["split", ...names]) head.append(make("th", name, { scope: "col" }));
  const body = table.createTBody();
  for (const split of splits) {
    const row = body.insertRow();
    row.append(make("th", split, { scope: "row" }));
    for (const values of at) row.append(make("td", values.get(split) ?? ""));
  }
  return table;
}

async function showSplits(section, dataset) {
  const { metric, cells } = await load(section);
  const here = cells[dataset];
  const note = "Boxes: quartiles and median; diamonds: means; whiskers: at most 1.5 box lengths.";
  const all = make("details");
  all.append(make("summary", "The value of each split"));
  all.addEventListener("toggle", () => {
    if (all.children.length > 1) return;
    const box = make("div", "", { class: "wide", tabindex: 0 });
    box.append(listSplits(here));
    all.append(box);
  });
  const tools = make("p", "", { class: "tools" });
  addButton(tools, "CSV", `Save the splits of ${dataset}`, () =>
    save(listRows({ [dataset]: here }), "text/csv", `${section.id}-${dataset}.csv`),
  );
  const count = Math.max(...Object.values(here).map((cell) => unpack(cell).values.length));
  open(`${dataset}: ${metric} over ${count} splits`, drawBoxes(here, metric), make("p", note, { class: "note" }), tools, all);
}

for (const template of document.querySelectorAll("template.splits")) {
  const section = template.closest("section");
  addButton(section.querySelector(".tools"), "CSV of all splits", "Save the values of all splits as CSV", async () =>
    save(listRows((await load(section)).cells), "text/csv", `${section.id}-splits.csv`),
  );
  for (const heading of section.querySelectorAll("table.numbers tbody th")) {
    const name = heading.textContent;
    const label = `${name}: box plots and values of each split`;
    const button = make("button", name, { type: "button", class: "row", title: label, "aria-haspopup": "dialog" });
    button.addEventListener("click", async () => {
      if (Object.hasOwn((await load(section)).cells, name)) showSplits(section, name);
      else open(name, make("p", "These results are for the whole set: there is one value, and no splits."));
    });
    heading.replaceChildren(button);
  }
}
