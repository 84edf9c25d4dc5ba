// The facts of the item that is selected in the graph.
"use strict";

function facts(rows) {
  return h("dl", {class: "facts"}, rows.filter(([, value]) => value).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

const tensorText = (engine, index) => {
  if (index < 0) {
    return "none";
  }
  const tensor = engine.tensors[index];
  return `${tensor.name}: ${tensor.dtype} [${tensor.dims.join(", ")}]${tensor.is_weight ? " (weight)" : ""}`;
};
const tensorList = (engine, indices) => indices.length > 0 &&
  h("ul", {class: "tensors"}, indices.map(index => h("li", {}, h("code", {}, tensorText(engine, index)))));

function describeItem(item) {
  const title = h("h3", {}, item.label);
  if (item.step) {
    const {step} = item;
    return [title, facts([
      ["kind", step.family], ["kernel", step.implementation], ["attributes", step.attributes && h("code", {}, step.attributes)],
      ["fused", step.rule && `with its neighbours, by ${step.rule}`],
      ["time", step.timing && `${timeText(step.timing.microseconds)} (${percent(step.timing.microseconds, totalStepTime, 1)})`],
      ["time", step.timedWith && `in the kernel of ${step.timedWith}`],
      ["precision", dtypeText(step)], ["module", step.scope], ["source", step.where], ["", step.line && h("code", {class: "line"}, step.line)],
      ["reads", tensorList(step.engine, step.inputs)], ["writes", tensorList(step.engine, step.outputs)]])];
  }
  if (item.node) {
    const {node, verdict} = item;
    return [title, facts([["runs in", "PyTorch"], ["because", verdict && [h("code", {}, verdict.code), ` ${verdict.reason}`]],
      ["module", node.scope], ["source", node.where], ["", node.line && h("code", {class: "line"}, node.line)]])];
  }
  if (item.segment) {
    const {segment} = item;
    const values = texts => texts.length > 0 && h("ul", {class: "tensors"}, texts.map(text => h("li", {}, h("code", {}, text))));
    return [title, facts([["runs in", targetName(segment.target)], ["engine", segment.name && h("code", {}, segment.name)],
      ["operators", String(segment.nodes.length)], ["steps", segment.steps.length > 0 && String(segment.steps.length)],
      ["weights", segment.memory_bytes > 0 && bytesText(segment.memory_bytes)],
      ["time", item.microseconds > 0 && timeText(item.microseconds)],
      ["because", segment.reasons.length > 0 && h("ul", {}, segment.reasons.map(reason => h("li", {}, reason)))],
      ["inputs", values(segment.inputs)], ["outputs", values(segment.outputs)]])];
  }
  return [title, facts([["module", item.path], ["holds", item.sub], ["precision", item.precision],
    ["time", item.microseconds > 0 && `${timeText(item.microseconds)} (${percent(item.microseconds, totalStepTime, 1)})`]])];
}
