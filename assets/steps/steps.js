// The keys of a lesson. Arrows step in every mode wherever they have no other work to do; in presenter mode the
// keys of a clicker, the digits, and a few letters work as well, and a page is shown one screen at a time. Links
// inside the text that open a page in a given state are followed without loading the app anew. A turn that comes
// early takes all of the state along. Windows of one
// browser that present the lesson and show its notes stay on the same page. For those who listen, answers are read
// out when they come, and the focus is not lost with a button that has done its work. A server that has restarted
// hears of the page at once.
//
// Streamlit calls the function at the end for each page and each change of mode. html[data-heard] then names the
// page whose keys are heard.

const TYPING = "input:not([type=checkbox], [type=radio], [type=range], [role=combobox]), textarea, [contenteditable=true]";
const USES_ARROWS = `${TYPING}, input, select, [role=slider], [role=grid], [role=combobox], [role=listbox], [role=option],
  [role=radiogroup], [role=tablist], [role=menu], [role=menuitem]`;
const FIELD = "input, select, [role=combobox]"; // where Escape has work of its own
const OPEN = "[role=combobox][aria-expanded=true], [role=listbox], [role=option], [role=menu], [role=dialog]";
const SHOW_SIDEBAR = '[data-testid="stExpandSidebarButton"]'; // there only while the sidebar is closed
const HIDE_SIDEBAR = '[data-testid="stSidebarCollapseButton"] button';
const TURNS = { ArrowLeft: "back", ArrowRight: "next" };
const CLICKER = { PageUp: -1, PageDown: 1 };
const DOWN = { ArrowUp: -1, ArrowDown: 1 };

// The screens of a page: the question, its first look, then what stands in containers named screen_<name> and in
// these, in the order of the page. Blocks of one name share a screen (screen_<name>__<place>). html[data-part]
// names the one that is shown.
const FIRST = "step";
const LATER = {
  ask: ".st-key-predict",
  code: ":is(.st-key-page_code_long, .st-key-page_code, .st-key-addresses, .st-key-pitfalls)",
  lab: ".st-key-labs",
};
const OWN = "st-key-screen_";
const OWNS = `[class*="${OWN}"]`;
const NOT_FIRST = `:is(${LATER.ask}, .st-key-trace, .st-key-page_code_long, .st-key-addresses, .st-key-pitfalls,
  ${LATER.lab}, ${OWNS})`;
const LEAF = '[data-testid="stElementContainer"]';
const BRANCH = ':is([data-testid="stLayoutWrapper"], [data-testid="stColumn"], [data-testid="stExpander"])';

// Where answers come, and a place that can take the focus of a part of it that went.
const TOLD = ":is(.st-key-predict, .st-key-quiz, .st-key-by_hand_blanks):not([aria-live])";
const BLOCK = '[data-testid="stVerticalBlock"]';
const PATIENCE = 200; // milliseconds in which a page may put the focus somewhere itself

const APP = '[data-testid="stApp"]';
const SIDEBAR = '[data-testid="stSidebar"]';
const COMING = '[data-testid="stSkeleton"]'; // stands where an input will
const LONGEST = 5000; // milliseconds that a turn waits

const WHERE = "?";
const channel = new BroadcastChannel("attention-tutor lesson");
let listening = new AbortController(); // one set of listeners, however often Streamlit calls
let shown = null; // the page of the last call
let names = []; // of all pages, as they stand in the address
let going = null; // the page that was turned to, until it has come
let together = null; // the page that the other windows have heard of
let following = null; // the page that another window has sent us to
let around = []; // the element with the focus and those around it, innermost first
let waiting = null; // the turn that waits
let told = false; // Python has done all that it heard, of the first run and from the matrices
let led = false; // the page has been turned from here, with nothing lost
const opened = new URL(performance.getEntriesByType("navigation")[0].name); // the address as it was opened
const curtain = new CSSStyleSheet(); // hides what is not on the screen that is shown
document.adoptedStyleSheets = [...document.adoptedStyleSheets, curtain];

export default function listen({ data, setTriggerValue }) {
  listening.abort();
  const mine = (listening = new AbortController());
  const options = { capture: true, signal: mine.signal }; // before the matrices, which keep their keys to themselves
  document.addEventListener("keydown", (event) => press(event, data, setTriggerValue), options);
  document.addEventListener("click", (event) => follow(event, data), options);
  addEventListener("popstate", ({ isTrusted }) => isTrusted && goneBack(), options);
  document.addEventListener("focusin", ({ target }) => (around = ancestors(target)), options);
  attend(mine.signal);
  greetServer(mine.signal, setTriggerValue);
  if (!data.present) showAll();
  else if (data.page !== shown || !partShown()) showPart(FIRST);
  if (data.present) watchParts(mine.signal);
  if (data.page !== shown) going = null;
  shown = data.page;
  names = data.pages;
  mendFirstTurn();
  spellOut(data);
  keepTogether(data, mine.signal);
  document.documentElement.dataset.heard = data.page;
  return () => {
    mine.abort();
    if (listening === mine) delete document.documentElement.dataset.heard;
  };
}

// --- keys ---

function press(event, data, send) {
  const { key, altKey, ctrlKey, metaKey, shiftKey, repeat } = event;
  if (altKey || ctrlKey || metaKey || shiftKey || repeat) return;
  const within = focusOf(event);
  const done = data.present ? present(key, within, data, send) : !within(USES_ARROWS) && turn(TURNS[key]);
  if (!done) return;
  event.preventDefault();
  event.stopPropagation();
}

// -> whether the focus is in an element that fits a selector, also inside a component
function focusOf(event) {
  const path = event.composedPath().filter((node) => node instanceof Element);
  return (selector) => path.some((node) => node.matches(selector));
}

function present(key, within, data, send) {
  if (within(TYPING) || within(OPEN)) return false;
  if (key.startsWith("Arrow") && within(USES_ARROWS)) return false;
  if (key in TURNS) return turn(TURNS[key]);
  if (key in CLICKER) return movePart(CLICKER[key]) || turn(CLICKER[key] > 0 ? "next" : "back") || true;
  if (key in DOWN) return movePart(DOWN[key]) || true;
  if (key === "r") return reveal();
  if (key === "s") return click(SHOW_SIDEBAR) || click(HIDE_SIDEBAR);
  if (/^[1-9]$/.test(key) && key <= data.pages.length) return visit(data.pages[key - 1]);
  if (key !== "Escape" || within(FIELD)) return false;
  send("leave", true);
  return true;
}

function turn(where) {
  return where !== undefined && click(`.st-key-${where} a`);
}

// The first of these that can be seen.
function click(selector) {
  const found = [...document.querySelectorAll(selector)].find((node) => node.getClientRects().length);
  found?.click();
  return found !== undefined;
}

// --- screens ---

function partShown() {
  return document.documentElement.dataset.part;
}

// -> the names of the page's screens, in the order in which they are shown
function parts() {
  const later = [...document.querySelectorAll(`.stMainBlockContainer :is(${Object.values(LATER)}, ${OWNS})`)];
  const names = new Set(later.map(nameOf));
  return [...(names.delete("ask") ? ["ask"] : []), FIRST, ...names];
}

function nameOf(node) {
  const own = [...node.classList].find((name) => name.startsWith(OWN));
  return own?.slice(OWN.length).split("__")[0] ?? Object.keys(LATER).find((name) => node.matches(LATER[name]));
}

function movePart(by) {
  const names = parts();
  const place = names.indexOf(partShown()) + by;
  return place in names && showPart(names[place]);
}

// Blocks of a screen may stand inside another one's: then they are on their own screen only.
function showPart(part) {
  const mine = LATER[part] ?? `:is(.${OWN}${part}, [class*="${OWN}${part}__"])`;
  const inside = part === FIRST ? `:not(${NOT_FIRST} *)` : `:is(${mine} *):not(${mine} ${OWNS} *)`;
  const seen = `${LEAF}:is(.st-key-frame *, .st-key-speaker_notes *, ${inside})`;
  const page = ".stMainBlockContainer";
  curtain.replaceSync(
    `${page} ${LEAF}:not(${seen}), ${page} ${BRANCH}:not(:has(${seen})) { display: none !important; }`,
  );
  document.documentElement.dataset.part = part;
  document.querySelector(".stMain")?.scrollTo(0, 0);
  leaveHidden();
  return true;
}

// A matrix that has just been hidden would still take the next key: browsers move the focus a moment later.
function leaveHidden() {
  let focused = document.activeElement;
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  if (focused && !focused.getClientRects().length) focused.blur();
}

function showAll() {
  curtain.replaceSync("");
  delete document.documentElement.dataset.part;
}

// What is chosen in the sidebar may take away the screen that is shown.
function watchParts(signal) {
  const watch = new MutationObserver(() => parts().includes(partShown()) || showPart(FIRST));
  watch.observe(document.querySelector(".stMain"), { childList: true, subtree: true });
  signal.addEventListener("abort", () => watch.disconnect());
}

// The answer that is on screen; where there is none, the question comes first.
function reveal() {
  return click('[class*="st-key-reveal"] :is(button, input)') || (parts().includes("ask") && showPart("ask"));
}

// --- addresses ---

// The address of a page in the present state. Streamlit's links can be clicked before anything here is heard, and
// before the inputs stand: what the address has lost by that comes back.
function addressOf(page) {
  const address = new URL(page || ".", location.href);
  address.search = location.search;
  return withLost(address);
}

function withLost(address) {
  const lost = [...opened.searchParams].filter(([name]) => turnedAlone() && !address.searchParams.has(name));
  for (const [name, value] of lost) address.searchParams.append(name, value);
  return address;
}

// By the browser's own Back or Forward.
function goneBack() {
  led = true;
  going = null;
}

function turnedAlone() {
  return !led && location.pathname !== opened.pathname;
}

// The page may have been turned again by then: the address that is there is mended.
function mendFirstTurn() {
  if (turnedAlone()) whenAllStands(() => open(withLost(new URL(location.href)), "replaceState"));
}

function visit(page) {
  whenAllStands(() => open(addressOf(page)));
  return true;
}

// The last turn that is asked for is made, as soon as nothing gets lost by it, and once.
function whenAllStands(turn) {
  const since = performance.now();
  waiting = turn;
  const look = () => {
    if (waiting !== turn) return;
    const stands = allStands();
    if (!stands && performance.now() - since < LONGEST) return setTimeout(look, 30);
    waiting = null;
    turn();
    goTo(location.pathname.split("/").at(-1));
    led ||= stands;
  };
  look();
}

// The start page is the one without a name.
function goTo(last) {
  const page = names.includes(last) ? last : "";
  going = page === shown ? null : page;
}

// Streamlit takes an input that the browser does not yet have for one that has gone, and its value leaves the
// address when the page is turned. What was picked or edited in a matrix (html[data-sending]: see board.js) is in
// the address only when Python has heard of it and its run has ended. And a page that is turned to has to come
// first: of clicks upon clicks Streamlit makes turns that leave inputs behind.
function allStands() {
  const sidebar = document.querySelector(SIDEBAR);
  const inputs = !sidebar || (sidebar.querySelector("input") && !sidebar.querySelector(COMING));
  if ("sending" in document.documentElement.dataset) told = false;
  else if (document.querySelector(APP).dataset.testScriptState === "notRunning") told = true;
  return inputs && told && going === null;
}

// What the browser's Back button does, to an address of our choice: the session goes on.
function open(address, how = "pushState") {
  if (address.href !== location.href) {
    history[how]({}, "", address);
    dispatchEvent(new PopStateEvent("popstate"));
  }
  return true;
}

// Streamlit knows present=true; present=1 works too, but Streamlit drops it from the address.
function spellOut({ present, notes }) {
  const address = new URL(location.href);
  const missing = Object.entries({ present, notes }).filter(([name, on]) => on && !address.searchParams.has(name));
  for (const [name] of missing) address.searchParams.set(name, "true");
  if (missing.length) open(address, "replaceState");
}

// Links that turn the page. Those inside the text bring a state of their own; the others are Streamlit's, which
// are left to it where that loses nothing.
function follow(event, { pages }) {
  const link = event.target instanceof Element && event.target.closest("a[href]");
  if (!link || event.button) return;
  const address = new URL(link.href);
  const last = address.pathname.split("/").at(-1);
  if (address.origin !== location.origin || address.hash || !pages.includes(last)) return;
  const inText = link.closest(".stMarkdown");
  if (!inText && allStands()) {
    led = true;
    waiting = null;
    goTo(last);
    return;
  }
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  event.stopPropagation();
  if (inText) whenAllStands(() => open(address));
  else visit(last);
}

// --- the lesson and its notes in two windows ---

// A page that is turned here is turned there. Notes that have just been opened ask where the lesson is.
function keepTogether({ page, present, notes }, signal) {
  if (!present && !notes) return;
  const led = following === page;
  following = null;
  const asks = together === null && !present;
  if (!led && page !== together) channel.postMessage(asks ? WHERE : page);
  together = page;
  channel.onmessage = ({ data }) => {
    if (data === WHERE && present) channel.postMessage(page);
    if (data === WHERE || data === page) return;
    following = data;
    visit(data);
  };
  signal.addEventListener("abort", () => (channel.onmessage = null));
}

// --- servers that restart ---

// A new server hears of an open page with the first move on it. It would take that for how the page began, and do
// nothing that the move should bring about.
function greetServer(signal, send) {
  const app = document.querySelector(APP);
  let away = false;
  const watch = new MutationObserver(() => {
    const here = app.dataset.testConnectionState === "CONNECTED";
    if (here && away) send("again", true);
    away = !here;
  });
  watch.observe(app, { attributes: true, attributeFilter: ["data-test-connection-state"] });
  signal.addEventListener("abort", () => watch.disconnect());
}

// --- for those who listen ---

function ancestors(node) {
  return node ? [node, ...ancestors(node.parentElement)] : [];
}

function attend(signal) {
  let waiting = null;
  const watch = new MutationObserver(() => {
    for (const place of document.querySelectorAll(TOLD)) place.setAttribute("aria-live", "polite");
    if (waiting || !around.length || around[0].isConnected) return;
    waiting = setTimeout(() => {
      waiting = null;
      keepFocus();
    }, PATIENCE);
  });
  watch.observe(document.body, { childList: true, subtree: true });
  signal.addEventListener("abort", () => watch.disconnect());
}

// The next stop of the Tab key is then beside what went, and a screen reader goes on there.
function keepFocus() {
  if (document.activeElement !== document.body) return;
  const place = around.find((node) => node.isConnected && node.matches(BLOCK));
  if (!place) return;
  place.tabIndex = -1;
  place.style.outline = "none";
  place.focus({ preventScroll: true });
}
