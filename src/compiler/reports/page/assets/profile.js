// Times: where a forward spends them, the steps of each engine one after the other, the roofline, and all of it as a table.
"use strict";

function forwardPieces() {
  const pieces = profile.engines.map(engine => ({label: `engine ${engine.name}`, value: engine.milliseconds * 1000,
    detail: counted(engine.calls, "call"), colour: "--engine"}));
  pieces.push(...profile.operators.map(operator => ({label: operator.name, value: operator.milliseconds * 1000,
    detail: `PyTorch, ${counted(operator.calls, "call")}`, colour: "--torch"})));
  const known = pieces.reduce((sum, piece) => sum + piece.value, 0);
  const between = profile.milliseconds * 1000 - known;
  if (between > 0) {
    pieces.push({label: "between them", value: between, detail: "the interpreter", colour: "--none"});
  }
  return pieces;
}

function stepRows() {
  return profile.engines.flatMap(engine => {
    const sum = engine.steps.reduce((total, step) => total + step.microseconds, 0);
    return engine.steps.map((step, index) => ({...step, ...placeOf(step.location), index, engine: engine.name, share: sum > 0 ? step.microseconds / sum : 0,
      text: [step.name, step.family, step.implementation, step.location, engine.name].join(" ").toLowerCase()}));
  });
}

function renderProfile() {
  if (!profile) {
    return {element: emptyPart("No times yet", "Times, the time line and the roofline need a run of the module.",
      "torchtrtc report compiled.ts -o report.html --profile \"(1,3,224,224)\"",
      "torchtrt.report(compiled).to_html(\"report.html\", profile=torchtrt.profile(compiled, [x]))")};
  }
  const rows = stepRows();
  const table = makeTable({
    caption: "Steps by time", what: "step", rows, text: row => row.text, sortBy: 1,
    columns: [
      {label: "Step", isWide: true, value: row => row.name, show: row => [h("span", {class: "operator"}, row.name), h("span", {class: "scope"}, `${row.family}${row.implementation ? `, ${row.implementation}` : ""}`)]},
      {label: "Time", isNumber: true, value: row => row.microseconds, show: row => timeText(row.microseconds)},
      {label: "Share", isNumber: true, value: row => row.share, show: row => bar(row.share, percent(row.share, 1, 1))},
      {label: "GFLOP/s", isNumber: true, value: row => (row.microseconds > 0 ? row.flops / row.microseconds : 0), show: row => (row.flops > 0 && row.microseconds > 0 ? digits(row.flops / row.microseconds / 1e3) : "–")},
      {label: "Of peak", isNumber: true, value: row => row.share_of_peak, show: row => (row.flops > 0 ? percent(row.share_of_peak, 1) : "–")},
      {label: "GB/s", isNumber: true, value: row => (row.microseconds > 0 ? row.bytes / row.microseconds : 0), show: row => (row.bytes > 0 && row.microseconds > 0 ? digits(row.bytes / row.microseconds / 1e3) : "–")},
      {label: "Of memory's", isNumber: true, value: row => row.share_of_bandwidth, show: row => (row.bytes > 0 ? percent(row.share_of_bandwidth, 1) : "–")},
      {label: "Where", isWide: true, value: row => `${row.scope} ${row.where}`, show: placeCell},
    ],
  });
  const strips = profile.engines.map(engine => h("section", {}, h("h2", {}, `Steps of engine ${engine.name} in order`),
    engine.steps.length === 0 ? h("p", {class: "warning"}, engine.note || "There are no steps.")
      : makeStrip(engine.steps.map(step => ({label: step.name, value: step.microseconds, detail: `${step.family}, ${step.implementation} ${placeOf(step.location).scope}`,
        colour: familyColour(step.family)})), "step")));
  const kMostStrips = 12;
  return {
    element: h("div", {},
      h("section", {}, h("h2", {}, `A forward: ${timeText(profile.milliseconds * 1000)}`),
        h("p", {class: "faint"}, `Median of ${profile.forwards} with ${counted(profile.threads, "thread")}. Blue: engines, orange: operators of PyTorch.`),
        makeStrip(forwardPieces(), "part")),
      strips.slice(0, kMostStrips),
      strips.length > kMostStrips && h("p", {class: "faint"}, `${counted(strips.length - kMostStrips, "more engine")}: see the table.`),
      h("section", {}, h("h2", {}, "Roofline"), makeRoofline(rows)),
      h("section", {}, h("h2", {}, "Steps by time"), table.element)),
    search: table.search,
  };
}
