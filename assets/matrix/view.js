// One matrix: its numbers, how they look, and the grid that a keyboard and a screen reader meet.
// The picture is on the board's canvas; of the grid only the selected cell and its two headers exist.

const PLAIN = 0;
const MASKED = 1; // -inf or inf
const MISSING = 2; // NaN
const EMPTY = 3; // a share of exactly 0
const SHORT_LEGEND = 110; // a legend narrower than this also takes the room under the row labels
let viewsMade = 0;

class View {
  constructor(stage) {
    this.nodes = newNodes(stage, `matrix-${++viewsMade}`);
    this.nodes.grid.cellText = (row, col) => this.textOf(row, col);
    this.tile = document.createElement("canvas"); // one pixel for each cell
    this.shown = null; // the colours on screen, RGBA for each cell
    this.from = null; // while they fade: the colours they come from
  }

  remove() {
    for (const name of ["title", "lead", "grid", "legend"]) this.nodes[name].remove();
  }

  // --- the numbers ---

  receive(data, mode) {
    const sameShape = this.rows === data.rows && this.cols === data.cols;
    Object.assign(this, data);
    this.changed = data.changed && bytesOf(data.changed);
    this.origin = data.origin && new Int32Array(bytesOf(data.origin).buffer);
    this.kinds = Uint8Array.from(this.values, (value) => kindOf(value, data.colours));
    this.oddKinds = [MASKED, EMPTY, MISSING].filter((kind) => this.kinds.includes(kind));
    this.numbers = !data.small && data.rows <= NUMBERS && data.cols <= NUMBERS;
    this.texts = this.numbers ? Array.from(this.values, (value) => cellText(value, data.decimals)) : null;
    this.extremes = extremes(this.values, 0, this.values.length);
    this.range = this.extremes && this.extremes.map((i) => this.values[i]);
    this.dress(mode);
    if (!sameShape) this.settle();
  }

  textOf(row, col) {
    return cellText(this.valueOf(row, col), this.decimals);
  }

  valueOf(row, col) {
    return this.values[row * this.cols + col];
  }

  // The colours for light or dark that the numbers ask for.
  dress(mode) {
    this.mode = mode;
    this.ends = scaleEnds(this.colours, ...widened(this.range, this.limits));
    this.table = this.origin ? null : table(this.colours, mode);
    this.target = new Uint8ClampedArray(4 * this.values.length).fill(255);
    for (let i = 0; i < this.values.length; i++) this.target.set(this.colourAt(i), 4 * i);
  }

  // What to write with on a cell's colour.
  inkAt(i) {
    return inkOn(this.target.subarray(4 * i, 4 * i + 3));
  }

  colourAt(i) {
    if (this.kinds[i] === MASKED) return rgbOf(ODD[this.mode].masked);
    if (this.kinds[i] === MISSING) return rgbOf(ODD[this.mode].nan);
    return this.origin ? categoryColour(this.origin[i]) : colourOf(this.values[i], this.ends, this.table);
  }

  // --- fading: of colours only; numbers change at once ---

  startFade() {
    this.from = this.shown.some((byte, i) => byte !== this.target[i]) ? this.shown.slice() : null;
    return this.from !== null;
  }

  fadeTo(share) {
    if (this.from === null) return;
    for (let i = 0; i < this.shown.length; i++) {
      this.shown[i] = this.from[i] + (this.target[i] - this.from[i]) * share;
    }
  }

  settle() {
    this.shown = this.target.slice();
    this.from = null;
    return false;
  }

  // --- cells ---

  contains(row, col) {
    return row >= 0 && row < this.rows && col >= 0 && col < this.cols;
  }

  // [row, col] as drawn, of a selection {axis: index}; null if it is not on this matrix.
  cellOf(selected) {
    const row = selected[this.rowAxis] - this.rowStart;
    const col = selected[this.colAxis] - this.colStart;
    return this.contains(row, col) ? [row, col] : null;
  }

  axesOf([row, col]) {
    return { [this.rowAxis]: row + this.rowStart, [this.colAxis]: col + this.colStart };
  }

  // The drawn cell at a point of the grid, in CSS pixels from its corner.
  cellAt(x, y) {
    const index = (place, size, count) => Math.min(count - 1, Math.max(0, Math.floor(place / size)));
    return [index(y, this.box.cellHeight, this.rows), index(x, this.box.cellWidth, this.cols)];
  }

  // --- place on the board ---

  // Widths that the layout needs to know, in CSS pixels.
  measure(family) {
    const widest = (texts, size = TYPE.label) => Math.max(...texts.map((text) => textWidth(text, size, family)));
    this.numberWidth = this.numbers ? widest(this.texts) : 0;
    const bare = this.small ? LEAST.small : LEAST.bare;
    this.easyWidth = this.numbers ? Math.max(LEAST.number, this.numberWidth + 6) : bare;
    this.tightWidth = this.numbers ? this.numberWidth * (TYPE.small / TYPE.label) * SQUEEZE.number + 4 : bare;
    this.labelWidth = widest(this.rowLabels) + 8;
    this.headWidth = widest(this.colLabels);
    const title = this.title ? textWidth(`${this.title} ${this.shape}`, 14, family, 600) + 12 : 0;
    const legend = widest([legendTexts(this).join("")]) + 30 * legendTexts(this).length;
    this.wordsWidth = Math.max(title, legend);
    this.leadWidth = this.lead ? Math.ceil(widest([this.lead], 15)) + 24 : 0;
  }

  stand(box, family) {
    const { title, titleLead, lead, grid, legend } = this.nodes;
    this.box = box;
    setBox(title, box.x - box.gutter, box.y - box.header, box.gutter + box.room, TITLE);
    setBox(lead, box.x - box.gutter - box.lead, box.y, box.lead, box.height);
    setBox(grid, box.x, box.y, box.width, box.height);
    const indent = box.room < SHORT_LEGEND ? box.gutter : 0;
    setBox(legend, box.x - indent, box.y + box.height + 4, box.room + indent, LEGEND - 6);
    lead.hidden = !box.leadAside;
    titleLead.hidden = box.leadAside || !this.lead;
    this.rowTexts = this.rowLabels.map((text) => clipped(text, box.gutter - 8, TYPE.label, family));
    const room = box.head.upright ? box.head.height - 8 : Infinity;
    this.colTexts = this.colLabels.map((text) => clipped(text, room, box.head.size, family));
  }

  // --- words ---

  label() {
    const { title, titleLead, name, shape, lead, legend, grid } = this.nodes;
    setAttributes(title, { title: this.title });
    setText(titleLead, this.lead);
    setText(name, this.title);
    setText(shape, this.shape);
    setText(lead, this.lead);
    drawLegend(legend, this);
    setAttributes(grid, {
      "aria-label": `${this.title || this.symbol}, ${this.rows} rows, ${this.cols} columns`,
      "aria-rowcount": this.rows + 1,
      "aria-colcount": this.cols + 1,
    });
  }

  // What the picture shows at a glance, in words: the range, and where its ends are, in the selected row too.
  description(cell) {
    const parts = [`rows: ${this.rowAxis}, columns: ${this.colAxis}`.replaceAll("_", " ")];
    if (this.extremes) parts.push(this.span());
    if (cell && this.rows > 1) parts.push(...this.rowSpan(cell[0]));
    if (this.editable) parts.push("Enter edits the selected cell");
    if (this.switches) parts.push("Enter turns the selected cell over");
    return parts.join(", ");
  }

  span() {
    const [low, high] = this.range.map((end) => spokenText(rangeText(end)));
    if (low === high) return `every value ${low}`;
    const [atLow, atHigh] = this.extremes.map((i) => {
      return `row ${this.rowLabels[Math.floor(i / this.cols)]}, column ${this.colLabels[i % this.cols]}`;
    });
    return `values from ${low} (${atLow}) to ${high} (${atHigh})`;
  }

  // [one sentence], or [] where a row is a single number or has none.
  rowSpan(row) {
    const ends = this.cols > 1 && extremes(this.values, row * this.cols, (row + 1) * this.cols);
    if (!ends) return [];
    const [low, high] = ends.map((i) => {
      return `${spokenText(this.textOf(row, i % this.cols))} (${this.colLabels[i % this.cols]})`;
    });
    return [`row ${this.rowLabels[row]} from ${low} to ${high}`];
  }

  // Tell assistive technology of the selected cell and its headers; without a selection, of the first cell.
  describe(selected) {
    const { grid, columnHeader, bodyRow, rowHeader, gridCell } = this.nodes;
    const cell = this.cellOf(selected);
    const [row, col] = cell ?? [0, 0];
    setAttributes(grid, { "aria-description": this.description(cell) });
    setAttributes(bodyRow, { "aria-rowindex": row + 2 });
    setAttributes(columnHeader, { "aria-colindex": col + 2 });
    setAttributes(gridCell, {
      "aria-colindex": col + 2,
      "aria-selected": cell !== null,
      "aria-readonly": !this.editable && !this.switches,
    });
    setText(columnHeader, this.colLabels[col]);
    setText(rowHeader, this.rowLabels[row]);
    setText(gridCell, this.spoken(row, col));
  }

  // A colour that stands for no number is told by its number.
  spoken(row, col) {
    const i = row * this.cols + col;
    const mark = this.changed?.[i] ? ", changed" : "";
    return spokenText(this.textOf(row, col)) + (this.origin ? `, colour ${this.origin[i] + 1}` : "") + mark;
  }

  // A step into another row tells of that row too.
  announcement([row, col]) {
    const cell = `row ${this.rowLabels[row]}, column ${this.colLabels[col]}`;
    const told = row === this.toldRow ? [] : this.rowSpan(row);
    this.toldRow = row;
    return [`${this.title || this.symbol}: ${cell}: ${this.spoken(row, col)}`, ...told].join("; ");
  }

  // "S[it, kite]"
  named([row, col]) {
    return `${this.symbol}[${this.rowLabels[row]}, ${this.colLabels[col]}]`;
  }

  // "S[it, kite] = 8", with every digit.
  exactly(cell) {
    return `${this.named(cell)} = ${exactText(this.valueOf(...cell))}`;
  }
}

function kindOf(value, colours) {
  if (Number.isNaN(value)) return MISSING;
  if (!Number.isFinite(value)) return MASKED;
  return value === 0 && colours === "share" ? EMPTY : PLAIN;
}

// Where the smallest and the largest finite value stand among values[from..to - 1], or null.
function extremes(values, from, to) {
  let [low, high] = [-1, -1];
  for (let i = from; i < to; i++) {
    if (!Number.isFinite(values[i])) continue;
    if (low < 0 || values[i] < values[low]) low = i;
    if (high < 0 || values[i] > values[high]) high = i;
  }
  return low < 0 ? null : [low, high];
}

function widened(range, limits) {
  const ends = [...(range ?? []), ...(limits ?? [])];
  return ends.length ? [Math.min(...ends), Math.max(...ends)] : [0, 0];
}

// --- nodes ---

function element(tag, className, parent, attributes = {}) {
  const node = document.createElement(tag);
  node.className = className;
  setAttributes(node, attributes);
  parent.append(node);
  return node;
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function setAttributes(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
  }
}

function setBox(node, left, top, width, height) {
  Object.assign(node.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
}

function newNodes(stage, id) {
  const title = element("div", "title", stage);
  const grid = element("div", "grid", stage, { role: "grid", tabindex: 0, "aria-activedescendant": `${id}-cell` });
  const headRow = newRow(grid, 1);
  const bodyRow = newRow(grid, 2);
  return {
    title,
    titleLead: element("span", "title-lead", title),
    name: element("span", "name", title),
    shape: element("span", "shape", title),
    lead: element("div", "lead", stage),
    legend: element("div", "legend", stage, { "aria-hidden": true }),
    grid,
    columnHeader: newCell(headRow, "columnheader", {}),
    bodyRow,
    rowHeader: newCell(bodyRow, "rowheader", { "aria-colindex": 1 }),
    gridCell: newCell(bodyRow, "gridcell", { id: `${id}-cell` }),
  };
}

function newRow(grid, index) {
  return element("div", "row", grid, { role: "row", "aria-rowindex": index });
}

function newCell(row, role, attributes) {
  return element("span", "cell", row, { role, ...attributes });
}

// --- the legend: the part of the scale that the numbers span, with both ends printed; what hatching means ---

function drawLegend(legend, view) {
  const texts = legendTexts(view);
  const name = [view.mode, view.colours, view.ends, texts].join(" ");
  if (legend.dataset.shows === name) return;
  legend.dataset.shows = name;
  legend.replaceChildren();
  if (barEnds(view)) drawBar(legend, view);
  for (const kind of view.oddKinds) drawSwatch(legend, view, kind);
}

function legendTexts(view) {
  return [...(barEnds(view) ?? []).map(rangeText), ...view.oddKinds.map((kind) => oddText(view, kind))];
}

// A share's scale is 0 to 1 whatever the numbers; the others print what the numbers span, their own and those of
// the matrices whose colours they share.
function barEnds(view) {
  if (view.origin || !view.range) return null;
  return view.colours === "share" ? view.ends : widened(view.range, view.limits);
}

function drawBar(legend, view) {
  const [low, high] = barEnds(view);
  element("span", "", legend).textContent = rangeText(low);
  const bar = element("i", "bar", legend);
  const stops = Array.from({ length: 17 }, (_, i) => {
    return cssOf(colourOf(low + ((high - low) * i) / 16, view.ends, view.table));
  });
  bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
  if (high === low) return;
  element("span", "", legend).textContent = rangeText(high);
  if (low < 0 && high > 0) drawZero(bar, -low / (high - low));
}

function drawZero(bar, share) {
  const zero = element("b", share > 0.5 ? "before" : "after", bar);
  zero.style.left = `${100 * share}%`;
  zero.textContent = "0";
}

function drawSwatch(legend, view, kind) {
  const odd = ODD[view.mode];
  const swatch = element("i", kind === MISSING ? "swatch missing" : "swatch", legend);
  swatch.style.backgroundColor = cssOf(view.colourAt(view.kinds.indexOf(kind)));
  swatch.style.setProperty("--line", kind === MISSING ? odd.nanLine : odd.line);
  element("span", "", legend).textContent = oddText(view, kind);
}

function oddText({ values, kinds }, kind) {
  if (kind === EMPTY) return "exactly 0";
  return [...new Set(values.filter((_, i) => kinds[i] === kind))].map((value) => cellText(value, 0)).join(", ");
}
