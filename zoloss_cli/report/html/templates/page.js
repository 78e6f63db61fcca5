"use strict";
// Without this script all panels are shown below each other; with it, one at a time.
document.documentElement.classList.add("scripted");
const sections = [...document.querySelectorAll("main > section")];
const links = [...document.querySelectorAll("nav a")];
const filters = document.querySelector(".filters");
const tip = document.getElementById("tip");

function show() {
  // The target is a panel or an element in one; a malformed hash must not stop the script.
  const target = [...document.querySelectorAll("main [id]")].find((e) => "#" + e.id === location.hash);
  const current = target?.closest("main > section") || sections[0];
  for (const s of sections) s.hidden = s !== current;
  for (const a of links) {
    if (a.hash === "#" + current.id) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  }
  filters.hidden = !current.querySelector("table.numbers");
  tip.hidden = true;
  filter();
  markScrolling();
  if (target && target !== current) target.scrollIntoView();
  else if (target) scrollTo(0, 0);
}

// -- marks on tables wider than their box -------------------------------------------------------------

function markScrolling() {
  for (const box of document.querySelectorAll(".wide")) {
    box.classList.toggle("scrolls", box.scrollWidth > box.clientWidth + 1);
  }
}

addEventListener("resize", markScrolling);

// -- sorting: ascending, descending, and back to the papers' order -----------------------------------

for (const row of document.querySelectorAll("table.numbers tbody tr")) {
  row.dataset.place = [...row.parentNode.children].indexOf(row);
}

function sort(heading) {
  const table = heading.closest("table");
  const column = Number(heading.dataset.column);
  const next = { none: "ascending", ascending: "descending", descending: "none" }[heading.getAttribute("aria-sort")];
  for (const other of table.querySelectorAll("thead th")) other.setAttribute("aria-sort", "none");
  heading.setAttribute("aria-sort", next);
  const sign = next === "descending" ? -1 : 1;
  const body = table.tBodies[0];
  const number = (row) => parseFloat(row.cells[column].dataset.value ?? "NaN");
  const rows = [...body.rows].sort((a, b) => {
    const byPlace = a.dataset.place - b.dataset.place;
    if (next === "none") return byPlace;
    if (column === 0) return sign * a.dataset.name.localeCompare(b.dataset.name);
    const [x, y] = [number(a), number(b)];
    if (isNaN(x) || isNaN(y)) return isNaN(x) - isNaN(y) || byPlace; // missing values come last
    return sign * (x - y) || byPlace;
  });
  body.append(...rows);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("table.numbers thead button");
  if (button) sort(button.closest("th"));
});

// -- filters: any of the words in the names of data sets and learners --------------------------------

function matcher(text) {
  const words = text.toLowerCase().split(/[\s,]+/).filter(Boolean);
  return (name) => !words.length || words.some((word) => name.toLowerCase().includes(word));
}

function filter() {
  const rowWanted = matcher(filters.elements.datasets.value);
  const columnWanted = matcher(filters.elements.learners.value);
  const onlyDifferent = filters.elements.different.checked;
  for (const table of document.querySelectorAll("table.numbers")) {
    const headings = [...table.tHead.rows[0].cells];
    const columns = headings.map((h, i) => i === 0 || columnWanted(h.dataset.name));
    headings.forEach((h, i) => (h.hidden = !columns[i]));
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const cells = [...row.cells];
      cells.forEach((cell, i) => {
        cell.hidden = !columns[i];
        cell.classList.toggle("faded", onlyDifferent && i > 0 && !cell.classList.contains("warn"));
      });
      const different = cells.some((cell) => !cell.hidden && cell.classList.contains("warn"));
      row.hidden = !rowWanted(row.dataset.name) || (onlyDifferent && !different);
      shown += !row.hidden;
    }
    if (!table.closest("section").hidden) {
      filters.elements.count.value = `${shown} of ${table.tBodies[0].rows.length} data sets`;
    }
  }
}

filters.addEventListener("input", filter);
filters.addEventListener("submit", (event) => event.preventDefault());

// -- tooltips of cells, on hover, focus or tap -------------------------------------------------------

function point(event) {
  const cell = event.target.closest?.("td[data-tip]");
  tip.hidden = !cell;
  if (!cell) return;
  tip.textContent = cell.dataset.tip;
  const at = cell.getBoundingClientRect();
  const below = at.bottom + tip.offsetHeight + 8 < innerHeight;
  tip.style.top = `${below ? at.bottom + 4 : Math.max(4, at.top - tip.offsetHeight - 4)}px`;
  tip.style.left = `${Math.max(4, Math.min(at.left, innerWidth - tip.offsetWidth - 8))}px`;
}

// Roving tabindex: one tab stop per table; arrow keys move between cells.
for (const table of document.querySelectorAll("table.numbers")) {
  [...table.querySelectorAll("td[tabindex]")].forEach((cell, i) => (cell.tabIndex = i ? -1 : 0));
}

function move(event) {
  const cell = event.target.closest?.("table.numbers td");
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  if (!cell || !step) return;
  const rows = [...cell.closest("tbody").rows].filter((row) => !row.hidden);
  const next = rows[rows.indexOf(cell.parentNode) + step[0]]?.cells[cell.cellIndex + step[1]];
  if (!next?.matches("td[tabindex]") || next.hidden) return;
  event.preventDefault();
  cell.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

document.addEventListener("keydown", move);
for (const kind of ["mouseover", "focusin", "click"]) document.addEventListener(kind, point);
document.addEventListener("keydown", (event) => (tip.hidden ||= event.key === "Escape"));
addEventListener("scroll", () => (tip.hidden = true), true);
addEventListener("hashchange", show);
addEventListener("DOMContentLoaded", show);
