// What is wrong with the screen that a class sees, in words; nothing if all is well. Arguments: the least size of
// type in pixels, the least on a board of matrices, the least contrast.
([least, leastOnBoard, leastContrast]) => {
  const NO_TEXT = `.katex, tspan, style, script, [data-testid="stIconMaterial"], [data-testid="InputInstructions"],
    .cell, .live, .row`; // formulas, pictures, and what only a screen reader meets
  const OFF = ":disabled, [aria-disabled=true], label:has(:disabled)";
  const ABOVE = ".stSlider [role=slider] *, .stSlider [data-testid=stSliderThumbValue]"; // its knob, not on it

  // With what stands in shadow trees.
  const all = (root) =>
    [...root.querySelectorAll("*")].flatMap((node) => [node, ...(node.shadowRoot ? all(node.shadowRoot) : [])]);
  const seen = (node) =>
    node.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && node.getClientRects().length;
  const within = (node, selector) => {
    for (; node; node = node.getRootNode().host) if (node.closest(selector)) return true;
    return false;
  };
  const parent = (node) => node.parentElement ?? node.getRootNode().host ?? null;

  // --- contrast, as WCAG 2 defines it ---
  const rgba = (colour) => {
    const ink = new OffscreenCanvas(1, 1).getContext("2d");
    ink.fillStyle = colour;
    ink.fillRect(0, 0, 1, 1);
    return [...ink.getImageData(0, 0, 1, 1).data];
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((part, i) => (part * a + below[i] * (255 - a)) / 255);
  const ground = (node) => {
    if (node === null) return [255, 255, 255];
    if (node.matches(ABOVE)) return ground(node.closest(".stSlider"));
    const colour = rgba(getComputedStyle(node).backgroundColor);
    return colour[3] === 255 ? colour.slice(0, 3) : over(colour, ground(parent(node)));
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((part) => part / 255).map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (node) => {
    const { fill, color } = getComputedStyle(node);
    const below = ground(node);
    const inks = [over(rgba(node instanceof SVGElement ? fill : color), below), below].map(light);
    return (Math.max(...inks) + 0.05) / (Math.min(...inks) + 0.05);
  };

  const faults = [];
  const main = document.querySelector(".stMain");
  if (main.scrollHeight > innerHeight) faults.push(`${main.scrollHeight} px high`);
  if (main.scrollWidth > main.clientWidth) faults.push(`${main.scrollWidth} px wide`);
  for (const node of all(main).filter(seen)) {
    const style = getComputedStyle(node);
    const name = `${node.tagName.toLowerCase()} “${node.textContent.trim().slice(0, 30)}”`;
    const overflows = node.scrollWidth > node.clientWidth + 1 || node.scrollHeight > node.clientHeight + 1;
    if (overflows && /auto|scroll/.test(style.overflow)) faults.push(`${name} scrolls`);
    const painted = Math.min(...(node.sizes ?? [Infinity]));
    if (painted < leastOnBoard) faults.push(`${painted.toFixed(1)} px painted`);

    const words = [...node.childNodes].some(({ nodeType, data }) => nodeType === Node.TEXT_NODE && data.trim());
    if (!words || within(node, NO_TEXT)) continue;
    const size = parseFloat(style.fontSize) * node.currentCSSZoom;
    if (size < (within(node, ".board") ? leastOnBoard : least) - 0.1) faults.push(`${name} ${size.toFixed(1)} px`);
    if (within(node, OFF)) continue;
    if (within(node, ".heatmap-label")) continue; // its ground is a picture
    if (contrast(node) < leastContrast) faults.push(`${name} contrast ${contrast(node).toFixed(1)}`);
  }
  return [...new Set(faults)];
}
