// Colours of cells. Every scale is ordered by lightness, so that it reads without hue; numbers far from zero
// are dark on a light page and bright on a dark one. Blue and orange, never red against green.

const SCALES = {
  light: {
    diverging: ["#8a3800", "#e88d3a", "#f1f2f3", "#5fa5dd", "#0b3f86"],
    share: ["#f3f1f8", "#ab97d6", "#46198f"],
    sequential: ["#eef5f2", "#5fb699", "#004e3a"],
  },
  dark: {
    diverging: ["#ffd2a1", "#bd6a1f", "#2c3038", "#3f7dbf", "#b0dbff"],
    share: ["#292831", "#7656b8", "#e6d8ff"],
    sequential: ["#25302d", "#2f8c71", "#bff7e0"],
  },
};
// A cell without a number that could have a colour.
const ODD = {
  light: { masked: "#dfe1e5", line: "#a9adb6", nan: "#f3d6e4", nanLine: "#d59bb8" },
  dark: { masked: "#3a3e47", line: "#626773", nan: "#54324a", nanLine: "#85567a" },
};
// Okabe and Ito's eight colours for all kinds of colour vision (Color Universal Design, 2008); after them the
// same eight, halfway to white. Beyond sixteen the number in the cell tells.
const CATEGORIES = ["#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7", "#999999"];
const STEPS = 256;

function rgbOf(hex) {
  const number = parseInt(hex.slice(1), 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
}

function cssOf(rgb) {
  return `rgb(${rgb[0]},${rgb[1]},${rgb[2]})`;
}

// --- OKLab (Ottosson, 2020): halfway between two colours looks halfway ---

function linear(channel) {
  const c = channel / 255;
  return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
}

function gamma(light) {
  const c = light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055;
  return Math.round(255 * Math.min(1, Math.max(0, c)));
}

function labOf(rgb) {
  const [r, g, b] = rgb.map(linear);
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function rgbOfLab([L, a, b]) {
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    gamma(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    gamma(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    gamma(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

function mixed(from, to, share) {
  const a = labOf(from);
  const b = labOf(to);
  return rgbOfLab(a.map((value, i) => value + (b[i] - value) * share));
}

// --- from value to colour ---

const tables = new Map();

// STEPS + 1 colours from one end of a scale to the other.
function table(kind, mode) {
  const name = `${kind} ${mode}`;
  if (!tables.has(name)) tables.set(name, newTable(SCALES[mode][kind].map(rgbOf)));
  return tables.get(name);
}

function newTable(stops) {
  const span = STEPS / (stops.length - 1);
  return Array.from({ length: STEPS + 1 }, (_, i) => {
    const left = Math.min(stops.length - 2, Math.floor(i / span));
    return mixed(stops[left], stops[left + 1], i / span - left);
  });
}

function categoryColour(index) {
  const count = CATEGORIES.length;
  const slot = ((index % (2 * count)) + 2 * count) % (2 * count);
  const rgb = rgbOf(CATEGORIES[slot % count]);
  return slot < count ? rgb : mixed(rgb, [255, 255, 255], 0.5);
}

// The values at both ends of the scale, from the smallest and largest finite number.
function scaleEnds(kind, low, high) {
  if (kind === "share") return [Math.min(0, low), Math.max(1, high)];
  if (kind !== "diverging") return [low, high];
  const size = Math.max(Math.abs(low), Math.abs(high));
  return [-size, size];
}

function colourOf(value, [low, high], colours) {
  const share = high > low ? (value - low) / (high - low) : 0.5;
  return colours[Math.round(STEPS * Math.min(1, Math.max(0, share)))];
}

// --- contrast (WCAG 2) ---

function luminance(rgb) {
  return 0.2126 * linear(rgb[0]) + 0.7152 * linear(rgb[1]) + 0.0722 * linear(rgb[2]);
}

function contrast(a, b) {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

const INKS = ["#18191c", "#ffffff", "#000000"];
const inks = new Map();

// Soft black, white, or where neither reaches 4.5 : 1, black, which then does.
function inkOn(rgb) {
  const name = cssOf(rgb);
  if (!inks.has(name)) inks.set(name, INKS.find((ink) => contrast(rgbOf(ink), rgb) >= 4.5));
  return inks.get(name);
}
