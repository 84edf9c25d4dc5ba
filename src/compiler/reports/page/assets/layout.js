// Places of the items on the plane. Each open group is laid out by dagre on its own, with its open children as large
// boxes: a change in one group leaves all others as they are.
"use strict";

const kLeaf = {width: 196, height: 46};
const kPadding = 16;
const kHeader = 30;

function layOut(item) {
  if (!item.children || !item.isOpen) {
    item.box = {width: kLeaf.width, height: kLeaf.height, edges: []};
    return;
  }
  if (item.box && item.box.isOpen) {
    return;
  }
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({rankdir: "TB", nodesep: 22, ranksep: 26, ranker: item.children.length > 80 ? "longest-path" : "network-simplex"});
  graph.setDefaultEdgeLabel(() => ({}));
  for (const child of item.children) {
    layOut(child);
    graph.setNode(String(child.id), {width: child.box.width, height: child.box.height});
  }
  item.edges.forEach(edge => graph.setEdge(String(edge.from.id), String(edge.to.id), {}));
  dagre.layout(graph);
  const {width, height} = graph.graph();
  const top = item.kind === "root" ? kPadding : kHeader + kPadding / 2;
  for (const child of item.children) {
    const node = graph.node(String(child.id));
    child.left = node.x - child.box.width / 2 + kPadding;
    child.top = node.y - child.box.height / 2 + top;
  }
  item.box = {
    isOpen: true,
    width: Math.max(width, kLeaf.width) + 2 * kPadding,
    height: height + top + kPadding,
    edges: item.edges.map(edge => {
      const points = graph.edge(String(edge.from.id), String(edge.to.id)).points.map(point => [point.x + kPadding, point.y + top]);
      const xs = points.map(point => point[0]), ys = points.map(point => point[1]);
      return {isOrder: edge.isOrder, points, left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys)};
    }),
  };
}

// Forgets the places of a group and of all around it.
function forgetLayout(item) {
  for (; item; item = item.parent) {
    item.box = null;
  }
}

function placeOnPlane(item) {
  let x = 0, y = 0;
  for (let each = item; each.parent; each = each.parent) {
    x += each.left;
    y += each.top;
  }
  return {x, y, width: item.box.width, height: item.box.height};
}

function isVisible(item) {
  for (let each = item.parent; each; each = each.parent) {
    if (!each.isOpen) {
      return false;
    }
  }
  return true;
}
