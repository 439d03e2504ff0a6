// Numbers as text. A cell shows at most `decimals` digits after the point, and never says more than is true:
// "0" is exactly zero, a whole number has no point, what would round to zero is "<0.01".

const MINUS = "\u2212";
const INFINITY = "\u221e";
const TOO_LONG = 1e6;

function cellText(value, decimals) {
  if (Number.isNaN(value)) return "NaN";
  if (value === 0) return "0"; // also -0
  const sign = value < 0 ? MINUS : "";
  const size = Math.abs(value);
  if (size === Infinity) return sign + INFINITY;
  if (size >= TOO_LONG) return sign + exponentText(size.toExponential(1));
  if (Number.isInteger(size)) return sign + String(size);
  const text = size.toFixed(decimals);
  return Number(text) === 0 ? tinyText(sign, decimals) : sign + text;
}

// The smallest number that has a text of its own bounds what is too small for one.
function tinyText(sign, decimals) {
  const bound = (10 ** -decimals).toFixed(decimals);
  return sign ? `>${MINUS}${bound}` : `<${bound}`;
}

// Every digit that tells this number from its neighbours.
function exactText(value, exponentFrom = Infinity) {
  if (!Number.isFinite(value) || value === 0) return cellText(value, 0);
  const text = Math.abs(value) < exponentFrom ? String(value) : value.toExponential();
  return exponentText(text.replace("-", MINUS));
}

// Three digits of an end of a range; of a whole number all.
function rangeText(value) {
  const short = Number.isInteger(value) && Math.abs(value) < TOO_LONG;
  return exactText(short ? value : Number(value.toPrecision(3)), TOO_LONG);
}

function exponentText(text) {
  return text.replace("e+", "e").replace("e-", `e${MINUS}`); // 1.5e−7
}

// As a screen reader should say it.
function spokenText(text) {
  return text
    .replace("<", "less than ")
    .replace(">", "more than ")
    .replaceAll(MINUS, "minus ")
    .replace(INFINITY, "infinity");
}

// What a reader typed, or null. Both decimal marks and both minus signs are taken.
function typedNumber(text) {
  const plain = text.trim().replace(MINUS, "-").replace(",", ".");
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain)) return null;
  const value = Number(plain);
  return Number.isFinite(value) ? value : null;
}

// --- numbers as Python sends them ---

// The matrices with their numbers. A next picture leaves out what stands at the same place of the present one.
function decoded(matrices, present) {
  return matrices.map((matrix) => {
    const there = present.find(({ id }) => id === matrix.id);
    return { ...matrix, values: numbersOf(matrix, there), news: null };
  });
}

function numbersOf({ rows, cols, values, news }, there) {
  const sent = new Float64Array(bytesOf(values).buffer);
  if (news === null) return sent;
  const bits = bytesOf(news); // one for each cell, the first in the highest bit
  const numbers = new Float64Array(rows * cols);
  let next = 0;
  for (let i = 0; i < numbers.length; i++) {
    const isNew = bits[i >> 3] & (128 >> (i & 7));
    numbers[i] = isNew ? sent[next++] : there.values[Math.floor(i / cols) * there.cols + (i % cols)];
  }
  return numbers;
}

function sameMatrix(a, b) {
  const withoutNumbers = ({ values, ...rest }) => JSON.stringify(rest);
  if (a.values.length !== b.values.length || withoutNumbers(a) !== withoutNumbers(b)) return false;
  return a.values.every((value, i) => Object.is(value, b.values[i]));
}

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
