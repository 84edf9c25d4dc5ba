// Elements and texts. Texts of the data reach the page as text nodes alone, so that names with HTML in them stay names.
"use strict";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), value);
    } else if (value === true) {
      element.setAttribute(name, "");
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value);
    }
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) {
      element.append(child);  // a string becomes a text node
    }
  }
  return element;
}

const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

const isPhone = () => window.matchMedia("(max-width: 640px)").matches;

// A colour of the style sheet, which light and dark set apart.
const styleColour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function counted(count, what) {
  return `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
}

function digits(value, most = 3) {
  if (!Number.isFinite(value)) {
    return "infinite";
  }
  if (value === 0) {
    return "0";
  }
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e6) {
    return value.toExponential(1);
  }
  return Number(value.toPrecision(most)).toLocaleString("en", {maximumFractionDigits: 6});
}

function bytesText(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (bytes >= 1000 && unit < units.length - 1) {
    bytes /= 1000;
    ++unit;
  }
  return `${unit === 0 ? bytes : bytes.toFixed(bytes < 10 ? 2 : bytes < 100 ? 1 : 0)} ${units[unit]}`;
}

function timeText(microseconds) {
  return microseconds >= 1e6 ? `${digits(microseconds / 1e6)} s`
    : microseconds >= 1e3 ? `${digits(microseconds / 1e3)} ms` : `${digits(microseconds)} µs`;
}

const percent = (part, whole, decimals = 0) => (whole > 0 ? `${(100 * part / whole).toFixed(decimals)}%` : "");

// A part that has no data says which option brings it.
function emptyPart(title, text, command, python) {
  return h("section", {class: "empty"}, h("h2", {}, title), h("p", {}, text),
    command && h("p", {}, "On the command line: ", h("code", {}, command)),
    python && h("p", {}, "In Python: ", h("code", {}, python)));
}

function choice(label, options, onchange) {
  const select = h("select", {"aria-label": label, onchange: () => onchange(select.value)}, options.map(([value, text]) => h("option", {value}, text)));
  return {element: h("label", {class: "choice"}, label, " ", select), select};
}

// A canvas that is as sharp as the screen. `draw` gets its context and its size in CSS pixels; call redraw() to draw again.
function drawingCanvas(attributes, draw) {
  const canvas = h("canvas", attributes);
  let isAsked = false;
  const paint = () => {
    isAsked = false;
    const {width, height} = canvas.getBoundingClientRect();
    if (width === 0 || !canvas.isConnected) {
      return;
    }
    const ratio = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    draw(context, width, height);
  };
  const redraw = () => {
    if (!isAsked) {
      isAsked = true;
      requestAnimationFrame(paint);
    }
  };
  new ResizeObserver(redraw).observe(canvas);
  themeListeners.push(redraw);
  return {canvas, redraw};
}

// Lets the pointer and the arrow keys select one of `count` pieces. `at` returns the piece at a pixel of the box, or -1; `selected` returns the
// present one.
function makeSelectable(canvas, count, at, selected, select) {
  const point = event => {
    const box = canvas.getBoundingClientRect();
    const index = at(event.clientX - box.left, event.clientY - box.top, box);
    if (index >= 0) {
      select(index);
    }
  };
  canvas.addEventListener("pointermove", point);
  canvas.addEventListener("pointerdown", point);
  canvas.addEventListener("keydown", event => {
    const move = {ArrowRight: 1, ArrowLeft: -1, Home: -count, End: count}[event.key];
    if (move !== undefined) {
      event.preventDefault();
      select(selected() + move);
    }
  });
}

const shortened = new Map();  // texts that were measured, by font, width and text
function fitText(context, text, width) {
  const key = `${context.font}|${Math.round(width)}|${text}`;
  let fitting = shortened.get(key);
  if (fitting === undefined) {
    fitting = text;
    if (context.measureText(text).width > width) {
      let low = 0, high = text.length;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (context.measureText(text.slice(0, middle) + "…").width <= width) {
          low = middle;
        } else {
          high = middle - 1;
        }
      }
      fitting = low === 0 ? "" : text.slice(0, low) + "…";
    }
    if (shortened.size > 20000) {
      shortened.clear();
    }
    shortened.set(key, fitting);
  }
  return fitting;
}
