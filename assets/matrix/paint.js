// The picture, in three layers: colours (they fade), ink (numbers, hatching, labels) and light (what is
// pointed at or selected). Coordinates of the layout are CSS pixels; brushes work in whole device pixels.

const LINES_FROM = 8; // smaller cells touch each other
const LABEL_STEP = 11; // labels closer than this are shown one in every few

class Brush {
  constructor(canvas) {
    this.canvas = canvas;
    this.ink = canvas.getContext("2d");
  }

  // An empty sheet of this size.
  start(width, height, ratio, family) {
    this.ratio = ratio;
    this.family = family;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== w || this.canvas.height !== h) {
      Object.assign(this.canvas, { width: w, height: h });
      Object.assign(this.canvas.style, { width: `${width}px`, height: `${height}px` });
    } else {
      this.ink.clearRect(0, 0, w, h);
    }
  }

  px(size) {
    return Math.round(size * this.ratio);
  }

  fill(x, y, width, height, style) {
    this.ink.fillStyle = style;
    const [left, top] = [this.px(x), this.px(y)];
    this.ink.fillRect(left, top, this.px(x + width) - left, this.px(y + height) - top);
  }

  // A frame around a rectangle; grow > 0 moves it outwards.
  frame({ x, y, width, height }, style, thickness, grow = 0) {
    const line = Math.max(1, this.px(thickness));
    const out = this.px(grow) - line / 2;
    const [left, top] = [this.px(x) - out, this.px(y) - out];
    this.ink.strokeStyle = style;
    this.ink.lineWidth = line;
    this.ink.strokeRect(left, top, this.px(x + width) + out - left, this.px(y + height) + out - top);
  }

  font(size, weight = 400) {
    this.ink.font = `${weight} ${size * this.ratio}px ${this.family}`;
  }

  // Text at a point, with glyphs set narrower where the room asks for it.
  text(text, x, y, style, align, room) {
    this.ink.fillStyle = style;
    this.ink.textAlign = align;
    this.ink.textBaseline = "middle";
    this.ink.fillText(text, x * this.ratio, y * this.ratio, room * this.ratio);
  }
}

// --- colours ---

function paintColours(brush, view) {
  const { box, tile, rows, cols, shown } = view;
  Object.assign(tile, { width: cols, height: rows });
  tile.getContext("2d").putImageData(new ImageData(shown, cols, rows), 0, 0);
  brush.ink.imageSmoothingEnabled = false;
  const [left, top] = [brush.px(box.x), brush.px(box.y)];
  brush.ink.drawImage(tile, left, top, brush.px(box.x + box.width) - left, brush.px(box.y + box.height) - top);
}

// --- ink ---

function paintInk(brush, view, theme) {
  paintHatching(brush, view);
  paintLines(brush, view, theme);
  if (view.numbers) paintNumbers(brush, view);
  if (view.changed) paintMarks(brush, view);
  paintLabels(brush, view, theme);
}

function cellBox({ box }, row, col) {
  return {
    x: box.x + col * box.cellWidth,
    y: box.y + row * box.cellHeight,
    width: box.cellWidth,
    height: box.cellHeight,
  };
}

function paintHatching(brush, view) {
  for (const kind of [MASKED, MISSING, EMPTY]) {
    if (!view.kinds.includes(kind)) continue;
    const style = hatching(brush, kind, view.mode);
    for (let i = 0; i < view.kinds.length; i++) {
      if (view.kinds[i] !== kind) continue;
      const { x, y, width, height } = cellBox(view, Math.floor(i / view.cols), i % view.cols);
      brush.fill(x, y, width, height, style);
    }
  }
}

// Slanted lines; the other way for NaN, and faint for a share of exactly 0.
function hatching(brush, kind, mode) {
  const size = brush.px(6);
  const tile = document.createElement("canvas");
  Object.assign(tile, { width: size, height: size });
  const ink = tile.getContext("2d");
  ink.strokeStyle = kind === MISSING ? ODD[mode].nanLine : ODD[mode].line;
  ink.globalAlpha = kind === EMPTY ? 0.45 : 1;
  ink.lineWidth = brush.ratio;
  ink.beginPath();
  for (const shift of [-size, 0, size]) {
    ink.moveTo(shift, kind === MISSING ? 0 : size);
    ink.lineTo(shift + size, kind === MISSING ? size : 0);
  }
  ink.stroke();
  return brush.ink.createPattern(tile, "repeat");
}

function paintLines(brush, view, theme) {
  const { box, rows, cols } = view;
  const line = 1 / brush.ratio;
  if (box.cellWidth >= LINES_FROM) {
    for (let col = 1; col < cols; col++) {
      brush.fill(box.x + col * box.cellWidth - line, box.y, line, box.height, theme.background);
    }
  }
  if (box.cellHeight >= LINES_FROM) {
    for (let row = 1; row < rows; row++) {
      brush.fill(box.x, box.y + row * box.cellHeight - line, box.width, line, theme.background);
    }
  }
  if (box.cellWidth < LINES_FROM) brush.frame(box, theme.border, 1, 1);
}

function paintNumbers(brush, view) {
  const { box } = view;
  brush.font(numberSize(view));
  const inks = new Map();
  for (let i = 0; i < view.texts.length; i++) {
    const { x, y, width, height } = cellBox(view, Math.floor(i / view.cols), i % view.cols);
    const rgb = view.target.subarray(4 * i, 4 * i + 3);
    const colour = cssOf(rgb);
    if (!inks.has(colour)) inks.set(colour, inkOn(rgb));
    brush.text(view.texts[i], x + width / 2, y + height / 2 + 0.5, inks.get(colour), "center", box.cellWidth - 3);
  }
}

// The largest type in which the longest number fits, a little squeezed if it must.
function numberSize({ box, numberWidth }) {
  const fitting = ((box.cellWidth - 3) / numberWidth) * SIZES.label;
  const easy = Math.min(SIZES.number, box.cellHeight * 0.62);
  return Math.min(easy, Math.max(fitting, Math.min(SIZES.label, fitting / SQUEEZE)));
}

// A triangle in the upper right corner: this number is not what it was before the edits.
function paintMarks(brush, view) {
  const { box, cols } = view;
  const size = Math.max(3, Math.min(9, 0.4 * Math.min(box.cellWidth, box.cellHeight)));
  for (let i = 0; i < view.changed.length; i++) {
    if (!view.changed[i]) continue;
    const { x, y, width } = cellBox(view, Math.floor(i / cols), i % cols);
    brush.ink.fillStyle = inkOn(view.target.subarray(4 * i, 4 * i + 3));
    brush.ink.beginPath();
    brush.ink.moveTo(brush.px(x + width - 1 - size), brush.px(y));
    brush.ink.lineTo(brush.px(x + width - 1), brush.px(y));
    brush.ink.lineTo(brush.px(x + width - 1), brush.px(y + size));
    brush.ink.fill();
  }
}

function paintLabels(brush, view, theme) {
  const { box, rows, cols } = view;
  const rowStep = Math.ceil(LABEL_STEP / box.cellHeight);
  const colStep = Math.ceil(LABEL_STEP / box.cellWidth);
  if (box.gutter) for (let row = 0; row < rows; row += rowStep) paintRowLabel(brush, view, row, theme.muted, 400);
  for (let col = 0; col < cols; col += colStep) paintColumnLabel(brush, view, col, theme.muted, 400);
}

function paintRowLabel(brush, { box, rowTexts }, row, style, weight) {
  brush.font(SIZES.label, weight);
  const y = box.y + (row + 0.5) * box.cellHeight;
  brush.text(rowTexts[row], box.x - 6, y, style, "right", box.gutter - 6);
}

function paintColumnLabel(brush, { box, colTexts }, col, style, weight) {
  const x = box.x + (col + 0.5) * box.cellWidth;
  brush.font(box.head.size, weight);
  if (!box.head.upright) {
    brush.text(colTexts[col], x, box.y - box.head.size / 2 - 4, style, "center", box.cellWidth - 2);
    return;
  }
  const { ink, ratio } = brush;
  ink.save();
  ink.translate(x * ratio, (box.y - 4) * ratio);
  ink.rotate(-Math.PI / 2);
  brush.text(colTexts[col], 0, 0, style, "left", box.head.height - 6);
  ink.restore();
}

// --- light ---

// Frames and labels of the selected cell, and of what the pointer lights: {axes, sources} or null.
function paintLight(brush, view, theme, selected, lit) {
  const cell = view.cellOf(selected);
  if (cell) paintLitLabels(brush, view, theme, cell);
  if (lit) paintLit(brush, view, theme, lit);
  if (cell) paintSelection(brush, view, theme, cell);
}

function paintLit(brush, view, theme, lit) {
  const row = within(lit.axes[view.rowAxis] - view.rowStart, view.rows);
  const col = within(lit.axes[view.colAxis] - view.colStart, view.cols);
  paintLitLabels(brush, view, theme, [row, col]);
  if (row !== null) outline(brush, view, theme, [row, null], theme.text, 1);
  if (col !== null) outline(brush, view, theme, [null, col], theme.text, 1);
  if (lit.id === view.id) outline(brush, view, theme, [row, col], theme.text, 2);
  const axes = lit.sources[view.id];
  if (!axes) return;
  const band = [axes.includes(view.rowAxis) ? row : null, axes.includes(view.colAxis) ? col : null];
  outline(brush, view, theme, band, theme.accent, 2);
}

function within(index, count) {
  return index >= 0 && index < count ? index : null;
}

function paintSelection(brush, view, theme, cell) {
  outline(brush, view, theme, cell, theme.text, 2);
}

// A frame around a cell, a whole row (column null) or a whole column (row null), with a halo that parts it
// from any colour beneath.
function outline(brush, view, theme, [row, col], style, thickness) {
  const { box } = view;
  const band = cellBox(view, row ?? 0, col ?? 0);
  if (row === null) band.height = box.height;
  if (col === null) band.width = box.width;
  brush.frame(band, theme.background, thickness + 2, thickness);
  brush.frame(band, style, thickness, thickness - 1);
}

function paintLitLabels(brush, view, theme, [row, col]) {
  const { box } = view;
  if (row !== null && box.gutter) {
    const height = Math.max(box.cellHeight, SIZES.label + 3);
    const middle = box.y + (row + 0.5) * box.cellHeight;
    brush.fill(box.x - box.gutter, middle - height / 2, box.gutter - 3, height, theme.background);
    paintRowLabel(brush, view, row, theme.text, 700);
  }
  if (col !== null) {
    const width = Math.max(box.cellWidth, SIZES.label + 3);
    const middle = box.x + (col + 0.5) * box.cellWidth;
    brush.fill(middle - width / 2, box.y - box.head.height, width, box.head.height - 3, theme.background);
    paintColumnLabel(brush, view, col, theme.text, 700);
  }
}
