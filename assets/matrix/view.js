// One matrix: its numbers, how they look, and the grid that a keyboard and a screen reader meet.
// The picture is on the board's canvases; of the grid only the selected cell and its two headers exist.

const PLAIN = 0;
const MASKED = 1; // -inf or inf
const MISSING = 2; // NaN
const EMPTY = 3; // a share of exactly 0
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
    this.values = new Float64Array(bytesOf(data.values).buffer);
    this.changed = data.changed && bytesOf(data.changed);
    this.origin = data.origin && new Int32Array(bytesOf(data.origin).buffer);
    this.kinds = Uint8Array.from(this.values, (value) => kindOf(value, data.colours));
    this.numbers = data.rows <= NUMBERS && data.cols <= NUMBERS;
    this.texts = this.numbers ? Array.from(this.values, (value) => cellText(value, data.decimals)) : null;
    this.range = finiteRange(this.values);
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
    const width = (text, size = SIZES.label, weight = 400) => textWidth(text, size, family, weight);
    const widest = (texts) => Math.max(...texts.map((text) => width(text)));
    const number = this.numbers ? widest(this.texts) : 0;
    this.numberWidth = number;
    this.labelWidth = widest(this.rowLabels) + 8;
    this.headWidth = widest(this.colLabels);
    this.titleWidth = width(`${this.title}  ${this.shape}`, 14, 600) + 4;
    this.leadWidth = this.lead ? Math.ceil(Math.max(...this.lead.split(" ").map((word) => width(word, 14)))) + 20 : 0;
    this.easyWidth = this.numbers ? Math.max(28, number + 6) : MIN_COLUMN;
    this.tightWidth = this.numbers ? number * (SIZES.small / SIZES.label) * SQUEEZE + 3 : MIN_COLUMN;
  }

  stand(box, family) {
    const { title, titleLead, lead, grid, legend } = this.nodes;
    this.box = box;
    setBox(title, box.x - box.gutter, box.y - box.header, box.gutter + box.room, TITLE);
    setBox(lead, box.x - box.gutter - box.lead, box.y, box.lead, box.height);
    setBox(grid, box.x, box.y, box.width, box.height);
    setBox(legend, box.x, box.y + box.height + 4, box.room, LEGEND - 6);
    lead.hidden = !box.leadAside;
    titleLead.hidden = box.leadAside || !this.lead;
    this.rowTexts = this.rowLabels.map((text) => clipped(text, box.gutter - 8, SIZES.label, family));
    const room = box.head.upright ? box.head.height - 8 : Infinity;
    this.colTexts = this.colLabels.map((text) => clipped(text, room, box.head.size, family));
  }

  // --- words ---

  label() {
    const { title, titleLead, name, shape, lead, legend, grid } = this.nodes;
    title.title = this.title;
    setText(titleLead, this.lead);
    setText(name, this.title);
    setText(shape, this.shape);
    setText(lead, this.lead);
    drawLegend(legend, this);
    grid.setAttribute("aria-label", `${this.title}, ${this.rows} rows, ${this.cols} columns`);
    grid.setAttribute("aria-description", this.description());
    grid.setAttribute("aria-rowcount", this.rows + 1);
    grid.setAttribute("aria-colcount", this.cols + 1);
  }

  description() {
    const parts = [`rows: ${this.rowAxis}`, `columns: ${this.colAxis}`];
    if (this.range) parts.push(`values from ${this.range.map((end) => spokenText(rangeText(end))).join(" to ")}`);
    if (this.editable) parts.push("Enter edits the cell");
    return parts.join(", ").replaceAll("_", " ");
  }

  // Tell assistive technology of the selected cell and its headers; without a selection, of the first cell.
  describe(selected) {
    const { columnHeader, bodyRow, rowHeader, gridCell } = this.nodes;
    const cell = this.cellOf(selected);
    const [row, col] = cell ?? [0, 0];
    bodyRow.setAttribute("aria-rowindex", row + 2);
    columnHeader.setAttribute("aria-colindex", col + 2);
    gridCell.setAttribute("aria-colindex", col + 2);
    gridCell.setAttribute("aria-selected", String(cell !== null));
    gridCell.setAttribute("aria-readonly", String(!this.editable));
    setText(columnHeader, this.colLabels[col]);
    setText(rowHeader, this.rowLabels[row]);
    setText(gridCell, this.spoken(row, col));
  }

  spoken(row, col) {
    const mark = this.changed?.[row * this.cols + col] ? ", changed" : "";
    return spokenText(this.textOf(row, col)) + mark;
  }

  announcement([row, col]) {
    return `${this.title}: row ${this.rowLabels[row]}, column ${this.colLabels[col]}: ${this.spoken(row, col)}`;
  }

  // "S[it, kite] = 8", with every digit.
  exactly([row, col]) {
    return `${this.symbol}[${this.rowLabels[row]}, ${this.colLabels[col]}] = ${exactText(this.valueOf(row, col))}`;
  }
}

function kindOf(value, colours) {
  if (Number.isNaN(value)) return MISSING;
  if (!Number.isFinite(value)) return MASKED;
  return value === 0 && colours === "share" ? EMPTY : PLAIN;
}

// [smallest, largest] of the finite values, or null.
function finiteRange(values) {
  const range = [Infinity, -Infinity];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < range[0]) range[0] = value;
    if (value > range[1]) range[1] = value;
  }
  return range[0] <= range[1] ? range : null;
}

function widened(range, limits) {
  const ends = [...(range ?? []), ...(limits ?? [])];
  return ends.length ? [Math.min(...ends), Math.max(...ends)] : [0, 0];
}

// --- nodes ---

function element(tag, className, parent) {
  const node = document.createElement(tag);
  node.className = className;
  parent.append(node);
  return node;
}

function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function setBox(node, left, top, width, height) {
  Object.assign(node.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
}

function newNodes(stage, id) {
  const title = element("div", "title", stage);
  const grid = element("div", "grid", stage);
  grid.setAttribute("role", "grid");
  grid.setAttribute("aria-activedescendant", `${id}-cell`);
  grid.tabIndex = 0;
  const headRow = newRow(grid, 1);
  const bodyRow = newRow(grid, 2);
  const gridCell = newCell(bodyRow[0], "gridcell");
  gridCell.id = `${id}-cell`;
  return {
    title,
    titleLead: element("span", "title-lead", title),
    name: element("span", "name", title),
    shape: element("span", "shape", title),
    lead: element("div", "lead", stage),
    legend: element("div", "legend", stage),
    grid,
    columnHeader: newCell(headRow[0], "columnheader"),
    bodyRow: bodyRow[0],
    rowHeader: bodyRow[1],
    gridCell,
  };
}

// A row of the grid and the header that it starts with: a corner, or the row's label.
function newRow(grid, index) {
  const row = element("div", "row", grid);
  row.setAttribute("role", "row");
  row.setAttribute("aria-rowindex", index);
  const header = newCell(row, index === 1 ? "columnheader" : "rowheader");
  header.setAttribute("aria-colindex", 1);
  return [row, header];
}

function newCell(row, role) {
  const cell = element("span", "cell", row);
  cell.setAttribute("role", role);
  return cell;
}

// --- the legend: the part of the scale that the numbers span, with both ends printed ---

function drawLegend(legend, view) {
  legend.replaceChildren();
  legend.setAttribute("aria-hidden", "true");
  if (view.range && view.table) drawBar(legend, view);
  for (const [kind, text] of [[MASKED, `${MINUS}${INFINITY}`], [EMPTY, "exactly 0"], [MISSING, "NaN"]]) {
    if (!view.kinds.includes(kind)) continue;
    const swatch = element("i", `swatch kind-${kind}`, legend);
    const odd = ODD[view.mode];
    swatch.style.setProperty("--line", kind === MISSING ? odd.nanLine : odd.line);
    swatch.style.backgroundColor = cssOf(kind === EMPTY ? colourOf(0, view.ends, view.table) : rgbOf(kind === MISSING ? odd.nan : odd.masked));
    element("span", "", legend).textContent = text;
  }
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

// A share's scale is 0 to 1 whatever the numbers; the others print what the numbers span.
function barEnds(view) {
  return view.colours === "share" ? view.ends : view.range;
}

function drawZero(bar, share) {
  const zero = element("b", "", bar);
  zero.style.left = `${100 * share}%`;
  zero.textContent = "0";
}
