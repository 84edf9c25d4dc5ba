// Drawing of the graph's items and edges on a canvas.
"use strict";

function drawEdge(context, view, edge, x, y) {
  if (view.transform.k < 0.2) {  // too small for curves and arrows
    context.beginPath();
    edge.points.forEach(([px, py], index) => (index === 0 ? context.moveTo(px + x, py + y) : context.lineTo(px + x, py + y)));
    context.stroke();
    return;
  }
  const points = edge.points.map(([px, py]) => [px + x, py + y]);
  context.beginPath();
  context.setLineDash(edge.isOrder ? [4, 4] : []);
  context.moveTo(...points[0]);
  for (let i = 1; i < points.length - 1; ++i) {
    const [nx, ny] = points[i + 1];
    const isLast = i === points.length - 2;
    context.quadraticCurveTo(...points[i], isLast ? nx : (points[i][0] + nx) / 2, isLast ? ny : (points[i][1] + ny) / 2);
  }
  context.stroke();
  context.setLineDash([]);
  const [ex, ey] = points[points.length - 1];
  context.beginPath();
  context.moveTo(ex, ey);
  context.lineTo(ex - 4, ey - 7);
  context.lineTo(ex + 4, ey - 7);
  context.fill();
}

function drawChildren(context, view, group, x, y) {
  const {left, top, right, bottom} = view.view;
  context.strokeStyle = view.colour("--edge");
  context.fillStyle = view.colour("--edge");
  context.lineWidth = Math.max(1, 0.6 / view.transform.k);
  for (const edge of group.box.edges) {
    if (edge.bottom + y >= top && edge.top + y <= bottom && edge.right + x >= left && edge.left + x <= right) {
      drawEdge(context, view, edge, x, y);
    }
  }
  for (const item of group.children) {
    const ix = x + item.left, iy = y + item.top;
    if (ix <= right && iy <= bottom && ix + item.box.width >= left && iy + item.box.height >= top) {
      drawItem(context, view, item, ix, iy);
    }
  }
}

function drawItem(context, view, item, x, y) {
  const {width, height} = item.box;
  const isOpen = item.children && item.isOpen;
  const isFaint = searchWords.length > 0 && !view.matching.has(item) && !view.around.has(item);
  const colour = view.colour(colourings[view.colouring].of(item));
  context.globalAlpha = isFaint ? 0.3 : 1;
  if (Math.max(width, height) * view.transform.k < 6) {  // a dot: its inside cannot be seen
    context.fillStyle = colour;
    context.fillRect(x, y, width, height);
    context.globalAlpha = 1;
    return;
  }
  context.beginPath();
  context.roundRect(x, y, width, height, 7);
  context.fillStyle = isOpen ? view.colour("--group") : view.colour("--box");
  context.fill();
  if (!isOpen) {
    context.save();
    context.clip();
    context.fillStyle = colour;
    context.fillRect(x, y, view.transform.k < kReadable ? width : 7, height);
    context.restore();
  }
  const isMatch = view.matching.has(item);
  context.strokeStyle = item === view.selected ? view.colour("--focus") : isMatch ? view.colour("--match") : view.colour("--boxline");
  context.lineWidth = (item === view.selected || isMatch ? 2.5 : 1) / Math.min(1, Math.max(view.transform.k, 0.25));
  context.stroke();
  if (view.transform.k >= kReadable) {
    drawLabels(context, view, item, x, y, isOpen, colour);
  } else if (isOpen && view.transform.k > 0.12) {
    context.fillStyle = view.colour("--text");
    context.font = `600 ${13 / view.transform.k * 0.8}px system-ui, sans-serif`;
    context.fillText(fitText(context, item.label, width - 16), x + 10, y + 12 / view.transform.k * 0.8 + 6);
  }
  context.globalAlpha = 1;
  if (isOpen) {
    drawChildren(context, view, item, x, y);
  }
}

function drawLabels(context, view, item, x, y, isOpen, colour) {
  const {width} = item.box;
  const sign = item.children ? 26 : 0;
  context.fillStyle = view.colour("--text");
  context.font = `${item.children ? 600 : 500} 13px system-ui, sans-serif`;
  if (isOpen) {
    context.fillText(fitText(context, item.label, width - sign - 20), x + 12, y + 20);
  } else {
    context.fillText(fitText(context, item.label, width - sign - 24), x + 16, y + 19);
    context.fillStyle = view.colour("--faint");
    context.font = "11.5px system-ui, sans-serif";
    const time = item.microseconds > 0 ? timeText(item.microseconds) : "";
    const room = time ? context.measureText(time).width + 10 : 0;
    context.fillText(fitText(context, item.sub || "", width - 26 - room), x + 16, y + 36);
    if (time) {
      context.fillText(time, x + width - room, y + 36);
    }
  }
  if (item.children) {
    context.strokeStyle = view.colour("--faint");
    context.lineWidth = 1.6;
    const cx = x + width - 16, cy = y + 15;
    context.beginPath();
    context.moveTo(cx - 5, cy);
    context.lineTo(cx + 5, cy);
    if (!isOpen) {
      context.moveTo(cx, cy - 5);
      context.lineTo(cx, cy + 5);
    }
    context.stroke();
  }
}
