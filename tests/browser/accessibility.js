// What test_accessibility.py asks of a page. Text is found in components too, which have trees of their own.

// Rule and place of everything that axe-core complains of, and of what it leaves to a person.
async function complaints(rules) {
  const { violations, incomplete } = await axe.run(document, { resultTypes: ["violations", "incomplete"], rules });
  const listed = (results) =>
    results.flatMap(({ id, nodes }) =>
      nodes.map(({ target, html, failureSummary }) => ({ rule: id, place: target.flat().join(" "), html, why: failureSummary })),
    );
  return { violations: listed(violations), incomplete: listed(incomplete) };
}

// Texts whose contrast with what is painted beneath them is below WCAG's AA, as [text, contrast, ink, ground].
// What axe-core cannot judge (short texts, texts beside a canvas, texts under the fold, charts) is judged too.
function faintTexts() {
  const faint = [];
  for (const [text, element] of shownTexts(document.body)) {
    const style = getComputedStyle(element);
    const least = isLarge(style) ? 3 : 4.5;
    const ink = rgba(element instanceof SVGElement ? style.fill : style.color);
    for (const ground of groundsOf(element)) {
      const contrast = contrastOf(over([...ink.slice(0, 3), ink[3] * opacityOf(element)], ground), ground);
      if (contrast < least) faint.push([text, Number(contrast.toFixed(2)), style.color, ground.join(" ")]);
    }
  }
  return faint;
}

function* shownTexts(root) {
  for (const node of root.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) {
      const element = node.parentElement ?? root.host;
      if (node.data.replace(/[\s\u200b]/g, "") && isShown(element) && !isExempt(element)) yield [node.data.trim().slice(0, 60), element];
    } else if (node.nodeType === Node.ELEMENT_NODE) {
      yield* shownTexts(node);
      if (node.shadowRoot) yield* shownTexts(node.shadowRoot);
    }
  }
}

function parentOf(node) {
  return node.assignedSlot ?? node.parentElement ?? node.getRootNode().host ?? null;
}

function around(node) {
  return node ? [node, ...around(parentOf(node))] : [];
}

function isShown(element) {
  if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
  const { width, height } = element.getBoundingClientRect();
  const clipped = around(element).some((node) => getComputedStyle(node).clipPath === "inset(50%)");
  return width > 1 && height > 1 && !clipped;
}

// WCAG 1.4.3 asks nothing of what is switched off; icons are judged as pictures, styles are not text.
function isExempt(element) {
  return element.closest(
    "style, script, noscript, .katex-mathml, [data-testid=stIconMaterial], [aria-disabled=true], [data-disabled=true], :disabled",
  );
}

function isLarge({ fontSize, fontWeight }) {
  const size = parseFloat(fontSize);
  return size >= 24 || (size >= 18.66 && Number(fontWeight) >= 700);
}

// The colours that a text may have beneath it: one, or those of a gradient from its left to its right end.
function groundsOf(element) {
  const layers = [];
  for (const node of [...paintedBehind(element), ...around(element)]) {
    if (!isBehind(element, node)) continue;
    const { backgroundColor, backgroundImage, backgroundSize } = getComputedStyle(node);
    // A strip of shade at a scroller's edge is no ground: what stands on it is on its way in or out.
    if (backgroundImage.startsWith("linear-gradient") && backgroundSize === "auto") {
      return stopsBeneath(element, node, backgroundImage);
    }
    const colour = rgba(backgroundColor);
    layers.push(colour);
    if (colour[3] === 1) break;
  }
  if (!layers.length || layers.at(-1)[3] < 1) layers.push(rgba(getComputedStyle(document.querySelector(".stApp")).backgroundColor));
  return [layers.reverse().reduce((ground, layer) => over(layer, ground))];
}

// Grounds that are no ancestors: the box around a part of a formula, the lowest layer of a chart.
function paintedBehind(element) {
  const boxes = element.closest(".katex")?.querySelectorAll("[style*='background-color']") ?? [];
  const sheet = element.closest(".js-plotly-plot")?.querySelector(".main-svg");
  return [...boxes, ...(sheet ? [sheet] : [])];
}

function isBehind(element, node) {
  const [text, ground] = [element, node].map((one) => one.getBoundingClientRect());
  const [x, y] = [text.left + text.width / 2, text.top + text.height / 2];
  return x >= ground.left && x <= ground.right && y >= ground.top && y <= ground.bottom;
}

function stopsBeneath(element, bar, gradient) {
  const stops = gradient.match(/rgba?\([^)]*\)/g).map(rgba);
  const [inner, outer] = [element, bar].map((node) => node.getBoundingClientRect());
  const at = (x) => ((x - outer.left) / outer.width) * (stops.length - 1);
  return stops.slice(Math.max(0, Math.floor(at(inner.left))), Math.ceil(at(inner.right)) + 1);
}

function opacityOf(element) {
  return around(element).reduce((product, node) => product * Number(getComputedStyle(node).opacity), 1);
}

function rgba(colour) {
  const canvas = document.createElement("canvas");
  const ink = canvas.getContext("2d", { willReadFrequently: true });
  ink.fillStyle = colour;
  ink.fillRect(0, 0, 1, 1);
  const [red, green, blue, alpha] = ink.getImageData(0, 0, 1, 1).data;
  return [red, green, blue, alpha / 255];
}

function over([red, green, blue, alpha], ground) {
  return [red, green, blue].map((value, i) => value * alpha + ground[i] * (1 - alpha)).concat(1);
}

function contrastOf(a, b) {
  const light = (rgb) =>
    rgb
      .slice(0, 3)
      .map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4))
      .reduce((sum, value, i) => sum + value * [0.2126, 0.7152, 0.0722][i], 0);
  const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

// Texts of the page that nobody can bring into view: cut off by a frame that does not scroll, or beside the page.
function lostTexts() {
  return [...shownTexts(document.querySelector("[data-testid=stMain]"))]
    .filter(([, element]) => isLost(element))
    .map(([text]) => text);
}

function isLost(element) {
  const { left, right } = element.getBoundingClientRect();
  for (const node of around(element)) {
    const { overflowX, textOverflow } = getComputedStyle(node);
    const frame = node.getBoundingClientRect();
    const sticksOut = right > frame.right + 1 || left < frame.left - 1;
    if (overflowX === "auto" || overflowX === "scroll") return sticksOut && node.scrollWidth <= node.clientWidth;
    if (node.matches("[data-testid=stMain]")) return sticksOut;
    if (overflowX !== "visible" && sticksOut && textOverflow !== "ellipsis") return true;
  }
  return false;
}

// Everything on the page that moves for longer than a blink.
function moving() {
  return [...document.querySelectorAll("*")].filter((node) => {
    const { transitionDuration, animationDuration } = getComputedStyle(node);
    return [transitionDuration, animationDuration].some((times) => times.split(",").some((time) => parseFloat(time) > 0.01));
  }).length;
}

// Charts and matrices without words that hold a number.
function wordless() {
  const described = { ".stPlotlyChart": "aria-label", "[role=grid]": "aria-description" };
  const roots = [document, ...[...document.querySelectorAll("*")].map((node) => node.shadowRoot).filter(Boolean)];
  return Object.entries(described).flatMap(([selector, words]) =>
    roots.flatMap((root) =>
      [...root.querySelectorAll(selector)]
        .filter((node) => node.checkVisibility() && !/\d/.test(node.getAttribute(words) ?? ""))
        .map((node) => node.outerHTML.slice(0, 200)),
    ),
  );
}

Object.assign(window, { complaints, faintTexts, lostTexts, moving, wordless, contrastOf, rgba });
