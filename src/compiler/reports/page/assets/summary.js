// The first part: what ran where, at a glance.
"use strict";

function card(title, value, detail, extra) {
  return h("div", {class: "card"}, h("div", {class: "label"}, title), h("div", {class: "value"}, value),
    detail && h("div", {class: "detail"}, detail), extra);
}

function reasonRows() {
  const reasons = new Map();
  for (const node of workingNodes) {
    if (node.target !== "engine") {
      const key = `${node.code}\n${node.reason}`;
      const row = reasons.get(key) || {code: node.code, reason: node.reason, count: 0};
      ++row.count;
      reasons.set(key, row);
    }
  }
  return [...reasons.values()].sort((a, b) => b.count - a.count);
}

function phaseList() {
  const longest = Math.max(...report.phases.map(phase => phase.milliseconds));
  return h("section", {}, h("h2", {}, "Phases of the compile"),
    h("dl", {class: "bars"}, report.phases.map(phase => [h("dt", {}, phase.name),
      h("dd", {}, bar(phase.milliseconds / longest, timeText(phase.milliseconds * 1000)))])));
}

function segmentTable() {
  return makeTable({
    caption: "Segments in the order of execution", what: "segment", rows: segments,
    text: segment => [segment.index, segment.name, targetName(segment.target), ...segment.nodes, ...segment.reasons].join(" ").toLowerCase(),
    columns: [
      {label: "Segment", show: segment => segment.index},
      {label: "Runs in", value: segment => segment.target, show: segment => chip(segment.target, targetName(segment.target))},
      {label: "Engine", value: segment => segment.name, isWide: true, show: segment => h("span", {class: "where"}, segment.name || "–")},
      {label: "Nodes", isNumber: true, value: segment => segment.nodes.length},
      {label: "Steps", isNumber: true, value: segment => segment.steps.length, show: segment => segment.steps.length || "–"},
      {label: "Weights", isNumber: true, value: segment => segment.memory_bytes,
       show: segment => (segment.memory_bytes ? bytesText(segment.memory_bytes) : "–")},
      {label: "Inputs and outputs", isWide: true,
       show: segment => h("span", {class: "signature"}, `${segment.inputs.join(", ") || "nothing"} → ${segment.outputs.join(", ") || "nothing"}`)},
    ],
  });
}

function missingParts() {
  const missing = [];
  if (!profile) {
    missing.push(["times and the roofline", "--profile \"(1,3,224,224)\"", "profile=torchtrt.profile(compiled, [x])"]);
  }
  if (!verification) {
    missing.push(["differences from PyTorch", "--verify model.ts", "verification=torchtrt.verify(model, compiled, [x])"]);
  }
  return missing.length > 0 && h("section", {}, h("h2", {}, "Not in this page"),
    h("ul", {}, missing.map(([what, option, python]) => h("li", {}, `${what[0].toUpperCase()}${what.slice(1)}: `,
      h("code", {}, option), " of torchtrtc report, or ", h("code", {}, python), " of to_html()"))));
}

function notes() {
  const pins = report.precision.map(pin => h("li", {}, "Precision ", h("code", {}, pin.pattern), ` is ${pin.dtype} for ${counted(pin.nodes, "node")}.`));
  const sizes = report.guessed_sizes.map(size => h("li", {}, `One size, by a guess for ${size.reason}: ${size.places.join("; ")}. PyTorch runs other calls.`));
  const shared = report.shared_dims ? [h("li", {}, "Where there are no other calls, say so in the Inputs: ", h("code", {}, report.shared_dims))] : [];
  const all = [...pins, ...sizes, ...shared];
  return all.length > 0 && h("section", {}, h("h2", {}, "Notes of the compiler"), h("ul", {}, all));
}

function summaryCards() {
  const share = workingNodes.length ? nodesInEngines.length / workingNodes.length : 0;
  const weights = engines.reduce((sum, engine) => sum + engine.memory_bytes, 0);
  const workspace = engines.reduce((most, engine) => Math.max(most, engine.workspace_bytes), 0);
  const torch = segments.filter(segment => segment.target === "torch").length;
  return h("div", {class: "cardgrid"},
    report && card("In engines", percent(Math.floor(100 * share), 100),
      `${nodesInEngines.length.toLocaleString("en")} of ${counted(workingNodes.length, "node")}`, bar(share, "", "--engine")),
    report && typeof report.share_of_time === "number" &&
      card("PyTorch's time taken over", percent(report.share_of_time, 1), "of a forward", bar(report.share_of_time, "", "--engine")),
    card("Engines", String(engines.length), report ? `${counted(torch, "segment")} in PyTorch` : ""),
    engines.length > 0 && card("Steps", steps.length.toLocaleString("en"), counted(familyOrder.length, "kind")),
    engines.length > 0 && card("Weights", bytesText(weights), `workspace ${bytesText(workspace)} a call`),
    engines.length > 0 && card("Device", [...new Set(engines.map(engine => engine.device))].join(", "), ""),
    profile && card("A forward", timeText(profile.milliseconds * 1000), `${counted(profile.threads, "thread")}, median of ${profile.forwards}`),
    verification && card("Against PyTorch", verification.agrees ? "agrees" : "disagrees",
      verification.torch_milliseconds > 0 && verification.engine_milliseconds > 0
        ? `${digits(verification.torch_milliseconds / verification.engine_milliseconds)} times as fast` : ""));
}

function renderSummary() {
  const broken = brokenParts.length > 0 &&
    h("p", {class: "warning", role: "alert"}, `These parts of the data cannot be read: ${brokenParts.join(", ")}. The file may be damaged.`);
  if (!report) {
    return {element: h("div", {}, broken, engines.length === 0
      ? emptyPart("No engines", "This module has no engines and no report: PyTorch runs all of it. Compile it first:",
        "torchtrtc model.ts compiled.ts \"(1,3,224,224)\"", "torchtrt.compile(model, inputs=[...])")
      : h("p", {class: "warning"}, "The module carries no report of its compile: an engine was embedded, or another program made it."),
    summaryCards(), missingParts())};
  }
  const reasons = reasonRows();
  const table = segmentTable();
  return {
    element: h("div", {}, broken,
      engines.length === 0 && h("p", {class: "warning"}, "This module has no engines: PyTorch runs all of it. The nodes below say why."),
      summaryCards(),
      reasons.length > 0 && h("section", {}, h("h2", {}, "Why parts run in PyTorch"),
        h("ul", {class: "reasons"}, reasons.slice(0, 12).map(row => h("li", {},
          h("button", {type: "button", onclick: () => {
            showPart("nodes");
            chooseNodes("torch", row.code);
          }}, `${row.count}×`), " ", h("code", {}, row.code), " ", row.reason))),
        reasons.length > 12 && h("p", {}, `and ${counted(reasons.length - 12, "more reason")}: see Nodes`)),
      notes(),
      h("section", {}, h("h2", {}, "Segments in the order of execution"), table.element),
      report.phases.length > 0 && phaseList(),
      missingParts()),
    search: table.search,
  };
}
