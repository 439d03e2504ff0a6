// The picture: colours, numbers and labels, and over them the light, which frames what is pointed at or selected.
// All of it is painted anew for each change, one canvas for the board: browsers copy canvases to the screen whole,
// so that a second one would cost more than it saves. The layout counts CSS pixels, a brush whole device pixels.

const LINES_FROM = 8; // smaller cells touch each other
const LABEL_STEP = 11; // labels closer than this are shown one in every few

class Brush {
  constructor(canvas) {
    this.canvas = canvas;
    this.ink = canvas.getContext("2d", { alpha: false });
  }

  // An empty sheet of this size.
  start(width, height, ratio, theme) {
    this.ratio = ratio;
    this.family = theme.family;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== w || this.canvas.height !== h) {
      Object.assign(this.canvas, { width: w, height: h });
      Object.assign(this.canvas.style, { width: `${w / ratio}px`, height: `${h / ratio}px` });
    }
    this.ink.fillStyle = theme.background;
    this.ink.fillRect(0, 0, w, h);
  }

  px(size) {
    return Math.round(size * this.ratio);
  }

  // [left, top, width, height] in device pixels; grow moves the edges outwards.
  pixels({ x, y, width, height }, grow = 0) {
    const [left, top] = [this.px(x) - grow, this.px(y) - grow];
    return [left, top, this.px(x + width) + grow - left, this.px(y + height) + grow - top];
  }

  fill(box, style) {
    this.ink.fillStyle = style;
    this.ink.fillRect(...this.pixels(box));
  }

  // A line around a box: thickness inwards from `grow` outside its edge.
  frame(box, style, thickness, grow) {
    const line = this.px(thickness);
    this.ink.strokeStyle = style;
    this.ink.lineWidth = line;
    this.ink.strokeRect(...this.pixels(box, this.px(grow) - line / 2));
  }

  font(size, weight = 400) {
    this.ink.font = `${weight} ${size * this.ratio}px ${this.family}`;
  }

  // A text in the middle of its height, with glyphs set narrower where the room asks for it.
  text(text, x, y, style, align, room) {
    this.ink.fillStyle = style;
    this.ink.textAlign = align;
    this.ink.textBaseline = "middle";
    this.ink.fillText(text, x * this.ratio, y * this.ratio, room * this.ratio);
  }
}

function cellBox({ box }, row, col) {
  const { cellWidth: width, cellHeight: height } = box;
  return { x: box.x + col * width, y: box.y + row * height, width, height };
}

function eachCell(view, use) {
  for (let i = 0; i < view.values.length; i++) use(i, Math.floor(i / view.cols), i % view.cols);
}

// --- the picture ---

function paintPicture(brush, view, theme) {
  paintColours(brush, view);
  paintHatching(brush, view);
  paintLines(brush, view, theme);
  if (view.numbers) paintNumbers(brush, view);
  if (view.changed) paintMarks(brush, view);
  paintLabels(brush, view, theme);
}

// One pixel for each cell, drawn large: as quick for 64 rows as for 8.
function paintColours(brush, view) {
  const { box, tile, rows, cols, shown } = view;
  if (tile.width !== cols || tile.height !== rows) Object.assign(tile, { width: cols, height: rows });
  tile.getContext("2d").putImageData(new ImageData(shown, cols, rows), 0, 0);
  brush.ink.imageSmoothingEnabled = false;
  brush.ink.drawImage(tile, ...brush.pixels(box));
}

function paintHatching(brush, view) {
  for (const kind of view.oddKinds) {
    const style = brush.ink.createPattern(hatching(brush, kind, view.mode), "repeat");
    for (const run of runs(view, kind)) brush.fill(run, style);
  }
}

// The cells of a kind, those side by side as one box.
function runs(view, kind) {
  const boxes = [];
  eachCell(view, (i, row, col) => {
    if (view.kinds[i] !== kind) return;
    const box = cellBox(view, row, col);
    if (col > 0 && view.kinds[i - 1] === kind) boxes[boxes.length - 1].width += box.width;
    else boxes.push(box);
  });
  return boxes;
}

// A tile of slanted lines: the other way for NaN, and faint for a share of exactly 0.
function hatching(brush, kind, mode) {
  const size = brush.px(6);
  const tile = document.createElement("canvas");
  Object.assign(tile, { width: size, height: size });
  const ink = tile.getContext("2d");
  ink.strokeStyle = kind === MISSING ? ODD[mode].nanLine : ODD[mode].line;
  ink.globalAlpha = kind === EMPTY ? 0.45 : 1;
  ink.lineWidth = brush.ratio;
  const [from, to] = kind === MISSING ? [0, size] : [size, 0];
  for (const left of [-size, 0, size]) {
    ink.moveTo(left, from);
    ink.lineTo(left + size, to);
  }
  ink.stroke();
  return tile;
}

// Thin lines in the page's colour part the cells; cells too small for that get a frame around all.
function paintLines(brush, { box, rows, cols }, theme) {
  const line = 1 / brush.ratio;
  if (box.cellWidth >= LINES_FROM) {
    for (let col = 1; col < cols; col++) {
      brush.fill({ ...box, x: box.x + col * box.cellWidth - line, width: line }, theme.background);
    }
  }
  if (box.cellHeight >= LINES_FROM) {
    for (let row = 1; row < rows; row++) {
      brush.fill({ ...box, y: box.y + row * box.cellHeight - line, height: line }, theme.background);
    }
  }
  if (Math.min(box.cellWidth, box.cellHeight) < LINES_FROM) brush.frame(box, theme.border, 1, 1);
}

function paintNumbers(brush, view) {
  const room = view.box.cellWidth - 4;
  brush.font(numberSize(view, room));
  eachCell(view, (i, row, col) => {
    const { x, y, width, height } = cellBox(view, row, col);
    brush.text(view.texts[i], x + width / 2, y + height / 2 + 0.5, view.inkAt(i), "center", room);
  });
}

// The largest type in which the longest number fits, squeezed a little rather than smaller than small.
function numberSize({ box, numberWidth }, room) {
  const fitting = (room / numberWidth) * TYPE.label;
  const squeezed = Math.min(TYPE.small, fitting / SQUEEZE.number);
  return Math.min(TYPE.number, box.cellHeight * 0.62, Math.max(fitting, squeezed));
}

// A triangle in the upper right corner: this number is not what it was before the edits.
function paintMarks(brush, view) {
  const { box, changed } = view;
  const size = Math.max(3, Math.min(9, 0.4 * Math.min(box.cellWidth, box.cellHeight)));
  eachCell(view, (i, row, col) => {
    if (!changed[i]) return;
    const { x, y, width } = cellBox(view, row, col);
    const [right, top, side] = [brush.px(x + width) - 1, brush.px(y), brush.px(size)];
    brush.ink.fillStyle = view.inkAt(i);
    brush.ink.beginPath();
    brush.ink.moveTo(right - side, top);
    brush.ink.lineTo(right, top);
    brush.ink.lineTo(right, top + side);
    brush.ink.fill();
  });
}

// --- labels ---

function paintLabels(brush, view, theme) {
  for (const row of labelledRows(view)) paintRowLabel(brush, view, row, theme.muted, 400);
  for (const col of labelledColumns(view)) paintColumnLabel(brush, view, col, theme.muted, 400);
}

function labelledRows({ box, rows }) {
  return box.gutter ? everyFew(rows, box.cellHeight) : [];
}

function labelledColumns({ box, cols }) {
  return box.head.upright ? everyFew(cols, box.cellWidth) : everyFew(cols, LABEL_STEP);
}

function everyFew(count, size) {
  const step = Math.ceil(LABEL_STEP / size);
  return Array.from({ length: Math.ceil(count / step) }, (_, i) => i * step);
}

function paintRowLabel(brush, { box, rowTexts }, row, style, weight) {
  brush.font(TYPE.label, weight);
  const y = box.y + (row + 0.5) * box.cellHeight;
  brush.text(rowTexts[row], box.x - 6, y, style, "right", box.gutter - 6);
}

function paintColumnLabel(brush, { box, colTexts }, col, style, weight) {
  const { size, upright, height } = box.head;
  const x = box.x + (col + 0.5) * box.cellWidth;
  brush.font(size, weight);
  if (!upright) {
    brush.text(colTexts[col], x, box.y - size / 2 - 4, style, "center", box.cellWidth - 2);
    return;
  }
  const { ink, ratio } = brush;
  ink.save();
  ink.translate(x * ratio, (box.y - 4) * ratio);
  ink.rotate(-Math.PI / 2);
  brush.text(colTexts[col], 0, 0, style, "left", height - 6);
  ink.restore();
}

// --- light ---

// Frames and labels of the selected cell, and of what the pointer lights: {id, axes, sources} or null.
function paintLight(brush, view, theme, selected, lit) {
  const cell = view.cellOf(selected);
  if (cell) paintLitLabels(brush, view, theme, cell);
  if (lit) paintLit(brush, view, theme, lit);
  if (cell) outline(brush, view, theme, cell, theme.text, 2);
}

function paintLit(brush, view, theme, lit) {
  const { rowAxis, colAxis, id } = view;
  const row = within(lit.axes[rowAxis] - view.rowStart, view.rows);
  const col = within(lit.axes[colAxis] - view.colStart, view.cols);
  paintLitLabels(brush, view, theme, [row, col]);
  if (row !== null) outline(brush, view, theme, [row, null], theme.text, 1);
  if (col !== null) outline(brush, view, theme, [null, col], theme.text, 1);
  if (lit.id === id) outline(brush, view, theme, [row, col], theme.text, 2);
  const axes = lit.sources[id];
  if (!axes) return;
  const source = [axes.includes(rowAxis) ? row : null, axes.includes(colAxis) ? col : null];
  outline(brush, view, theme, source, theme.accent, 3);
}

function within(index, count) {
  return index >= 0 && index < count ? index : null;
}

// A frame around a cell, a whole row (column null) or a whole column (row null), with a halo that parts it
// from any colour beneath. It stands half inside its cells, or outside those that it would hide.
function outline(brush, view, theme, [row, col], style, thickness) {
  const { box } = view;
  const band = cellBox(view, row ?? 0, col ?? 0);
  if (row === null) band.height = box.height;
  if (col === null) band.width = box.width;
  const inside = Math.min(box.cellWidth, box.cellHeight) < LINES_FROM ? 0 : 1;
  brush.frame(band, theme.background, thickness + 1 + inside, thickness + 1 - inside);
  brush.frame(band, style, thickness, thickness - inside);
}

// Bold labels of a row and a column (or null); where labels are close, the neighbours make room.
function paintLitLabels(brush, view, theme, [row, col]) {
  const { box } = view;
  if (row !== null && box.gutter) {
    for (const other of labelledRows(view)) {
      if (Math.abs(other - row) * box.cellHeight < LABEL_STEP + 2) hideRowLabel(brush, view, theme, other);
    }
    paintRowLabel(brush, view, row, theme.text, 700);
  }
  if (col !== null) {
    for (const other of labelledColumns(view)) {
      const distance = Math.abs(other - col) * box.cellWidth;
      if (other === col || (box.head.upright && distance < LABEL_STEP + 2)) {
        hideColumnLabel(brush, view, theme, other);
      }
    }
    paintColumnLabel(brush, view, col, theme.text, 700);
  }
}

function hideRowLabel(brush, { box }, theme, row) {
  const height = TYPE.label + 2;
  const y = box.y + (row + 0.5) * box.cellHeight - height / 2;
  brush.fill({ x: box.x - box.gutter, y, width: box.gutter - 3, height }, theme.background);
}

function hideColumnLabel(brush, { box }, theme, col) {
  const { size, upright, height } = box.head;
  const width = upright ? size + 2 : box.cellWidth;
  const x = box.x + (col + 0.5) * box.cellWidth - width / 2;
  brush.fill({ x, y: box.y - height, width, height: height - 3 }, theme.background);
}
