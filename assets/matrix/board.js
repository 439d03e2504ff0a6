// The board: all matrices that one call of show_matrices draws, and what a reader does to them.
// Streamlit calls the function at the end of this file for each new payload and each change of theme.

const FADE = 240; // milliseconds from an old colour to the new one
const SEND_AFTER = 120; // milliseconds of rest after an arrow key
const STATUS = 24; // height of the line under the matrices

const boards = new Set(); // every board on the page: what is pointed at is lit on all of them
const boardOf = new WeakMap();
const calm = window.matchMedia("(prefers-reduced-motion: reduce)");

const STEPS_BY_KEY = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  PageUp: [-8, 0],
  PageDown: [8, 0],
  Home: [0, -Infinity],
  End: [0, Infinity],
};

class Board {
  constructor(root) {
    this.root = element("div", "board", root);
    this.root.setAttribute("role", "group");
    this.scroller = element("div", "scroller", this.root);
    this.stage = element("div", "stage", this.scroller);
    this.layers = ["colours", "ink", "light"].map((name) => new Brush(element("canvas", name, this.stage)));
    this.status = element("div", "status", this.root);
    this.notes = element("div", "notes", this.root);
    this.live = element("div", "live", this.root);
    this.live.setAttribute("aria-live", "polite");
    this.views = new Map();
    this.selected = {};
    this.sent = 0; // number of the last message to Python
    this.pick = null; // what that message and later ones must still say
    this.edits = [];
    this.updates = 0;
    this.watch = new ResizeObserver(() => this.resize());
  }

  // --- from Python ---

  update(data, send) {
    this.attach();
    this.send = send;
    this.data = data;
    this.root.setAttribute("aria-label", data.label);
    this.hear(data);
    this.theme = readTheme(this.root);
    const fading = this.receive(data.matrices);
    this.layOut();
    this.paintAll();
    this.updates += 1;
    this.root.dataset.painted = this.updates;
    if (fading) this.fade();
    else this.settle();
    return this.updates;
  }

  // Take over Python's selection, unless Python has not heard of the reader's last one yet.
  hear({ answered, selected }) {
    if (this.updates === 0) this.sent = answered;
    this.edits = this.edits.filter((edit) => edit.n > answered);
    if (answered < this.sent) return;
    this.pick = null;
    this.selected = selected;
  }

  // Hand each matrix its numbers. -> whether colours shall fade
  receive(matrices) {
    const same = this.mode === this.theme.mode;
    this.mode = this.theme.mode;
    const ids = new Set(matrices.map(({ id }) => id));
    for (const [id, view] of this.views) if (!ids.has(id)) this.drop(id, view);
    for (const data of matrices) {
      if (!this.views.has(data.id)) this.add(data.id);
      this.views.get(data.id).receive(data, this.mode);
    }
    const views = [...this.views.values()];
    if (!same || calm.matches) for (const view of views) view.settle();
    return views.map((view) => view.startFade()).some(Boolean);
  }

  add(id) {
    const view = new View(this.stage);
    this.views.set(id, view);
    this.listen(view);
  }

  drop(id, view) {
    view.remove();
    this.views.delete(id);
  }

  // --- life ---

  attach() {
    if (boards.has(this)) return;
    boards.add(this);
    this.watch.observe(this.root);
    document.fonts.ready.then(() => this.redraw());
  }

  // Streamlit also ends an update that a newer one has overtaken: only the last one's end counts.
  release(update) {
    if (update !== this.updates) return;
    this.flush();
    boards.delete(this);
    this.watch.disconnect();
  }

  resize() {
    if (this.root.clientWidth !== this.width || window.devicePixelRatio !== this.ratio) this.redraw();
  }

  redraw() {
    if (!boards.has(this)) return;
    this.layOut();
    this.paintAll();
  }

  // --- drawing ---

  layOut() {
    this.width = this.root.clientWidth;
    this.ratio = window.devicePixelRatio;
    const views = [...this.views.values()];
    const { family } = this.theme;
    for (const view of views) view.measure(family);
    this.plan = arrange(views, this.width, this.data.maxHeight - STATUS, 1 / this.ratio);
    const { width, height, boxes } = this.plan;
    Object.assign(this.stage.style, { width: `${width}px`, height: `${height}px` });
    for (const view of views) {
      view.stand(boxes.get(view), family);
      view.label();
      view.describe(this.selected);
    }
    this.tellNotes(views);
  }

  tellNotes(views) {
    const notes = [];
    if (views.some((view) => view.changed?.includes(1))) notes.push("\u25e5 changed by your edits");
    if (views.some((view) => view.editable)) notes.push("double-click or Enter edits a cell");
    setText(this.notes, notes.join(" \u00b7 "));
  }

  paintAll() {
    for (const layer of this.layers) this.sheet(layer);
    for (const view of this.views.values()) {
      paintColours(this.layers[0], view);
      paintInk(this.layers[1], view, this.theme);
    }
    this.paintLight();
  }

  sheet(layer) {
    layer.start(this.plan.width, this.plan.height, this.ratio, this.theme.family);
  }

  paintLight() {
    const light = this.layers[2];
    this.sheet(light);
    for (const view of this.views.values()) paintLight(light, view, this.theme, this.selected, lights.now);
    this.tellStatus();
  }

  fade() {
    const start = performance.now();
    const run = (this.run = () => {
      if (this.run !== run) return;
      const share = Math.min(1, (performance.now() - start) / FADE);
      for (const view of this.views.values()) view.fadeTo(share);
      this.sheet(this.layers[0]);
      for (const view of this.views.values()) paintColours(this.layers[0], view);
      if (share < 1) requestAnimationFrame(run);
      else this.settle();
    });
    requestAnimationFrame(run);
  }

  settle() {
    this.run = null;
    for (const view of this.views.values()) view.settle();
    this.root.dataset.settled = this.updates;
  }

  // The exact number under the pointer, else in the selected cell of the matrix used last.
  tellStatus() {
    const [pointed, cell] = lights.board === this ? [lights.view, lights.cell] : [this.current(), null];
    const shown = cell ?? pointed?.cellOf(this.selected);
    setText(this.status, pointed && shown ? pointed.exactly(shown) : "\u00a0");
  }

  current() {
    if (!this.views.has(this.lastUsed)) this.lastUsed = this.views.keys().next().value;
    return this.views.get(this.lastUsed);
  }

  // --- what the reader does ---

  listen(view) {
    const { grid } = view.nodes;
    const cellAt = (event) => view.cellAt(...pointIn(grid, event));
    grid.addEventListener("pointermove", (event) => lights.point(this, view, cellAt(event)));
    grid.addEventListener("pointerleave", () => lights.clear());
    grid.addEventListener("click", (event) => this.click(view, cellAt(event), event));
    grid.addEventListener("dblclick", () => this.edit(view));
    grid.addEventListener("keydown", (event) => this.press(view, event));
    grid.addEventListener("focus", () => this.enter(view));
    grid.addEventListener("blur", () => lights.clear());
  }

  enter(view) {
    this.lastUsed = view.id;
    this.tellStatus();
  }

  click(view, cell, event) {
    const again = String(cell) === String(view.cellOf(this.selected));
    if (again && event.pointerType === "touch") this.edit(view);
    this.select(view, cell, 0);
  }

  press(view, event) {
    if (event.target !== view.nodes.grid || event.altKey || event.metaKey) return;
    const step = STEPS_BY_KEY[event.key];
    if (step) this.step(view, step, event.ctrlKey);
    else if (event.key === "Enter") this.edit(view);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // With Ctrl, Home and End go to the first and last cell of all.
  step(view, [down, right], ctrl) {
    const corner = ctrl && Math.abs(right) === Infinity;
    const from = view.cellOf(this.selected);
    const [row, col] = from ?? [0, 0];
    const clamp = (index, count) => Math.min(count - 1, Math.max(0, index));
    const moves = from ? [corner ? right : down, right] : [0, 0];
    const cell = [clamp(row + moves[0], view.rows), clamp(col + moves[1], view.cols)];
    this.select(view, cell, SEND_AFTER);
    lights.point(this, view, cell);
  }

  select(view, cell, delay) {
    this.lastUsed = view.id;
    const axes = view.axesOf(cell);
    const moved = Object.keys(axes).some((axis) => axes[axis] !== this.selected[axis]);
    if (!moved) return;
    this.selected = { ...this.selected, ...axes };
    for (const other of this.views.values()) other.describe(this.selected);
    this.paintLight();
    setText(this.live, view.announcement(cell));
    if (this.data.pickable) this.post({ pick: axes }, delay);
  }

  // --- to Python ---

  // A message repeats what is not answered yet: Python may hear only the last of several.
  post({ pick, edit }, delay) {
    this.sent += 1;
    if (pick) this.pick = { ...this.pick, ...pick };
    if (edit) this.edits.push({ n: this.sent, ...edit });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), delay);
  }

  flush() {
    if (!this.timer) return;
    clearTimeout(this.timer);
    this.timer = null;
    this.send("sent", { n: this.sent, pick: this.pick, edits: this.edits });
  }

  // --- editing ---

  edit(view) {
    const cell = view.cellOf(this.selected);
    if (!view.editable || !cell || this.editor) return;
    const { x, y, width, height } = cellBox(view, ...cell);
    const editor = (this.editor = element("input", "editor", this.stage));
    setBox(editor, x + width / 2 - 32, y + height / 2 - 14, 64, 28);
    editor.value = exactText(view.valueOf(...cell));
    editor.setAttribute("aria-label", `${view.title}, ${view.rowLabels[cell[0]]}, ${view.colLabels[cell[1]]}`);
    editor.addEventListener("blur", () => this.commit(view, cell));
    editor.addEventListener("keydown", (event) => this.type(view, cell, event));
    editor.focus();
    editor.select();
  }

  type(view, cell, event) {
    event.stopPropagation();
    if (event.key === "Escape") this.closeEditor();
    else if (event.key === "Enter") this.commit(view, cell);
    else return;
    event.preventDefault();
    view.nodes.grid.focus();
  }

  commit(view, [row, col]) {
    if (!this.editor) return;
    const text = this.editor.value;
    this.closeEditor();
    const old = view.valueOf(row, col);
    const value = typedNumber(text);
    if (value === null) this.say(`\u201c${text}\u201d is not a number, ${exactText(old)} stays`);
    else if (value !== old) {
      const edit = { id: view.id, row: row + view.rowStart, col: col + view.colStart, value };
      this.post({ edit }, 0);
    }
  }

  closeEditor() {
    const { editor } = this;
    this.editor = null;
    editor.remove();
  }

  say(text) {
    setText(this.status, text);
    setText(this.live, text);
  }
}

// What the pointer lights, on every board of the page.
const lights = {
  board: null,
  view: null,
  cell: null,
  now: null,

  point(board, view, cell) {
    if (this.view === view && String(this.cell) === String(cell)) return;
    Object.assign(this, { board, view, cell });
    this.show({ id: view.id, axes: view.axesOf(cell), sources: view.sources });
  },

  clear() {
    if (this.now === null) return;
    Object.assign(this, { board: null, view: null, cell: null });
    this.show(null);
  },

  show(now) {
    this.now = now;
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      for (const board of boards) board.paintLight();
    });
  },
};

function pointIn(node, event) {
  const box = node.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

function readTheme(root) {
  const style = getComputedStyle(root);
  const value = (name) => style.getPropertyValue(name).trim();
  const background = value("--st-background-color");
  return {
    background,
    text: value("--st-text-color"),
    border: value("--st-border-color"),
    accent: value("--st-primary-color"),
    muted: getComputedStyle(root.querySelector(".notes")).color,
    family: style.fontFamily,
    mode: luminance(rgbOfCss(background)) > 0.18 ? "light" : "dark",
  };
}

// Any CSS colour as [r, g, b].
function rgbOfCss(colour) {
  ruler.fillStyle = "#ffffff";
  ruler.fillStyle = colour;
  ruler.fillRect(0, 0, 1, 1);
  return [...ruler.getImageData(0, 0, 1, 1).data.slice(0, 3)];
}

export default function show({ data, parentElement, setTriggerValue }) {
  if (!boardOf.has(parentElement)) boardOf.set(parentElement, new Board(parentElement));
  const board = boardOf.get(parentElement);
  const update = board.update(data, setTriggerValue);
  return () => board.release(update);
}
