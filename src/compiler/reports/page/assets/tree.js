// The graph as a tree: segments, inside of them module paths, and at the ends steps of engines or operators of PyTorch.
// Edges are kept where both ends meet: an edge of a group joins two of its children.
"use strict";

const kMostChildren = 60;  // of a group; longer runs are cut into pieces

let itemCount = 0;
function makeItem(kind, label, parent) {
  return {id: itemCount++, kind, label, parent, children: null, edges: [], isOpen: false, facts: [], text: label.toLowerCase(),
          target: "", precision: "", microseconds: 0, leaves: 1, box: null};
}

// The module that a step belongs to: of a step that computes several modules, "a.b.conv + a.b.relu", what they have in common.
function pathOf(scope) {
  const paths = scope.split(" + ").map(path => path.split("."));
  if (paths.length === 1) {
    return scope;
  }
  let common = 0;
  while (paths.every(path => path.length > common && path[common] === paths[0][common])) {
    ++common;
  }
  return paths[0].slice(0, common).join(".");
}

// Groups leaves by their module path. A path with one child alone is written in one line.
function groupByPath(parent, leaves) {
  const groups = new Map([["", parent]]);
  parent.children = [];
  const groupOf = path => {
    let group = groups.get(path);
    if (!group) {
      const cut = path.lastIndexOf(".");
      const outer = groupOf(cut < 0 ? "" : path.slice(0, cut));
      group = makeItem("module", path.slice(cut + 1), outer);
      group.path = path;
      group.children = [];
      outer.children.push(group);
      groups.set(path, group);
    }
    return group;
  };
  for (const leaf of leaves) {
    leaf.parent = groupOf(pathOf(leaf.scope || ""));
    leaf.parent.children.push(leaf);
  }
  mergeChains(parent);
  cutLongRuns(parent);
}

function mergeChains(group) {
  group.children = group.children.map(child => {
    while (child.kind === "module" && child.children.length === 1) {
      const only = child.children[0];
      if (only.kind === "module") {
        only.label = `${child.label}.${only.label}`;
      }
      only.parent = group;
      child = only;
    }
    if (child.kind === "module") {
      mergeChains(child);
    }
    return child;
  });
}

function cutLongRuns(group) {
  for (const child of group.children) {
    if (child.children && child.kind === "module") {
      cutLongRuns(child);
    }
  }
  while (group.children.length > kMostChildren) {
    const pieces = [];
    for (let start = 0; start < group.children.length; start += kMostChildren) {
      const members = group.children.slice(start, start + kMostChildren);
      const piece = makeItem("part", "", group);
      piece.children = members;
      const first = members[0].kind === "part" ? members[0].first : start + 1;
      const last = members[members.length - 1];
      piece.first = first;
      piece.last = last.kind === "part" ? last.last : start + members.length;
      piece.label = `${piece.first.toLocaleString("en")} to ${piece.last.toLocaleString("en")}`;
      members.forEach(member => {
        member.parent = piece;
      });
      pieces.push(piece);
    }
    group.children = pieces;
  }
}

function stepItem(step) {
  const item = makeItem("step", step.name, null);
  item.scope = step.scope;
  item.step = step;
  item.sub = step.family;
  item.target = "engine";
  item.precision = step.precision;
  item.microseconds = step.timing ? step.timing.microseconds : 0;
  item.text = step.text;
  return item;
}

const reasonByNode = new Map(nodes.filter(node => node.target === "torch").map(node => [node.node, node]));

function nodeItem(text) {
  const node = parseNode(text);
  const item = makeItem("node", node.operator, null);
  item.scope = node.scope;
  item.node = node;
  item.sub = node.where;
  item.target = "torch";
  item.verdict = reasonByNode.get(text) || null;
  item.text = `${text} pytorch ${node.line}`.toLowerCase();
  return item;
}

// An edge from leaf to leaf, at the group where their paths part.
function addEdge(from, to, isOrder) {
  const above = [];
  for (let item = from; item; item = item.parent) {
    above.push(item);
  }
  let below = to;
  while (below && below.parent && !above.includes(below.parent)) {
    below = below.parent;
  }
  const group = below && below.parent;
  if (!group) {
    return;
  }
  const source = above[above.indexOf(group) - 1];
  if (source && source !== below) {
    group.edgeKeys = group.edgeKeys || new Set();
    const key = `${source.id} ${below.id}`;
    if (!group.edgeKeys.has(key)) {
      group.edgeKeys.add(key);
      group.edges.push({from: source, to: below, isOrder});
    }
  }
}

function addEngine(item, engine) {
  const leaves = stepsByEngine.get(engine.name).map(stepItem);
  groupByPath(item, leaves);
  const writer = new Map();
  const memoryOf = tensor => {  // a view is written by who writes the tensor in whose memory it is
    while (tensor >= 0 && !writer.has(tensor) && engine.tensors[tensor].view_of !== undefined) {
      tensor = engine.tensors[tensor].view_of;
    }
    return tensor;
  };
  engine.steps.forEach((step, index) => {
    for (const tensor of step.inputs.map(memoryOf)) {
      if (writer.has(tensor)) {
        addEdge(leaves[writer.get(tensor)], leaves[index], false);
      }
    }
    for (const tensor of step.outputs) {
      writer.set(tensor, index);
    }
  });
}

function addOperators(item, segment) {
  const leaves = segment.nodes.map(nodeItem);
  groupByPath(item, leaves);
  for (let i = 1; i < leaves.length; ++i) {
    addEdge(leaves[i - 1], leaves[i], true);
  }
}

function segmentItem(segment, parent) {
  const item = makeItem("segment", segment.target === "engine" ? "Engine" : "PyTorch", parent);
  item.segment = segment;
  item.target = segment.target;
  item.label = `${segment.index} ${item.label}`;
  item.sub = segment.target === "engine" ? counted(segment.steps.length, "step") : counted(segment.nodes.length, "operator");
  item.text = [item.label, segment.name, targetName(segment.target)].join(" ").toLowerCase();
  const engine = engineByName.get(segment.name);
  if (engine && engine.steps.length > 0) {
    addEngine(item, engine);
  } else if (segment.nodes.length > 0) {
    addOperators(item, segment);
  }
  return item;
}

const valueNames = texts => texts.map(text => text.replace(/^%/, "").replace(/:.*$/s, ""));

// Joins segments of one level by the names of their values; what nothing joins follows what ran before.
function joinSegments(items) {
  const writer = new Map();
  items.forEach((item, index) => {
    let isJoined = false;
    for (const name of valueNames(item.segment.inputs)) {
      if (writer.has(name)) {
        addEdge(writer.get(name), item, false);
        isJoined = true;
      }
    }
    if (!isJoined && index > 0) {
      addEdge(items[index - 1], item, true);
    }
    for (const name of valueNames(item.segment.outputs)) {
      writer.set(name, item);
    }
  });
}

// Segments inside of a branch or loop stand in its item: "2.0.1" is number 1 of block 0 of segment 2.
function addSegments(root) {
  const byIndex = new Map();
  const levels = new Map();  // group -> its segments
  for (const segment of segments) {
    const parts = segment.index.split(".");
    let group = root;
    if (parts.length >= 3) {
      const outer = byIndex.get(parts.slice(0, -2).join("."));
      const block = parts[parts.length - 2];
      if (outer) {
        outer.children = outer.children || [];
        outer.blocks = outer.blocks || new Map();
        group = outer.blocks.get(block);
        if (!group) {
          group = makeItem("block", `block ${block}`, outer);
          group.children = [];
          group.target = "torch";
          group.text = group.label;
          outer.blocks.set(block, group);
          outer.children.push(group);
        }
      }
    }
    const item = segmentItem(segment, group);
    byIndex.set(segment.index, item);
    group.children.push(item);
    levels.set(group, [...(levels.get(group) || []), item]);
  }
  levels.forEach(joinSegments);
}

function finishItem(item) {
  item.depth = item.parent ? item.parent.depth + 1 : 0;
  if (!item.children || item.children.length === 0) {
    item.children = null;
    return;
  }
  item.children.forEach(finishItem);
  const sum = of => item.children.reduce((total, child) => total + of(child), 0);
  item.leaves = sum(child => child.leaves);
  item.microseconds = sum(child => child.microseconds);
  const common = of => {
    const values = new Set(item.children.map(of).filter(value => value));
    return values.size > 1 ? "mixed" : values.size === 1 ? [...values][0] : "";
  };
  item.precision = common(child => child.precision);
  item.target = item.target || common(child => child.target);
  item.family = common(child => (child.step ? child.step.family : child.family));
  item.sub = item.sub || counted(item.leaves, item.target === "torch" ? "operator" : "step");
}

function makeTree() {
  const root = makeItem("root", "module", null);
  root.children = [];
  root.isOpen = true;
  if (report) {
    addSegments(root);
  } else {
    for (const engine of engines) {
      const item = makeItem("segment", "Engine", root);
      item.segment = {index: "", name: engine.name, target: "engine", inputs: [], outputs: [], nodes: [], steps: engine.steps, reasons: []};
      item.target = "engine";
      root.children.push(item);
      addEngine(item, engine);
    }
  }
  const top = root.children;
  cutLongRuns(root);
  if (root.children !== top) {  // the edges joined children that stand in pieces now
    const edges = root.edges;
    root.edges = [];
    root.edgeKeys = null;
    edges.forEach(edge => addEdge(edge.from, edge.to, edge.isOrder));
  }
  finishItem(root);
  // Opens what has one child alone, so that the first look shows something.
  for (let item = root; item && item.children; item = item.children.length === 1 ? item.children[0] : null) {
    item.isOpen = true;
  }
  return root;
}
