// The graph on a canvas: it draws what is in view, at the detail that can be read.
"use strict";

const kReadable = 0.42;     // scale from which labels are drawn
const kMostOpened = 3000;   // leaves that "Expand all" shows at once
const kSlice = 40;          // milliseconds of laying out before the page draws and listens again

const colourings = {
  device: {
    label: "device",
    of: item => (item.target === "engine" ? "--engine" : item.target === "torch" ? "--torch" : "--mixed"),
    legend: () => [["--engine", "engine"], ["--torch", "PyTorch"]],
  },
  precision: {
    label: "precision",
    of: item => (item.precision === "mixed" ? "--mixed" : dtypeColours[item.precision] || "--none"),
    legend: () => [...new Set(steps.map(step => step.precision))].filter(each => each)
      .map(dtype => [dtypeColours[dtype] || "--none", dtype]).concat([["--mixed", "several"], ["--none", "not known"]]),
  },
  kind: {
    label: "kind of step",
    of: item => (item.step ? familyColour(item.step.family) : item.family === "mixed" ? "--mixed" : item.family ? familyColour(item.family) : "--none"),
    legend: () => familyOrder.slice(0, 7).map(family => [familyColour(family), family])
      .concat(familyOrder.length > 7 ? [["--c8", "others"]] : [], [["--mixed", "several"], ["--none", "operator of PyTorch"]]),
  },
  time: {
    label: "time",
    of: item => {
      const share = item.microseconds / (totalStepTime || 1);
      return item.microseconds === 0 ? "--none" : share > 0.1 ? "--t5" : share > 0.05 ? "--t4" : share > 0.02 ? "--t3" : share > 0.005 ? "--t2" : "--t1";
    },
    legend: () => [["--t5", "over 10%"], ["--t4", "5 to 10%"], ["--t3", "2 to 5%"], ["--t2", "0.5 to 2%"], ["--t1", "less"], ["--none", "not timed"]],
  },
};
const totalStepTime = steps.reduce((sum, step) => sum + (step.timing ? step.timing.microseconds : 0), 0);

class GraphView {
  constructor() {
    this.root = makeTree();
    this.all = [];
    this.collect(this.root);
    this.selected = null;
    this.colouring = "device";
    this.matching = new Set();
    this.busy = "";  // what is shown while groups are laid out
    this.transform = d3.zoomIdentity;
    const {canvas, redraw} = drawingCanvas({
      class: "graph", tabindex: 0, role: "application", "aria-roledescription": "graph", "aria-describedby": "graphhelp",
      "aria-label": `Graph of the module: ${counted(this.root.leaves, "step")} in ${counted(this.root.children.length, "segment")}`,
    }, (context, width, height) => this.draw(context, width, height));
    this.canvas = canvas;
    this.redraw = redraw;
    this.details = h("aside", {class: "details", "aria-label": "Selected item"});
    this.live = h("p", {class: "hidden", role: "status", "aria-live": "polite"});
    this.legend = h("div", {class: "legend"});
    this.element = h("div", {}, this.toolbar(), this.legend,
      h("div", {class: "graphbox"}, canvas, this.details), this.live,
      h("p", {id: "graphhelp", class: "help"}, "Click an item for its facts, and again, or on its sign, to open or close it. Drag to move, turn the wheel or pinch to zoom. ",
        "Keys: arrows move, Enter opens and closes, + and - zoom, 0 shows all, Escape goes up."));
    this.listen();
    this.showLegend();
    this.select(null);
  }

  collect(item) {
    this.all.push(item);
    (item.children || []).forEach(child => this.collect(child));
  }

  toolbar() {
    const options = Object.entries(colourings).filter(([id]) => (id === "time" ? totalStepTime > 0 : id === "device" || steps.length > 0))
      .map(([id, colouring]) => [id, colouring.label]);
    if (totalStepTime === 0) {
      options.push(["none", "time (needs --profile)"]);
    }
    const colour = choice("Colour by", options, value => {
      this.colouring = value;
      this.showLegend();
      this.redraw();
    });
    const disabled = colour.select.querySelector("option[value=none]");
    if (disabled) {
      disabled.disabled = true;
    }
    const button = (label, title, action) => h("button", {type: "button", title, "aria-label": title, onclick: action}, label);
    return h("div", {class: "toolbar"}, colour.element,
      button("Expand all", "Expand all", () => this.openAll(true)), button("Collapse all", "Collapse all", () => this.openAll(false)),
      button("Fit", "Show all of the graph", () => this.fit()), button("+", "Zoom in", () => this.zoomBy(1.4)), button("−", "Zoom out", () => this.zoomBy(1 / 1.4)));
  }

  showLegend() {
    this.legend.replaceChildren(...colourings[this.colouring].legend().map(([colour, label]) =>
      h("span", {}, h("i", {style: `background: var(${colour})`}), label)));
  }

  listen() {
    this.zoom = d3.zoom().scaleExtent([0.01, 4]).on("zoom", () => {
      this.transform = d3.event.transform;
      this.redraw();
    }).clickDistance(5);
    d3.select(this.canvas).call(this.zoom).on("dblclick.zoom", null);
    this.canvas.addEventListener("click", event => {
      if (this.busy) {
        return;
      }
      const box = this.canvas.getBoundingClientRect();
      const item = this.itemAt(...this.transform.invert([event.clientX - box.left, event.clientY - box.top]));
      const isSign = item && item.children && this.isOnSign(item, event.clientX - box.left, event.clientY - box.top);
      if (item && item.children && (isSign || item === this.selected)) {
        this.toggle(item);
      }
      this.select(item);
    });
    this.canvas.addEventListener("keydown", event => this.onKey(event));
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || this.busy) {
      return;
    }
    const item = this.selected;
    const siblings = item && item.parent ? this.inOrder(item.parent) : [];
    const move = step => siblings[siblings.indexOf(item) + step] || item;
    const actions = {
      ArrowDown: () => this.go(item ? move(1) : this.inOrder(this.root)[0]),
      ArrowUp: () => this.go(item ? move(-1) : this.inOrder(this.root)[0]),
      ArrowRight: () => {
        if (!item) {
          this.go(this.inOrder(this.root)[0]);
        } else if (item.children && !item.isOpen) {
          this.toggle(item);
        } else if (item.children) {
          this.go(this.inOrder(item)[0]);
        }
      },
      ArrowLeft: () => (item && item.isOpen && item.children ? this.toggle(item) : item && item.parent !== this.root && this.go(item.parent)),
      Enter: () => item && item.children && this.toggle(item),
      " ": () => item && item.children && this.toggle(item),
      "+": () => this.zoomBy(1.4), "=": () => this.zoomBy(1.4), "-": () => this.zoomBy(1 / 1.4), 0: () => this.fit(),
      Escape: () => (item && item.parent !== this.root && item.parent ? this.go(item.parent) : this.select(null)),
    };
    if (actions[event.key]) {
      event.preventDefault();
      actions[event.key]();
    }
  }

  inOrder(group) {  // as they stand on the plane: from top to bottom, then from left to right
    this.layout();
    return [...group.children].sort((a, b) => a.top + a.box.height / 2 - b.top - b.box.height / 2 || a.left - b.left);
  }

  layout() {
    layOut(this.root);
  }

  toggle(item) {
    const before = this.screenPlace(item);
    item.isOpen = !item.isOpen;
    forgetLayout(item);
    this.layout();
    const after = placeOnPlane(item);  // the item stays where the reader looks
    const {k} = this.transform;
    this.setTransform(d3.zoomIdentity.translate(before.x - after.x * k, before.y - after.y * k).scale(k));
    this.select(item);
  }

  async openAll(isOpen) {
    const groups = this.all.filter(item => item.children && item !== this.root);
    let shown = 0;
    for (const group of groups) {
      shown += isOpen ? group.children.length : 0;
      group.isOpen = isOpen && shown <= kMostOpened;
      group.box = null;
    }
    this.root.box = null;
    if (await this.layOutInSlices(groups.reverse())) {
      this.fit();
      this.live.textContent = !isOpen ? "All groups are closed." : shown > kMostOpened ? "The graph is too large to open all of it: some groups stay closed." : "All groups are open.";
    }
  }

  // Lays groups out, inner ones first, and says how far it is. False if another call began meanwhile.
  async layOutInSlices(groups) {
    const call = this.call = {};
    let end = performance.now() + kSlice;
    for (const [index, group] of groups.entries()) {
      layOut(group);
      if (performance.now() > end) {
        this.busy = `Laying out the graph: ${index + 1} of ${counted(groups.length, "group")}`;
        this.redraw();
        await new Promise(resolve => setTimeout(resolve));
        if (call !== this.call) {
          return false;
        }
        end = performance.now() + kSlice;
      }
    }
    this.busy = "";
    return true;
  }

  screenPlace(item) {
    this.layout();
    const place = placeOnPlane(item);
    const {k, x, y} = this.transform;
    return {x: place.x * k + x, y: place.y * k + y, width: place.width * k, height: place.height * k};
  }

  setTransform(transform) {
    d3.select(this.canvas).call(this.zoom.transform, transform);
  }

  zoomBy(factor) {
    d3.select(this.canvas).call(this.zoom.scaleBy, factor);
  }

  fit() {
    if (this.busy) {
      return;
    }
    this.layout();
    const {width, height} = this.canvas.getBoundingClientRect();
    const box = this.root.box;
    if (width === 0) {
      return;
    }
    const whole = Math.min(width / box.width, height / box.height);
    const k = Math.max(Math.min(whole, 1), Math.min(0.65, width / box.width, 1), 0.02);  // long graphs start at their top, readable
    this.setTransform(d3.zoomIdentity.translate((width - box.width * k) / 2, Math.max((height - box.height * k) / 2, 0)).scale(k));
  }

  go(item) {
    for (let each = item.parent; each; each = each.parent) {
      if (!each.isOpen) {
        each.isOpen = true;
        forgetLayout(each);
      }
    }
    this.layout();
    const place = this.screenPlace(item);
    const {width, height} = this.canvas.getBoundingClientRect();
    const isSeen = place.x >= 0 && place.y >= 0 && place.x + Math.min(place.width, width) <= width + 1 && place.y + Math.min(place.height, 40) <= height;
    if (!isSeen || this.transform.k < kReadable) {
      const k = Math.max(this.transform.k, 0.7);
      const target = placeOnPlane(item);
      this.setTransform(d3.zoomIdentity.translate(width / 2 - (target.x + Math.min(target.width, width / k) / 2) * k,
        height / 3 - target.y * k).scale(k));
    }
    this.select(item);
  }

  itemAt(x, y) {
    this.layout();
    let found = null;
    let items = this.root.children;
    while (items) {
      let inside = null;
      for (const item of items) {
        if (x >= item.left && y >= item.top && x <= item.left + item.box.width && y <= item.top + item.box.height) {
          inside = item;
        }
      }
      if (!inside) {
        return found;
      }
      found = inside;
      x -= inside.left;
      y -= inside.top;
      items = inside.isOpen ? inside.children : null;
    }
    return found;
  }

  isOnSign(item, x, y) {
    const place = this.screenPlace(item);
    const reach = 28 * this.transform.k + 6;
    return x > place.x + place.width - reach && y < place.y + reach + 8 * this.transform.k;
  }

  select(item) {
    this.selected = item;
    this.details.replaceChildren(...(item ? describeItem(item) : [h("p", {class: "faint"}, "Nothing is selected.")]));
    if (item) {
      const siblings = item.parent.children;
      this.live.textContent = [item.label, item.sub, item.children ? (item.isOpen ? "open" : "closed") : "",
        `${siblings.indexOf(item) + 1} of ${siblings.length}`].filter(each => each).join(", ");
    }
    this.redraw();
  }

  search() {
    this.matching = new Set(searchWords.length === 0 ? [] : this.all.filter(item => item.parent && !item.children && matches(item.text)));
    this.found = [...this.matching];
    this.place = -1;
    this.around = new Set();
    for (const item of this.found) {
      for (let each = item.parent; each && !this.around.has(each); each = each.parent) {
        this.around.add(each);
      }
    }
    this.redraw();
    return `${this.found.length} ${this.found.length === 1 ? "match" : "matches"} of ${counted(this.root.leaves, "step")}; Enter goes to the next`;
  }

  next(step) {
    if (!this.busy && this.found && this.found.length > 0) {
      this.place = (this.place + step + this.found.length) % this.found.length;
      this.go(this.found[this.place]);
    }
  }

  shown() {
    if (!this.wasShown) {
      this.wasShown = true;
      requestAnimationFrame(() => this.fit());
    }
    this.redraw();
  }

  draw(context, width, height) {
    this.colours = new Map();
    if (this.busy) {
      context.fillStyle = this.colour("--text");
      context.font = "500 13px system-ui, sans-serif";
      context.fillText(this.busy, 20, 30);
      return;
    }
    this.layout();
    const {x, y, k} = this.transform;
    this.view = {left: -x / k, top: -y / k, right: (width - x) / k, bottom: (height - y) / k};
    context.translate(x, y);
    context.scale(k, k);
    drawChildren(context, this, this.root, 0, 0);
  }

  colour(name) {
    if (!this.colours.has(name)) {
      this.colours.set(name, styleColour(name));
    }
    return this.colours.get(name);
  }
}

function renderGraph() {
  if (segments.length === 0 && engines.length === 0) {
    return {element: emptyPart("Graph", "This module has no report and no engines, so there is no graph to draw.", "torchtrtc model.ts compiled.ts \"(1,3,224,224)\"")};
  }
  const view = new GraphView();
  return {element: view.element, search: () => view.search(), next: step => view.next(step), shown: () => view.shown()};
}
