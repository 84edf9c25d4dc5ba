// The element types that each step reads and writes, pins, and the layers of a calibration.
"use strict";

function calibrationPart(segment) {
  const {calibration} = segment;
  const layers = calibration.layers;
  const precision = calibration.precision || "int8";  // another release's report has none
  const ranges = precision !== "int8" ? "" : `, ranges ${calibration.is_cached ? "from the cache" : `from ${counted(calibration.calls, "call")}`}`;
  const table = makeTable({
    caption: `Layers of ${segment.name} that ${precision} ${precision === "int8" ? "was" : "were"} asked for`, what: "layer", rows: layers, text: layer => [layer.name, layer.kind, layer.reason, layer.location].join(" ").toLowerCase(),
    columns: [
      {label: "Layer", isWide: true, value: layer => layer.name, show: layer => [h("span", {class: "operator"}, layer.name), h("span", {class: "scope"}, layer.kind)]},
      {label: "Precision", value: layer => String(layer.is_quantized), show: layer => (layer.is_quantized ? precision : "float")},
      {label: "Error alone", isNumber: true, value: layer => (layer.error === null ? -1 : layer.error), show: layer => (layer.error === null ? "–" : digits(layer.error))},
      {label: "Why float", isWide: true, value: layer => layer.reason, show: layer => layer.reason || "–"},
      {label: "Where", isWide: true, value: layer => layer.location, show: layer => placeCell(placeOf(layer.location))},
    ],
  });
  return h("section", {}, h("h2", {}, `${precision} in ${segment.name}`),
    h("p", {}, `${layers.filter(layer => layer.is_quantized).length} of ${counted(layers.length, "layer")} in ${precision}${ranges}` +
      `${calibration.error === null ? "" : `, outputs off by ${digits(calibration.error)}`}${calibration.reason ? `; ${calibration.reason}` : ""}.`), table.element);
}

function renderPrecision() {
  if (steps.length === 0) {
    return {element: emptyPart("Precision", "This module has no engines, so there are no steps to show.")};
  }
  const counts = new Map();
  for (const step of steps) {
    counts.set(step.precision, (counts.get(step.precision) || 0) + 1);
  }
  const table = makeTable({
    caption: "Precision of steps", what: "step", rows: steps, text: step => step.text,
    columns: [
      {label: "#", isNumber: true, value: step => step.index, show: step => String(step.index + 1)},
      {label: "Step", isWide: true, value: step => step.name, show: step => [h("span", {class: "operator"}, step.name), h("span", {class: "scope"}, `${step.family}${step.implementation ? `, ${step.implementation}` : ""}`)]},
      {label: "Precision", value: step => step.precision, show: step => h("span", {class: "dtype"}, h("i", {style: `background: var(${dtypeColours[step.precision] || "--none"})`}), step.precision)},
      {label: "Reads → writes", isWide: true, value: dtypeText},
      {label: "Where", isWide: true, value: step => `${step.scope} ${step.where}`, show: placeCell},
    ],
  });
  return {
    element: h("div", {}, h("section", {}, h("h2", {}, "Steps by what they compute in"),
      h("dl", {class: "bars"}, [...counts].sort((a, b) => b[1] - a[1]).map(([dtype, count]) => [h("dt", {}, dtype || "not known"),
        h("dd", {}, bar(count / steps.length, counted(count, "step"), dtypeColours[dtype] || "--none"))]))),
      report && report.precision.length > 0 && h("section", {}, h("h2", {}, "Pins"), h("ul", {}, report.precision.map(pin => h("li", {}, h("code", {}, pin.pattern), ` = ${pin.dtype}: ${counted(pin.nodes, "node")}`)))),
      segments.filter(segment => segment.calibration).map(calibrationPart),
      h("section", {}, h("h2", {}, "Steps in order"), table.element)),
    search: table.search,
  };
}
