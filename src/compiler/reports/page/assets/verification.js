// The differences of `verify`: the results of the module, and each engine against its operators in PyTorch.
"use strict";

const verdictOf = deviation => (deviation.difference ? "disagrees" : "agrees");

// relative / allowed on a scale of powers of ten: the middle of the bar is what is allowed.
function deviationBar(deviation) {
  if (deviation.relative === null) {
    return bar(1, "cannot be compared", "--bad");
  }
  const ratio = deviation.allowed > 0 ? deviation.relative / deviation.allowed : deviation.relative > 0 ? Infinity : 0;
  const share = ratio === 0 ? 0 : Math.max(0.02, Math.min(1, 0.5 + Math.log10(ratio) / 8));
  return bar(share, ratio === 0 ? "none" : `${digits(ratio, 2)} of allowed`, deviation.difference ? "--bad" : "--good");
}

const orInfinite = value => (value === null ? "infinite" : digits(value));

function renderVerification() {
  if (!verification) {
    return {element: emptyPart("No comparison yet", "Differences from PyTorch need the module that was compiled, and inputs.",
      "torchtrtc report compiled.ts -o report.html --profile \"(1,3,224,224)\" --verify model.ts",
      "torchtrt.report(compiled).to_html(\"report.html\", verification=torchtrt.verify(model, compiled, [x]))")};
  }
  const table = makeTable({
    caption: "Engines against PyTorch", what: "engine", rows: verification.segments, text: segment => [segment.name, segment.location, ...segment.nodes].join(" ").toLowerCase(),
    columns: [
      {label: "Engine", isWide: true, value: segment => segment.name, show: segment => [h("span", {class: "operator"}, segment.name), placeCell(placeOf(segment.location))]},
      {label: "Verdict", value: segment => verdictOf(segment.deviation), show: segment => (segment.was_compared ? chip(verdictOf(segment.deviation), verdictOf(segment.deviation)) : "not compared")},
      {label: "Error", isNumber: true, value: segment => segment.deviation.relative || 0, show: segment => (segment.was_compared ? orInfinite(segment.deviation.relative) : "–")},
      {label: "Of what is allowed", isWide: true, value: segment => (segment.deviation.relative || 0) / (segment.deviation.allowed || 1), show: segment => (segment.was_compared ? deviationBar(segment.deviation) : "–")},
      {label: "ulps", isNumber: true, value: segment => segment.deviation.ulps || 0, show: segment => (segment.was_compared ? orInfinite(segment.deviation.ulps) : "–")},
      {label: "Engine", isNumber: true, value: segment => segment.engine_milliseconds, show: segment => (segment.was_compared ? timeText(segment.engine_milliseconds * 1000) : "–")},
      {label: "PyTorch", isNumber: true, value: segment => segment.torch_milliseconds, show: segment => (segment.was_compared ? timeText(segment.torch_milliseconds * 1000) : "–")},
      {label: "Notes", isWide: true, show: segment => [segment.deviation.difference, segment.culprit && `from ${segment.culprit} on`, segment.note].filter(each => each).map(text => h("p", {}, text)).concat([])},
    ],
  });
  const {outputs} = verification;
  return {
    element: h("div", {}, h("section", {}, h("h2", {}, "Verdict"), h("p", {class: verification.agrees ? "good" : "warning"}, verification.verdict),
      h("div", {class: "cardgrid"},
        card("Outputs", verdictOf(outputs), outputs.difference || `relative error ${orInfinite(outputs.relative)}, allowed ${orInfinite(outputs.allowed)}`, deviationBar(outputs)),
        card("ulps", orInfinite(outputs.ulps), "the most of all elements"),
        card("PyTorch", timeText(verification.torch_milliseconds * 1000), "a forward of the module"),
        card("Compiled", timeText(verification.engine_milliseconds * 1000), `median of ${verification.calls}, ${counted(verification.threads, "thread")}`))),
    verification.segments.length > 0 && h("section", {}, h("h2", {}, "Each engine against its operators in PyTorch"), table.element)),
    search: table.search,
  };
}
