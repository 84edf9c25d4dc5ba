// The roofline: arithmetic of each step against the bytes that it moves, under the limits that the machine was measured to have.
"use strict";

function logScale(low, high, from, to) {
  const a = Math.log10(low), b = Math.log10(high);
  const scale = value => from + (Math.log10(value) - a) / (b - a) * (to - from);
  scale.ticks = [];
  for (let power = Math.ceil(a); power <= Math.floor(b); ++power) {
    scale.ticks.push(10 ** power);
  }
  return scale;
}

function makeRoofline(timed) {
  const peak = profile.flops_per_second, memory = profile.bytes_per_second;
  const points = timed.filter(step => step.flops > 0 && step.bytes > 0 && step.microseconds > 0)
    .map(step => ({step, x: step.flops / step.bytes, y: step.flops / (step.microseconds * 1e-6)}));
  const left = timed.filter(step => !(step.flops > 0 && step.bytes > 0 && step.microseconds > 0));
  if (points.length === 0 || !(peak > 0) || !(memory > 0)) {
    return h("p", {class: "faint"}, "No step has both arithmetic and bytes that are known.");
  }
  const width = isPhone() ? 390 : 860, height = isPhone() ? 320 : 400;
  const margin = {left: 66, right: 18, top: 28, bottom: 44};
  const xs = points.map(point => point.x), ys = points.map(point => point.y);
  const ridge = peak / memory;
  const x = logScale(Math.min(...xs, ridge) / 2, Math.max(...xs, ridge) * 3, margin.left, width - margin.right);
  const y = logScale(Math.min(...ys) / 2, Math.max(peak, ...ys) * 2, height - margin.bottom, margin.top);
  const slowest = Math.max(...points.map(point => point.step.microseconds));
  const info = h("p", {class: "stripinfo", role: "status", "aria-live": "polite"}, "Each disc is a step, as large as its time. Point at one, or move to it with Tab.");
  const ends = {low: Math.min(...xs, ridge) / 2, high: Math.max(...xs, ridge) * 3, floor: Math.min(...ys) / 2};
  const start = Math.max(ends.low, ends.floor / memory);
  const roof = [[start, start * memory], [ridge, peak], [ends.high, peak]].map(([px, py]) => `${x(px).toFixed(1)},${y(py).toFixed(1)}`).join(" ");
  const tell = ({step, x: intensity, y: speed}) => info.replaceChildren(h("strong", {}, step.name),
    ` ${step.family}, ${timeText(step.microseconds)}: ${digits(speed / 1e9)} GFLOP/s, ${percent(speed, peak)} of the peak; ${digits(intensity)} flop per byte, ` +
    `${percent(step.bytes / (step.microseconds * 1e-6), memory)} of the bandwidth`);
  const reachable = new Set([...points].sort((a, b) => b.step.microseconds - a.step.microseconds).slice(0, 25));
  const dots = [...points].sort((a, b) => b.step.microseconds - a.step.microseconds).map(point => svg("circle", {
    cx: x(point.x).toFixed(1), cy: y(point.y).toFixed(1), r: (3 + 11 * Math.sqrt(point.step.microseconds / slowest)).toFixed(1), class: "dot",
    style: `fill: var(${familyColour(point.step.family)})`, tabindex: reachable.has(point) ? 0 : false, role: "img",
    "aria-label": `${point.step.name}: ${digits(point.y / 1e9)} GFLOP/s at ${digits(point.x)} flop per byte`,
    onpointerenter: () => tell(point), onfocus: () => tell(point)}));
  const power = value => (value >= 1e12 ? `${value / 1e12}T` : value >= 1e9 ? `${value / 1e9}G` : value >= 1e6 ? `${value / 1e6}M` : value >= 1e3 && value < 1e6 ? `${value / 1e3}k` : String(value));
  const used = familyOrder.filter(family => points.some(point => point.step.family === family));
  return h("div", {}, h("div", {class: "legend"}, used.slice(0, 7).map(family => h("span", {}, h("i", {style: `background: var(${familyColour(family)})`}), family)),
    used.length > 7 && h("span", {}, h("i", {style: "background: var(--c8)"}), "others")),
    h("div", {class: "chart"}, svg("svg", {viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Roofline"},
      x.ticks.map(tick => [svg("line", {x1: x(tick), x2: x(tick), y1: margin.top, y2: height - margin.bottom, class: "grid"}),
        svg("text", {x: x(tick), y: height - margin.bottom + 16, class: "tick", "text-anchor": "middle"}, power(Number(tick.toPrecision(1))))]),
      y.ticks.map(tick => [svg("line", {x1: margin.left, x2: width - margin.right, y1: y(tick), y2: y(tick), class: "grid"}),
        svg("text", {x: margin.left - 6, y: y(tick) + 4, class: "tick", "text-anchor": "end"}, power(Number(tick.toPrecision(1))))]),
      svg("polyline", {points: roof, class: "roof"}),
      svg("text", {x: width - margin.right, y: 16, class: "tick", "text-anchor": "end"}, `peak ${digits(peak / 1e9)} GFLOP/s, memory ${digits(memory / 1e9)} GB/s`),
      svg("text", {x: (margin.left + width - margin.right) / 2, y: height - 8, class: "tick", "text-anchor": "middle"}, "flop per byte"),
      svg("text", {x: 13, y: height / 2, class: "tick", "text-anchor": "middle", transform: `rotate(-90 13 ${height / 2})`}, "flop per second"),
      dots)), info,
    left.length > 0 && h("p", {class: "faint"}, `${counted(left.length, "step")} without arithmetic or known bytes ${left.length === 1 ? "is" : "are"} not drawn.`),
    h("p", {class: "faint"}, "Caches exceed the bandwidth of memory, and algorithms such as Winograd's exceed the peak of multiply-adds."));
}
