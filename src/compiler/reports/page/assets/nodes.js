// The list of nodes: where each runs, and why.
"use strict";

let chooseNodes = () => {};

function renderNodes() {
  if (nodes.length === 0) {
    return {element: emptyPart("Nodes", "There is no report of a compile, which lists the nodes of the module's graph.",
      "torchtrtc model.ts compiled.ts \"(1,3,224,224)\"")};
  }
  const codes = new Map();
  for (const node of nodes) {
    codes.set(node.code, (codes.get(node.code) || 0) + 1);
  }
  const table = makeTable({
    caption: "Nodes of the module's graph", what: "node", rows: nodes, text: node => node.text,
    columns: [
      {label: "#", isNumber: true, value: node => node.index, show: node => String(node.index + 1)},
      {label: "Operator", value: node => node.operator, show: node => h("span", {class: "operator"}, node.operator)},
      {label: "Runs in", value: node => node.target, show: node => chip(node.target, targetName(node.target))},
      {label: "Where", isWide: true, value: node => `${node.scope} ${node.where}`, show: placeCell},
      {label: "Why", isWide: true, value: node => `${node.code} ${node.reason}`,
       show: node => [h("code", {}, node.code), node.reason !== node.code && ` ${node.reason}`]},
    ],
  });
  const wanted = {target: "", code: ""};
  const found = h("span", {class: "found", role: "status"});
  const apply = () => {
    table.filter(node => (!wanted.target || node.target === wanted.target) && (!wanted.code || node.code === wanted.code));
    found.textContent = `${table.count().toLocaleString("en")} of ${counted(nodes.length, "node")}`;
  };
  const target = choice("Runs in", [["", "all"], ["engine", "engine"], ["torch", "PyTorch"]], value => {
    wanted.target = value;
    apply();
  });
  const code = choice("Reason", [["", "all"], ...[...codes].sort((a, b) => b[1] - a[1]).map(([name, count]) => [name, `${name} (${count})`])], value => {
    wanted.code = value;
    apply();
  });
  chooseNodes = (where, why) => {
    target.select.value = wanted.target = where;
    code.select.value = wanted.code = why;
    apply();
  };
  apply();
  return {
    element: h("div", {}, h("div", {class: "toolbar"}, target.element, code.element, found), table.element),
    search() {
      const text = table.search();
      found.textContent = text;
      return text;
    },
  };
}
