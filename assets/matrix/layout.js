// Where everything stands. Matrices in one grid column share their column edges, in one grid row their row
// edges. Where the grid would leave no room for the numbers, it is folded: half as many matrices side by side,
// and again, down to one under another. What is still too wide then scrolls inside the board.

const CELL = 44; // the largest cell
const NUMBERS = 16; // most rows and columns that hold numbers
const SIZES = { number: 14, label: 12, small: 10 };
const SQUEEZE = 0.8; // glyphs may be set this narrow before a text counts as too long
const TITLE = 22;
const LEGEND = 22;
const GAP = 16;
const LINE_GAP = 8;
const MIN_ROW = { numbers: 17, bare: 3 };
const MIN_COLUMN = 3;
const EDGE = 3; // room for the frame of a cell at the right end
const NARROW = 480; // below this width, labels are cut shorter
const LABEL = { wide: 84, narrow: 58, tall: 58 };

const ruler = document.createElement("canvas").getContext("2d");

function textWidth(text, size, family, weight = 400) {
  ruler.font = `${weight} ${size}px ${family}`;
  return ruler.measureText(text).width;
}

// Shortened to fit, with an ellipsis.
function clipped(text, room, size, family) {
  if (textWidth(text, size, family) <= room) return text;
  let end = text.length;
  while (end > 1 && textWidth(`${text.slice(0, end)}\u2026`, size, family) > room) end--;
  return `${text.slice(0, end)}\u2026`;
}

// views: one for each matrix, with what layout needs to know (see View.measures).
// -> {width, height, boxes}, a box for each view; sizes in CSS pixels, cells in whole device pixels.
function arrange(views, width, maxHeight, pixel) {
  const plans = plansFor(views);
  const fits = plans.map((plan) => widthsOf(plan, width, pixel));
  const first = fits.findIndex((fit) => fit.comfortable);
  const chosen = first < 0 ? plans.length - 1 : first;
  return stand(plans[chosen], fits[chosen], width, maxHeight, pixel);
}

// --- which matrices stand side by side ---

function plansFor(views) {
  const lines = ranks(views.map((view) => view.place[0]));
  const slots = ranks(views.map((view) => view.place[1]));
  const asPlaced = views.map((view, i) => ({ view, line: lines[i], slot: slots[i] }));
  const plans = [
    { seats: asPlaced, sharing: false, small: false },
    { seats: asPlaced, sharing: true, small: true },
  ];
  for (let count = Math.max(...slots) + 1; count > 1; ) {
    count = Math.ceil(count / 2);
    const seats = inReadingOrder(asPlaced).map(({ view }, i) => {
      return { view, line: Math.floor(i / count), slot: i % count };
    });
    plans.push({ seats, sharing: true, small: true });
  }
  return plans.map(withHiddenLabels);
}

function ranks(numbers) {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  return numbers.map((number) => sorted.indexOf(number));
}

function inReadingOrder(seats) {
  return [...seats].sort((a, b) => a.line - b.line || a.slot - b.slot);
}

// In a plan that shares, a matrix whose left neighbour has the same rows goes without row labels.
function withHiddenLabels(plan) {
  const seats = plan.seats.map((seat) => {
    const left = plan.seats.find((other) => other.line === seat.line && other.slot === seat.slot - 1);
    return { ...seat, bare: plan.sharing && left !== undefined && sameRows(left.view, seat.view) };
  });
  return { ...plan, seats };
}

function sameRows(a, b) {
  return (
    a.rowAxis === b.rowAxis &&
    a.rowStart === b.rowStart &&
    a.rowLabels.length === b.rowLabels.length &&
    a.rowLabels.every((label, i) => label === b.rowLabels[i])
  );
}

// --- widths ---

// A column of the grid: {lead, gutter, cols, cell}; comfortable if every number fits its cell.
function widthsOf(plan, width, pixel) {
  const count = Math.max(...plan.seats.map((seat) => seat.slot)) + 1;
  const columns = Array.from({ length: count }, (_, slot) => columnOf(plan, slot, width));
  const fixed = columns.reduce((sum, column) => sum + column.lead + column.gutter, 0);
  shareOut(columns, width - fixed - EDGE, pixel);
  const comfortable = columns.every((column) => column.cell >= column.need);
  for (const column of columns) column.cell = Math.max(column.cell, wholePixels(column.need + 1, pixel));
  return { columns, comfortable };
}

function columnOf(plan, slot, width) {
  const seats = plan.seats.filter((seat) => seat.slot === slot);
  const labelled = seats.filter((seat) => !seat.bare);
  const most = width < NARROW ? LABEL.narrow : LABEL.wide;
  const needs = seats.map(({ view }) => (plan.small ? view.tightWidth : view.easyWidth));
  return {
    cols: Math.max(...seats.map(({ view }) => view.cols)),
    lead: slot === 0 ? 0 : Math.max(GAP, ...seats.map(({ view }) => view.leadWidth)),
    gutter: Math.ceil(Math.min(most, Math.max(0, ...labelled.map(({ view }) => view.labelWidth)))),
    need: Math.max(...needs),
    least: Math.max(...seats.map(({ view, bare }) => view.titleWidth - (bare ? 0 : view.labelWidth))),
  };
}

// One cell width for all, but narrow matrices get what their title needs.
function shareOut(columns, room, pixel) {
  let open = columns;
  let left = Math.max(0, room);
  for (;;) {
    const cols = open.reduce((sum, column) => sum + column.cols, 0);
    const cell = Math.min(CELL, left / cols);
    const narrow = open.filter((column) => column.cols * cell < column.least && cell < CELL);
    if (narrow.length === 0 || narrow.length === open.length) {
      for (const column of open) column.cell = wholePixels(cell, pixel);
      return;
    }
    for (const column of narrow) {
      column.cell = wholePixels(Math.min(CELL, column.least / column.cols), pixel);
      left -= column.cell * column.cols;
    }
    open = open.filter((column) => !narrow.includes(column));
  }
}

function wholePixels(size, pixel) {
  return Math.max(pixel, Math.floor(size / pixel + 1e-6) * pixel);
}

// --- heights and positions ---

function stand(plan, { columns }, width, maxHeight, pixel) {
  const lines = linesOf(plan, columns);
  const fixed = lines.reduce((sum, line) => sum + line.header + LEGEND, 0) + LINE_GAP * (lines.length - 1);
  const rows = lines.reduce((sum, line) => sum + line.rows, 0);
  for (const line of lines) line.cell = rowHeight(line, (maxHeight - fixed) / rows, pixel);
  placeColumns(columns);
  placeLines(lines);
  const last = lines[lines.length - 1];
  const end = columns[columns.length - 1];
  return {
    width: end.left + end.cell * end.cols + EDGE,
    height: Math.ceil(last.top + last.cell * last.rows + LEGEND),
    boxes: new Map(plan.seats.map((seat) => [seat.view, boxOf(seat, columns[seat.slot], lines[seat.line])])),
  };
}

function linesOf(plan, columns) {
  const count = Math.max(...plan.seats.map((seat) => seat.line)) + 1;
  return Array.from({ length: count }, (_, index) => {
    const seats = plan.seats.filter((seat) => seat.line === index);
    for (const seat of seats) seat.head = columnLabels(seat.view, columns[seat.slot].cell);
    const widest = seats.reduce((a, b) => (b.view.cols > a.view.cols ? b : a));
    return {
      rows: Math.max(...seats.map(({ view }) => view.rows)),
      numbers: seats.some(({ view }) => view.numbers),
      square: columns[widest.slot].cell,
      header: TITLE + Math.max(...seats.map(({ head }) => head.height)),
    };
  });
}

// As square as the height allows, but never too low to read.
function rowHeight(line, budget, pixel) {
  const least = line.numbers ? MIN_ROW.numbers : MIN_ROW.bare;
  return wholePixels(Math.max(least, Math.min(CELL, line.square, budget)), pixel);
}

// Column labels lie if they fit, perhaps with tighter glyphs or in small type; else they stand.
function columnLabels(view, cell) {
  for (const size of [SIZES.label, SIZES.small]) {
    if (view.headWidth * (size / SIZES.label) * SQUEEZE <= cell - 2) return { size, upright: false, height: size + 6 };
  }
  const size = cell < SIZES.label ? SIZES.small : SIZES.label;
  return { size, upright: true, height: Math.ceil(Math.min(LABEL.tall, view.headWidth)) + 8 };
}

function placeColumns(columns) {
  let x = 0;
  for (const column of columns) {
    column.left = x + column.lead + column.gutter;
    x = column.left + column.cell * column.cols;
  }
}

function placeLines(lines) {
  let y = 0;
  for (const line of lines) {
    line.top = Math.ceil(y + line.header);
    y = line.top + line.cell * line.rows + LEGEND + LINE_GAP;
  }
}

function boxOf(seat, column, line) {
  const { view, bare, head } = seat;
  return {
    x: column.left,
    y: line.top,
    cellWidth: column.cell,
    cellHeight: line.cell,
    width: column.cell * view.cols,
    height: line.cell * view.rows,
    gutter: bare ? 0 : column.gutter,
    room: column.cell * column.cols,
    lead: column.lead,
    leadAside: seat.slot > 0 && view.lead !== "",
    header: line.header,
    head,
  };
}
