// Where everything stands. Matrices in one grid column share their column edges, in one grid row their row
// edges. Where the grid would leave no room for the numbers, it is folded: half as many matrices side by side,
// and again, down to one under another. What is still too wide then scrolls inside the board.

const NUMBERS = 16; // most rows and columns that hold numbers
const PHONE = 600; // windows narrower than this get shorter labels and rows that a finger hits
const CELL = 44; // the largest cell
const LEAST = {
  row: 17, // for a row of numbers
  touch: 28, // for a row under a finger
  bare: 3, // for a cell without a number
  small: 6, // for a column of a small map
  number: 28, // for a column of numbers that needs no squeezing
};
const TYPE = { number: 14, label: 12, small: 10 };
const SQUEEZE = { label: 0.8, number: 0.9 }; // glyphs may be set this narrow before a text is too long
const LABEL = { wide: 84, phone: 58, tall: 58 }; // longest labels: of rows, and of columns when they stand
const TITLE = 22;
const LEGEND = 22;
const GAP = { column: 16, line: 8, edge: 3 }; // edge: for the frame of a cell at the right end

// views: matrices with the widths that View.measure found. width, maxHeight: CSS pixels of the board; pixel: one
// device pixel; phone: whether the window is a phone's.
// -> {width, height, folded, boxes}: a box for each view, see boxOf
function arrange(views, { width, maxHeight, pixel, phone }) {
  const plans = plansFor(views).map((plan) => withWidths(plan, width, pixel, phone));
  const plan = plans.find(({ fits }) => fits) ?? plans[plans.length - 1];
  return stand(plan, maxHeight, pixel, phone);
}

// --- which matrices stand side by side ---

// First as placed, then with shared row labels and smaller type, then folded.
function plansFor(views) {
  const lines = ranks(views.map((view) => view.place[0]));
  const slots = ranks(views.map((view) => view.place[1]));
  const placed = views.map((view, i) => ({ view, line: lines[i], slot: slots[i] }));
  const plans = [{ seats: placed, tight: false }, { seats: placed, tight: true }];
  for (let count = Math.max(...slots) + 1; count > 1; ) {
    count = Math.ceil(count / 2);
    plans.push({ seats: folded(placed, count), tight: true, folded: true });
  }
  return plans.map(withBareSeats);
}

// The place of each number among the different ones: grid rows 1 and 5 alone are lines 0 and 1.
function ranks(numbers) {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  return numbers.map((number) => sorted.indexOf(number));
}

// The same matrices in reading order, so many a line.
function folded(seats, count) {
  const ordered = [...seats].sort((a, b) => a.line - b.line || a.slot - b.slot);
  return ordered.map(({ view }, i) => ({ view, line: Math.floor(i / count), slot: i % count }));
}

// In a tight plan, a matrix whose left neighbour has the same rows goes without labels for them.
function withBareSeats(plan) {
  const seats = plan.seats.map((seat) => {
    const left = plan.seats.find(({ line, slot }) => line === seat.line && slot === seat.slot - 1);
    return { ...seat, bare: plan.tight && left !== undefined && sameRows(left.view, seat.view) };
  });
  return { ...plan, seats };
}

function sameRows(a, b) {
  return (
    a.rowAxis === b.rowAxis &&
    a.rowStart === b.rowStart &&
    a.rows === b.rows &&
    a.rowLabels.every((label, i) => label === b.rowLabels[i])
  );
}

// --- widths ---

// The plan with its grid columns {cols, lead, gutter, cell, ...}; it fits if every number fits its cell.
function withWidths(plan, width, pixel, phone) {
  const count = Math.max(...plan.seats.map(({ slot }) => slot)) + 1;
  const columns = Array.from({ length: count }, (_, slot) => columnOf(plan, slot, phone));
  const fixed = columns.reduce((sum, column) => sum + column.lead + column.gutter, GAP.edge);
  shareOut(columns, width - fixed, pixel);
  const fits = columns.every((column) => column.cell >= column.need);
  for (const column of columns) column.cell = Math.max(column.cell, wholePixels(column.need + 0.99 * pixel, pixel));
  return { ...plan, columns, fits };
}

function columnOf(plan, slot, phone) {
  const seats = plan.seats.filter((seat) => seat.slot === slot);
  const most = (numbers) => Math.max(0, ...numbers);
  const labels = most(seats.filter(({ bare }) => !bare).map(({ view }) => view.labelWidth));
  return {
    cols: most(seats.map(({ view }) => view.cols)),
    lead: slot === 0 ? 0 : Math.max(GAP.column, most(seats.map(({ view }) => view.leadWidth))),
    gutter: Math.ceil(Math.min(labels, phone ? LABEL.phone : LABEL.wide)),
    need: most(seats.map(({ view }) => (plan.tight ? view.tightWidth : view.easyWidth))),
    least: most(seats.map(({ view, bare }) => view.wordsWidth - (bare ? 0 : view.labelWidth))),
  };
}

// One cell width for all, except that a matrix of few columns gets what its title and legend need.
function shareOut(columns, room, pixel) {
  let open = columns;
  let left = room;
  for (;;) {
    const cell = Math.min(CELL, (left - overhang(open)) / open.reduce((sum, { cols }) => sum + cols, 0));
    const narrow = open.filter(({ cols, least }) => cols * cell < Math.min(least, cols * CELL));
    if (narrow.length === 0 || narrow.length === open.length) {
      for (const column of open) column.cell = wholePixels(cell, pixel);
      return;
    }
    for (const column of narrow) {
      column.cell = wholePixels(Math.min(CELL, column.least / column.cols), pixel);
      left -= roomOf(column);
    }
    open = open.filter((column) => !narrow.includes(column));
  }
}

// What titles need beside the largest cells of their columns.
function overhang(columns) {
  return columns.reduce((sum, { cols, least }) => sum + Math.max(0, least - cols * CELL), 0);
}

// Where even the largest cells are too narrow for the title, it stands over the empty room beside them.
function roomOf({ cell, cols, least }) {
  return cell > CELL - 1 ? Math.max(cell * cols, least) : cell * cols;
}

// Cells are whole device pixels, so that all of a matrix are equal and their edges sharp.
function wholePixels(size, pixel) {
  return Math.max(pixel, Math.floor(size / pixel + 1e-6) * pixel);
}

// --- heights and positions ---

function stand({ seats, columns, folded: isFolded = false }, maxHeight, pixel, phone) {
  const lines = linesOf(seats, columns);
  const fixed = lines.reduce((sum, line) => sum + line.header + LEGEND, GAP.line * (lines.length - 1));
  const rows = lines.reduce((sum, line) => sum + line.rows, 0);
  for (const line of lines) line.cell = rowHeight(line, (maxHeight - fixed) / rows, pixel, phone);
  placeColumns(columns);
  placeLines(lines);
  const [end, last] = [columns[columns.length - 1], lines[lines.length - 1]];
  return {
    width: end.left + end.room + GAP.edge,
    height: Math.ceil(last.top + last.cell * last.rows + LEGEND),
    folded: isFolded,
    boxes: new Map(seats.map((seat) => [seat.view, boxOf(seat, columns[seat.slot], lines[seat.line])])),
  };
}

function linesOf(seats, columns) {
  const count = Math.max(...seats.map(({ line }) => line)) + 1;
  return Array.from({ length: count }, (_, index) => {
    const own = seats.filter(({ line }) => line === index);
    const widest = own.reduce((a, b) => (b.view.cols > a.view.cols ? b : a));
    const head = columnLabels(own, columns);
    const title = own.some(({ view }) => view.title || view.shape) ? TITLE : 0;
    return {
      rows: Math.max(...own.map(({ view }) => view.rows)),
      numbers: own.some(({ view }) => view.numbers),
      square: columns[widest.slot].cell,
      head,
      header: title + head.height,
    };
  });
}

// Column labels of one line of matrices: they lie if all fit, perhaps in small type; else those too long stand.
function columnLabels(seats, columns) {
  const fitting = (size) => ({ view, slot }) => {
    return view.headWidth * (size / TYPE.label) * SQUEEZE.label <= columns[slot].cell - 2;
  };
  const size = seats.every(fitting(TYPE.label)) ? TYPE.label : TYPE.small;
  const standing = new Set(seats.filter((seat) => !fitting(size)(seat)).map(({ view }) => view));
  const tall = Math.max(0, ...[...standing].map((view) => Math.min(LABEL.tall, view.headWidth)));
  return { size, standing, height: Math.max(size + 6, Math.ceil(tall) + 8) };
}

// As square as the height allows, but never too low to read, or on a phone to touch.
function rowHeight({ numbers, square }, budget, pixel, phone) {
  const least = phone ? Math.min(square, LEAST.touch) : 0;
  const most = Math.min(CELL, square, Math.max(budget, least));
  return wholePixels(Math.max(numbers ? LEAST.row : LEAST.bare, most), pixel);
}

function placeColumns(columns) {
  let x = 0;
  for (const column of columns) {
    column.left = x + column.lead + column.gutter;
    column.room = roomOf(column);
    x = column.left + column.room;
  }
}

function placeLines(lines) {
  let y = 0;
  for (const line of lines) {
    line.top = y + line.header;
    y = Math.ceil(line.top + line.cell * line.rows + LEGEND + GAP.line);
  }
}

// x, y: the corner of the first cell. Left of it gutter (row labels), then lead; above it header.
function boxOf({ view, slot, bare }, column, line) {
  return {
    x: column.left,
    y: line.top,
    cellWidth: column.cell,
    cellHeight: line.cell,
    width: column.cell * view.cols,
    height: line.cell * view.rows,
    room: column.room,
    gutter: bare ? 0 : column.gutter,
    lead: column.lead,
    leadAside: slot > 0 && view.lead !== "",
    header: line.header,
    head: { size: line.head.size, upright: line.head.standing.has(view), height: line.head.height },
  };
}

// --- widths of texts ---

const ruler = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const known = new Map();

function textWidth(text, size, family, weight = 400) {
  const font = `${weight} ${size}px ${family}`;
  const name = `${font} ${text}`;
  if (known.size > 5000) known.clear();
  if (!known.has(name)) {
    ruler.font = font;
    known.set(name, ruler.measureText(text).width);
  }
  return known.get(name);
}

// Shortened to fit, with an ellipsis.
function clipped(text, room, size, family) {
  if (textWidth(text, size, family) <= room) return text;
  const letters = [...text];
  while (letters.length > 1 && textWidth(`${letters.join("")}\u2026`, size, family) > room) letters.pop();
  return `${letters.join("")}\u2026`;
}
