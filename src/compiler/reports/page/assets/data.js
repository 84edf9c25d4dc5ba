// The data of the page: parts that the compiler wrote as JSON, and the few facts that several views derive of them.
"use strict";

const brokenParts = [];

function readPart(id) {
  try {
    return JSON.parse(document.getElementById(id).textContent);
  } catch (error) {
    brokenParts.push(id.replace("data-", ""));
    return null;
  }
}

// The record of another release may lack fields that this page reads, and have others.
function completeReport(record) {
  return record && {
    phases: [], precision: [], guessed_sizes: [], shared_dims: "", source_lines: {}, ...record,
    segments: (record.segments || []).map(segment => ({
      index: "", name: "", target: "torch", nodes: [], reasons: [], inputs: [], outputs: [], memory_bytes: 0, steps: [], ...segment})),
    nodes: (record.nodes || []).map(node => ({node: "", target: "torch", code: "", reason: "", ...node})),
  };
}

const about = readPart("data-about") || {title: "", module: "", version: ""};
const report = completeReport(readPart("data-report"));
const engines = readPart("data-engines") || [];
const profile = readPart("data-profile");
const verification = readPart("data-verification");

const engineByName = new Map(engines.map(engine => [engine.name, engine]));
const profileByEngine = new Map((profile ? profile.engines : []).map(engine => [engine.name, engine]));

function shortFile(file) {
  const folder = file.lastIndexOf("site-packages/");
  return folder < 0 ? file : file.slice(folder + "site-packages/".length);
}

// "a/site-packages/net.py:3:8 (layer1.0)": the place for people, the module path, and the line itself where it is known.
const placesByText = new Map();
function placeOf(location) {
  let place = placesByText.get(location);
  if (!place) {
    const found = /^(.*?)(?::(\d+))?(?::(\d+))?(?: ?\(([^()]*)\))?$/.exec(location) || [null, location];
    const [, file = "", line, , scope = ""] = found;
    const lines = report ? report.source_lines : {};
    const key = `${file}:${line}`;
    place = {
      where: file ? shortFile(file) + (line ? `:${line}` : "") : "",
      scope,
      line: Object.prototype.hasOwnProperty.call(lines, key) ? lines[key] : "",
    };
    placesByText.set(location, place);
  }
  return place;
}

// "aten::relu # net.py:3:8 (layer1.0)"
function parseNode(text) {
  const mark = text.indexOf(" # ");
  const operator = mark < 0 ? text : text.slice(0, mark);
  return {operator, ...placeOf(mark < 0 ? "" : text.slice(mark + 3))};
}

const nodes = (report ? report.nodes : []).map((node, index) => {
  const parsed = parseNode(node.node);
  return {...node, ...parsed, index,
          text: [node.node, node.target === "torch" ? "pytorch" : "engine", node.code, node.reason, parsed.line].join(" ").toLowerCase()};
});

// Numbers and collections are copied to where they are needed: they work nowhere.
const workingNodes = nodes.filter(node => node.code !== "carried");
const nodesInEngines = workingNodes.filter(node => node.target === "engine");
const segments = report ? report.segments : [];

const targetName = target => (target === "engine" ? "engine" : "PyTorch");

// What a step computes in: the first operand that is no index or mask, or else its result.
function precisionOf(step, tensors) {
  const dtypes = [...step.inputs, ...step.outputs].filter(each => each >= 0).map(each => tensors[each].dtype);
  return dtypes.find(dtype => /^(b?float|int8|uint8)/.test(dtype)) || dtypes[0] || "";
}

// Steps of all engines, in order, with what a profile knows of them.
const steps = engines.flatMap(engine => {
  const timed = new Map();
  const timedWith = new Map();  // a row of a profile is a kernel: its time counts for the first of its steps
  for (const row of (profileByEngine.get(engine.name) || {steps: []}).steps) {
    const [first, ...others] = row.name.split(" + ");
    timed.set(first, row);
    others.forEach(name => timedWith.set(name, first));
  }
  const fusedInto = new Map();
  for (const action of engine.actions) {
    for (const each of action.steps) {
      fusedInto.set(each, action);
    }
  }
  return engine.steps.map((step, index) => {
    const place = placeOf(step.location);
    const precision = precisionOf(step, engine.tensors);
    const action = fusedInto.get(index);
    return {...step, ...place, engine, index, precision, timing: timed.get(step.name) || null, timedWith: timedWith.get(step.name) || "",
            rule: action && action.steps.length > 1 ? action.rule : "",
            text: [step.name, step.family, step.implementation, step.location, precision, place.line].join(" ").toLowerCase()};
  });
});
const stepsByEngine = new Map(engines.map(engine => [engine.name, steps.filter(step => step.engine === engine)]));

const dtypesOf = (tensors, indices) => indices.filter(each => each >= 0).map(each => tensors[each].dtype);
function dtypeText(step) {
  const flow = all => [...new Set(dtypesOf(step.engine.tensors, all))].join(", ");
  return `${flow(step.inputs)} → ${flow(step.outputs)}`;
}

// Colours: of dtypes, and of families by their order of frequency.
const dtypeColours = {float32: "--c1", float16: "--c3", bfloat16: "--c5", int8: "--c4", uint8: "--c4", float64: "--c6",
                      int64: "--c7", int32: "--c7", int16: "--c7", bool: "--c8"};
const familyCounts = new Map();
for (const step of steps) {
  familyCounts.set(step.family, (familyCounts.get(step.family) || 0) + 1);
}
const familyOrder = [...familyCounts.keys()].sort((a, b) => familyCounts.get(b) - familyCounts.get(a) || (a < b ? -1 : 1));
function familyColour(family) {
  const place = familyOrder.indexOf(family);
  return place < 0 || place > 6 ? "--c8" : `--c${place + 1}`;
}
