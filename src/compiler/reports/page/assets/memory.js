// The memory plan: which piece of the workspace holds which result, from the kernel that writes it to the last that reads it.
"use strict";

function bufferRows(engine) {
  return engine.buffers.map(([tensor, offset, bytes, first, last]) => {
    const known = tensor >= 0 ? engine.tensors[tensor] : null;
    return {name: known ? known.name : "scratch", dtype: known ? known.dtype : "", dims: known ? known.dims : [], offset, bytes, first, last,
            text: `${known ? known.name : "scratch"} ${known ? known.dtype : ""}`.toLowerCase()};
  });
}

function actionText(engine, index) {
  const action = engine.actions[index];
  return action.steps.length === 0 ? "copy" : action.steps.map(step => engine.steps[step].name).join(" + ");
}

function memoryChart(engine, buffers) {
  const count = engine.actions.length;
  const height = Math.max(engine.workspace_bytes, ...buffers.map(buffer => buffer.offset + buffer.bytes), 1);
  let selected = -1;
  const info = h("p", {class: "stripinfo", role: "status", "aria-live": "polite"}, "Each box is a result: its width is its life, its height its size. Point at one, or use the arrow keys.");
  const margin = {left: 58, bottom: 22, top: 6};
  const boxOf = (buffer, width, tall) => {
    const across = (width - margin.left) / count, down = (tall - margin.bottom - margin.top) / height;
    return [margin.left + buffer.first * across, tall - margin.bottom - (buffer.offset + buffer.bytes) * down,
            (buffer.last - buffer.first + 1) * across, buffer.bytes * down];
  };
  const {canvas, redraw} = drawingCanvas({class: "memory", tabindex: 0, role: "img", "aria-label": `Workspace of ${counted(count, "kernel")}: ${bytesText(engine.workspace_bytes)}`},
    (context, width, tall) => {
      context.font = "11.5px system-ui, sans-serif";
      const colours = new Map();
      const colourOf = name => colours.get(name) || (colours.set(name, styleColour(name)), colours.get(name));
      const text = styleColour("--text"), faint = styleColour("--faint"), line = styleColour("--boxline"), onfill = styleColour("--onfill");
      buffers.forEach((buffer, index) => {
        const [x, y, wide, high] = boxOf(buffer, width, tall);
        const isFaint = searchWords.length > 0 && !matches(buffer.text);
        context.globalAlpha = isFaint ? 0.2 : 1;
        context.fillStyle = colourOf(buffer.name === "scratch" && !buffer.dtype ? "--mixed" : dtypeColours[buffer.dtype] || "--none");
        context.fillRect(x, y, Math.max(wide - 0.5, 0.5), Math.max(high - 0.5, 0.5));
        if (wide > 44 && high > 14) {
          context.fillStyle = onfill;
          context.fillText(fitText(context, buffer.name, wide - 8), x + 4, y + Math.min(high / 2 + 4, 14));
        }
        if (index === selected) {
          context.strokeStyle = styleColour("--focus");
          context.lineWidth = 3;
          context.strokeRect(x, y, Math.max(wide, 2), Math.max(high, 2));
        }
      });
      context.globalAlpha = 1;
      context.strokeStyle = line;
      context.lineWidth = 1;
      context.strokeRect(margin.left - 0.5, margin.top, width - margin.left, tall - margin.bottom - margin.top);
      context.fillStyle = faint;
      context.textAlign = "right";
      context.fillText(bytesText(height), margin.left - 6, margin.top + 10);
      context.fillText("0", margin.left - 6, tall - margin.bottom);
      context.textAlign = "left";
      context.fillText("kernel 1", margin.left, tall - 6);
      context.textAlign = "right";
      context.fillText(`kernel ${count}`, width - 2, tall - 6);
      context.textAlign = "left";
      context.fillStyle = text;
    });
  const select = index => {
    if (buffers.length === 0) {
      return;
    }
    selected = Math.max(0, Math.min(buffers.length - 1, index));
    const buffer = buffers[selected];
    info.replaceChildren(h("strong", {}, buffer.name), ` ${bytesText(buffer.bytes)}${buffer.dtype ? `, ${buffer.dtype} [${buffer.dims.join(", ")}]` : ""} at byte ${buffer.offset.toLocaleString("en")}; ` +
      `kernel ${buffer.first + 1} writes it (${actionText(engine, buffer.first)}), kernel ${buffer.last + 1} is the last to use it`);
    redraw();
  };
  const at = (px, py, box) => buffers.findLastIndex(buffer => {
    const [x, y, wide, high] = boxOf(buffer, box.width, box.height);
    return px >= x && px <= x + wide && py >= y && py <= y + high;
  });
  makeSelectable(canvas, buffers.length, at, () => selected, select);
  return {element: h("div", {class: "stripbox"}, canvas, info), redraw};
}

function engineMemory(engine) {
  const buffers = bufferRows(engine);
  if (engine.actions.length === 0) {
    return {element: h("p", {class: "warning"}, engine.note || "There is no schedule."), search: () => ""};
  }
  const live = new Array(engine.actions.length + 1).fill(0);
  for (const buffer of buffers) {
    live[buffer.first] += buffer.bytes;
    live[buffer.last + 1] -= buffer.bytes;
  }
  let now = 0, most = 0, at = 0, sum = 0;
  live.forEach((change, index) => {
    now += change;
    if (now > most) {
      most = now;
      at = index;
    }
  });
  sum = buffers.reduce((total, buffer) => total + buffer.bytes, 0);
  const chart = memoryChart(engine, buffers);
  const table = makeTable({
    caption: "Buffers", what: "buffer", rows: buffers, text: buffer => buffer.text, sortBy: 1,
    columns: [
      {label: "Result", isWide: true, value: buffer => buffer.name, show: buffer => [h("span", {class: "operator"}, buffer.name), buffer.dtype && h("span", {class: "scope"}, `${buffer.dtype} [${buffer.dims.join(", ")}]`)]},
      {label: "Size", isNumber: true, value: buffer => buffer.bytes, show: buffer => bytesText(buffer.bytes)},
      {label: "At byte", isNumber: true, value: buffer => buffer.offset, show: buffer => buffer.offset.toLocaleString("en")},
      {label: "From kernel", isNumber: true, value: buffer => buffer.first, show: buffer => String(buffer.first + 1)},
      {label: "To kernel", isNumber: true, value: buffer => buffer.last, show: buffer => String(buffer.last + 1)},
      {label: "Written by", isWide: true, value: buffer => actionText(engine, buffer.first)},
    ],
  });
  return {
    element: h("div", {}, h("div", {class: "cardgrid"},
      card("Workspace", bytesText(engine.workspace_bytes), "of a call with the optimum's sizes"),
      card("Weights", bytesText(engine.memory_bytes), "with what kernels packed"),
      card("All results", bytesText(sum), sum > 0 && engine.workspace_bytes > 0 ? `${digits(sum / engine.workspace_bytes, 2)} times the workspace: places are used again` : ""),
      card("Fullest", bytesText(most), `at kernel ${at + 1}: ${actionText(engine, Math.min(at, engine.actions.length - 1))}`)), chart.element,
    h("div", {class: "legend"}, [...new Set(buffers.map(buffer => buffer.dtype))].filter(each => each).map(dtype => h("span", {}, h("i", {style: `background: var(${dtypeColours[dtype] || "--none"})`}), dtype)),
      h("span", {}, h("i", {style: "background: var(--mixed)"}), "scratch of a kernel")), table.element),
    search() {
      chart.redraw();
      return table.search();
    },
  };
}

function renderMemory() {
  if (engines.length === 0) {
    return {element: emptyPart("Memory plan", "This module has no engines, so there is no memory plan. PyTorch allocates what it needs.")};
  }
  const largest = engines.reduce((most, each) => (each.workspace_bytes > most.workspace_bytes ? each : most));
  let view = engineMemory(largest);
  const place = h("div", {}, view.element);
  const engine = choice("Engine", engines.map((each, index) => [String(index), each.name]), value => {
    view = engineMemory(engines[Number(value)]);
    place.replaceChildren(view.element);
    applySearch();
  });
  engine.select.value = String(engines.indexOf(largest));
  return {element: h("div", {}, engines.length > 1 && h("div", {class: "toolbar"}, engine.element), place), search: () => view.search()};
}
