// The board: all matrices that one call of show_matrices draws, and what a reader does to them.
// Streamlit calls the function at the end of this file for each new payload and each change of theme.

const FADE = 240; // milliseconds from an old colour to the new one
const SEND_AFTER = 120; // milliseconds of rest after an arrow key
const LOST_AFTER = 10_000; // milliseconds without an answer: the message will not get one
const FOOT = 24; // height of the line of words under the matrices
const EDGE = 8; // left free at the end of the screen

const boardOf = new WeakMap();
const boards = new Set(); // those on the page: what is pointed at is lit on all of them
const sending = new Set(); // those whose last message has no answer: a turn of the page waits (assets/steps/steps.js)
const calm = window.matchMedia("(prefers-reduced-motion: reduce)");

const STEPS_OF_KEYS = {
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
    this.root = element("div", "board", root, { role: "group" });
    this.scroller = element("div", "scroller", this.root);
    this.stage = element("div", "stage", this.scroller);
    this.brush = new Brush(element("canvas", "picture", this.stage));
    this.foot = element("div", "foot", this.root);
    this.status = element("span", "status", this.foot);
    this.notes = element("span", "notes", this.foot);
    this.live = element("div", "live", this.root, { "aria-live": "polite" });
    this.views = new Map();
    this.selected = {};
    this.updates = 0; // of Python
    this.asked = new Map(); // slider -> stop: moves that Python has not heard of
    this.painted = 0; // pictures, with those that were drawn ahead of Python
    this.sent = 0; // the number of the last message to Python, and what has no answer yet:
    this.pick = null;
    this.edits = [];
    this.watch = new ResizeObserver(() => this.resize());
    this.moves = new MutationObserver((records) => records.forEach((record) => this.follow(record)));
  }

  // --- from Python ---

  update(data, send) {
    this.send = send;
    this.given = { ...data, matrices: decoded(data.matrices, []) };
    const steps = this.stepsAsked();
    this.asked = new Map(steps.map(({ slider, stop }) => [slider, stop])); // Python has heard of the others
    this.drawStep(steps[0]);
    this.updates += 1;
    return this.updates;
  }

  // A slider has come to a stop whose picture is here already, or back to where Python knows it. There is none
  // of two sliders that were both moved; and a slider that Python itself has put where it is was not moved, nor
  // one that is told once more where it stands.
  follow({ target: slider, oldValue }) {
    const stop = slider.getAttribute("aria-valuetext");
    if (stop === oldValue) return;
    const moved = this.given.ahead.find((step) => slider.closest(`.st-key-${step.slider}`));
    if (!moved || (moved.start === stop && !this.asked.has(moved.slider))) return;
    this.asked.set(moved.slider, stop);
    const away = [...this.asked].filter(([slider, stop]) => {
      return !this.given.ahead.some((step) => step.slider === slider && step.start === stop);
    });
    const steps = this.stepsAsked();
    if (away.length < 2 && steps.length === away.length) this.drawStep(steps[0]);
  }

  // Those of the next pictures that the reader has moved a slider to.
  stepsAsked() {
    return this.given.ahead.filter(({ slider, stop }) => this.asked.get(slider) === stop);
  }

  drawStep(step) {
    if (!step) this.draw(this.given);
    else this.draw({ ...this.given, ...step, matrices: decoded(step.matrices, this.given.matrices) });
  }

  // data-painted counts the pictures that have stood; data-settled tells of which the colours have also faded.
  draw(data) {
    this.data = data;
    this.root.classList.toggle("large", data.scale > 1);
    this.theme = readTheme(this.root);
    setAttributes(this.root, { "aria-label": data.label });
    this.hear(data);
    const news = this.isNews(data);
    const fades = news && this.receive(data.matrices);
    this.attach();
    this.redraw();
    this.painted += 1;
    this.root.dataset.painted = this.painted;
    if (fades) this.fade();
    else if (news || !this.fading) this.settle();
  }

  // The answer to what was drawn ahead brings the same numbers: their colours may still be fading.
  isNews({ matrices }) {
    const drawn = this.drawn;
    this.drawn = matrices;
    if (this.theme.mode !== this.mode || matrices.length !== drawn?.length) return true;
    return matrices.some((matrix, i) => !sameMatrix(matrix, drawn[i]));
  }

  // Take over Python's selection, unless Python has not heard of the reader's last one yet.
  hear({ answered, selected }) {
    if (this.updates === 0) this.sent = answered;
    if (answered < this.sent && performance.now() - this.sentAt < LOST_AFTER) return;
    const edited = this.edits.at(-1);
    this.selected = selected;
    this.pick = null;
    this.edits = [];
    noteSending(this, false);
    this.reread = edited?.id;
  }

  // Hand each matrix its numbers. -> whether colours shall fade
  receive(matrices) {
    const repaint = calm.matches || this.mode !== this.theme.mode;
    this.mode = this.theme.mode;
    const ids = new Set(matrices.map(({ id }) => id));
    for (const id of this.views.keys()) if (!ids.has(id)) this.drop(id);
    for (const data of matrices) {
      if (!this.views.has(data.id)) this.add(data.id);
      this.views.get(data.id).receive(data, this.mode);
    }
    if (this.editor && !this.editor.view.contains(...this.editor.cell)) this.closeEditor();
    return this.all().map((view) => (repaint ? view.settle() : view.startFade())).some(Boolean);
  }

  all() {
    return [...this.views.values()];
  }

  add(id) {
    const view = new View(this.stage);
    this.views.set(id, view);
    this.listen(view);
  }

  drop(id) {
    const view = this.views.get(id);
    if (lights.view === view) lights.clear();
    if (this.editor?.view === view) this.closeEditor();
    view.remove();
    this.views.delete(id);
  }

  // --- life ---

  attach() {
    if (boards.has(this)) return;
    boards.add(this);
    this.watch.observe(this.root);
    this.moves.observe(document.body, {
      subtree: true,
      attributeFilter: ["aria-valuetext"],
      attributeOldValue: true,
    });
    const page = document.querySelector('[data-testid="stMainBlockContainer"]');
    if (page) this.watch.observe(page); // what comes above the board later moves it
    if (document.fonts.status !== "loaded") document.fonts.ready.then(() => this.fontsCame());
  }

  // Streamlit also ends an update that a newer one has overtaken: only the last one's end counts.
  release(update) {
    if (update !== this.updates) return;
    clearTimeout(this.timer);
    if (lights.board === this) lights.clear();
    boards.delete(this);
    noteSending(this, false);
    this.watch.disconnect();
    this.moves.disconnect();
  }

  resize() {
    const now = this.look();
    if (Object.keys(now).some((name) => now[name] !== this.seen[name])) this.redraw();
  }

  fontsCame() {
    known.clear();
    this.redraw();
  }

  // --- drawing ---

  redraw() {
    this.seen = this.look();
    if (this.seen.width) this.layOut();
    this.paint();
  }

  // What a layout depends on. Where it begins matters only when it shall end with the window.
  look() {
    const { top } = this.root.getBoundingClientRect();
    return {
      width: this.root.clientWidth,
      ratio: window.devicePixelRatio,
      top: this.data.maxHeight === 0 ? Math.round(top) : 0,
    };
  }

  // For a class everything is drawn larger by a factor: the layout counts pixels of that size.
  takeSize(scale) {
    this.scale = scale;
    this.width = this.seen.width / scale;
    this.ratio = this.seen.ratio * scale;
    this.stage.style.zoom = scale;
  }

  layOut() {
    const phone = window.innerWidth < PHONE;
    this.foot.classList.toggle("narrow", phone);
    this.tellNotes();
    for (const view of this.all()) view.measure(this.theme.family);
    this.plan = this.planFor(phone);
    const { width, height, boxes } = this.plan;
    Object.assign(this.stage.style, { width: `${width}px`, height: `${height}px` });
    for (const [view, box] of boxes) {
      view.stand(box, this.theme.family);
      view.label();
    }
    this.describe();
  }

  // As large as asked for, or less where not all would be seen at once.
  planFor(phone) {
    const wished = this.data.scale;
    for (let scale = wished; ; scale -= 0.05) {
      this.takeSize(scale);
      const maxHeight = this.room() / scale;
      const plan = arrange(this.all(), { width: this.width, maxHeight, pixel: 1 / this.ratio, phone });
      const whole = !plan.folded && plan.width <= this.width && plan.height <= maxHeight;
      if (whole || scale <= 1) return plan;
    }
  }

  // No height is given where nothing follows on a page that must not scroll.
  room() {
    const { maxHeight, scale } = this.data;
    if (maxHeight === 0) return window.innerHeight - this.seen.top - EDGE;
    return (maxHeight - (scale > 1 ? 0 : FOOT)) * scale;
  }

  describe() {
    for (const view of this.all()) view.describe(this.selected);
    if (this.reread) this.announce(this.views.get(this.reread));
    this.reread = null;
  }

  announce(view) {
    const cell = view?.cellOf(this.selected);
    if (cell) setText(this.live, view.announcement(cell));
  }

  tellNotes() {
    const notes = [];
    if (this.all().some(({ changed }) => changed?.includes(1))) notes.push("\u25e5 changed");
    const finger = matchMedia("(pointer: coarse)").matches;
    const [edits, turns] = finger
      ? ["tap a cell twice to edit it", "tap turns a cell over"]
      : ["double-click or Enter edits", "click or Enter turns a cell over"];
    if (this.all().some(({ editable }) => editable)) notes.push(edits);
    if (this.all().some(({ switches }) => switches)) notes.push(turns);
    setText(this.notes, notes.join(" \u00b7 "));
  }

  paint() {
    if (!this.seen.width) return; // in a closed tab or expander: painted when it opens
    this.brush.start(this.plan.width, this.plan.height, this.ratio, this.theme);
    for (const view of this.all()) {
      paintPicture(this.brush, view, this.theme);
      paintLight(this.brush, view, this.theme, this.selected, lights.now);
    }
    this.tellStatus();
  }

  fade() {
    const start = performance.now();
    const step = () => {
      if (this.fading !== step) return; // a newer payload has come
      const share = Math.min(1, (performance.now() - start) / FADE);
      for (const view of this.all()) view.fadeTo(share);
      if (share === 1) this.settle();
      this.paint();
      if (share < 1) requestAnimationFrame(step);
    };
    this.fading = step;
    requestAnimationFrame(step);
  }

  settle() {
    this.fading = null;
    for (const view of this.all()) view.settle();
    this.root.dataset.settled = this.painted;
  }

  // The exact number under the pointer, else in the selected cell of the matrix used last.
  tellStatus() {
    const pointed = lights.board === this && lights.view.contains(...lights.cell); // it may have grown smaller
    const view = pointed ? lights.view : this.lastUsed();
    const cell = pointed ? lights.cell : view?.cellOf(this.selected);
    setText(this.status, cell ? view.exactly(cell) : "");
  }

  lastUsed() {
    return this.views.get(this.used) ?? this.views.get(this.data.main) ?? this.all()[0];
  }

  // --- what the reader does ---

  listen(view) {
    const { grid } = view.nodes;
    const cellAt = (event) => view.cellAt(...pointIn(grid, event, this.scale));
    grid.addEventListener("pointermove", (event) => lights.point(this, view, cellAt(event)));
    grid.addEventListener("pointerleave", () => lights.clear());
    grid.addEventListener("click", (event) => this.click(view, cellAt(event), event.pointerType));
    grid.addEventListener("dblclick", () => this.edit(view));
    grid.addEventListener("keydown", (event) => this.press(view, event));
    grid.addEventListener("focus", () => this.enter(view));
    grid.addEventListener("blur", () => this.leave());
  }

  enter(view) {
    this.used = view.id;
    this.tellStatus();
  }

  leave() {
    lights.clear();
    if (this.timer) this.flush();
  }

  // A second tap on a cell edits it, as a double click does.
  click(view, cell, pointer) {
    const again = String(cell) === String(view.cellOf(this.selected));
    this.select(view, cell, 0);
    if (view.switches) this.turn(view);
    else if (again && pointer === "touch") this.edit(view);
  }

  press(view, event) {
    const { key, ctrlKey, altKey, metaKey } = event;
    if (altKey || metaKey) return;
    if (key in STEPS_OF_KEYS) this.step(view, STEPS_OF_KEYS[key], ctrlKey);
    else if (view.switches && (key === "Enter" || key === " ")) this.turn(view);
    else if (key === "Enter") this.edit(view);
    else if (view.editable && !ctrlKey && /^[\d.,+\u2212-]$/.test(key)) this.edit(view, key);
    else return;
    event.preventDefault();
    event.stopPropagation(); // the page's own keys stay out of it
  }

  // The first key finds the selection, or selects the first cell. Ctrl+Home and Ctrl+End go to the corners.
  step(view, [down, right], ctrl) {
    const clamp = (index, count) => Math.min(count - 1, Math.max(0, index));
    const from = view.cellOf(this.selected);
    const [row, col] = from ?? [-down, -right];
    const corner = ctrl && !Number.isFinite(right);
    const cell = [clamp(row + (corner ? right : down), view.rows), clamp(col + right, view.cols)];
    this.select(view, from ? cell : [0, 0], SEND_AFTER);
    this.scrollTo(view, view.cellOf(this.selected));
    lights.point(this, view, view.cellOf(this.selected));
  }

  scrollTo(view, [row, col]) {
    const { x, width } = cellBox(view, row, col);
    const { scale } = this;
    const [left, room] = [this.scroller.scrollLeft / scale, this.scroller.clientWidth / scale];
    if (x < left) this.scroller.scrollLeft = (x - width) * scale;
    if (x + width > left + room) this.scroller.scrollLeft = (x + 2 * width - room) * scale;
  }

  select(view, cell, delay) {
    const another = this.picked !== view.id; // the same cell of another matrix is news too
    this.used = this.picked = view.id;
    const axes = view.axesOf(cell);
    if (!another && Object.keys(axes).every((axis) => axes[axis] === this.selected[axis])) return;
    this.selected = { ...this.selected, ...axes };
    this.describe();
    this.paint();
    this.announce(view);
    if (this.data.pickable) this.post({ pick: axes }, delay);
  }

  // --- to Python ---

  // A message repeats what has no answer yet, for Python may hear only the last of several.
  post({ pick, edit }, delay) {
    this.sent += 1;
    this.sentAt = performance.now();
    if (pick) this.pick = { ...this.pick, ...pick };
    if (edit) this.edits.push({ n: this.sent, ...edit });
    noteSending(this, true);
    clearTimeout(this.timer);
    if (delay) this.timer = setTimeout(() => this.flush(), delay);
    else this.flush();
  }

  flush() {
    clearTimeout(this.timer);
    this.timer = null;
    this.send("sent", { n: this.sent, pick: this.pick, id: this.picked, edits: this.edits });
  }

  // --- editing: Enter and leaving the field keep the number, Escape does not ---

  edit(view, typed = null) {
    const cell = view.cellOf(this.selected);
    if (!view.editable || !cell || this.editor) return;
    const node = element("input", "editor", this.stage, { "aria-label": `New value: ${view.named(cell)}` });
    const { x, y, width, height } = cellBox(view, ...cell);
    setBox(node, Math.max(0, x + width / 2 - 32), y + height / 2 - 14, 64, 28);
    this.editor = { node, view, cell };
    node.value = typed ?? exactText(view.valueOf(...cell));
    node.addEventListener("blur", () => this.commit());
    node.addEventListener("keydown", (event) => this.type(event));
    node.focus();
    if (typed === null) node.select();
  }

  type(event) {
    event.stopPropagation();
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    const { grid } = this.editor.view.nodes;
    if (event.key === "Enter") this.commit();
    else this.closeEditor();
    grid.focus();
  }

  commit() {
    if (!this.editor) return;
    const { node, view, cell } = this.editor;
    this.closeEditor();
    const old = view.valueOf(...cell);
    const value = typedNumber(node.value);
    const [row, col] = [cell[0] + view.rowStart, cell[1] + view.colStart];
    if (value === null) this.say(`\u201c${node.value}\u201d is not a number: ${view.exactly(cell)} stays`);
    else if (value !== old) this.post({ edit: { id: view.id, row, col, value } }, 0);
  }

  // A cell that is 0 or 1 needs no field: it is sent as the other of the two.
  turn(view) {
    const cell = view.cellOf(this.selected);
    if (!cell) return;
    const [row, col] = [cell[0] + view.rowStart, cell[1] + view.colStart];
    this.post({ edit: { id: view.id, row, col, value: 1 - view.valueOf(...cell) } }, 0);
  }

  // Removing the field makes it lose the focus: it must be forgotten first.
  closeEditor() {
    const { node } = this.editor;
    this.editor = null;
    node.remove();
  }

  say(text) {
    setText(this.status, text);
    setText(this.live, text);
  }
}

// html[data-sending] tells of it.
function noteSending(board, on) {
  sending[on ? "add" : "delete"](board);
  document.documentElement.toggleAttribute("data-sending", sending.size > 0);
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

  // However often the pointer moves, once a frame.
  show(now) {
    this.now = now;
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      for (const board of boards) board.paint();
    });
  },
};

function pointIn(node, event, scale) {
  const box = node.getBoundingClientRect();
  return [(event.clientX - box.left) / scale, (event.clientY - box.top) / scale];
}

function readTheme(root) {
  const style = getComputedStyle(root);
  const value = (name) => style.getPropertyValue(name).trim();
  const background = value("--st-background-color");
  return {
    background,
    text: value("--st-text-color"),
    muted: style.getPropertyValue("outline-color"), // see matrix.css
    border: value("--st-border-color"),
    accent: value("--st-primary-color"),
    family: style.fontFamily,
    mode: luminance(rgbOfCss(background)) > 0.18 ? "light" : "dark",
  };
}

const shades = new Map();

// Any CSS colour as [r, g, b].
function rgbOfCss(colour) {
  if (!shades.has(colour)) {
    ruler.fillStyle = colour;
    ruler.fillRect(0, 0, 1, 1);
    shades.set(colour, [...ruler.getImageData(0, 0, 1, 1).data.slice(0, 3)]);
  }
  return shades.get(colour);
}

export default function show({ data, parentElement, setTriggerValue }) {
  if (!boardOf.has(parentElement)) boardOf.set(parentElement, new Board(parentElement));
  const board = boardOf.get(parentElement);
  const update = board.update(data, setTriggerValue);
  return () => board.release(update);
}
