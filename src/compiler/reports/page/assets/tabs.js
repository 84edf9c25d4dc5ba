// The parts of the page as tabs. A part is drawn when it is first shown, and kept.
"use strict";

const parts = [];  // {id, label, note, render} -> render() gives {element, search, shown}
let currentPart = null;

function addPart(id, label, note, render) {
  parts.push({id, label, note, render, view: null, button: null});
}

function showPart(id, focus) {
  const part = parts.find(each => each.id === id) || parts[0];
  currentPart = part;
  for (const each of parts) {
    const isCurrent = each === part;
    each.button.setAttribute("aria-selected", isCurrent);
    each.button.tabIndex = isCurrent ? 0 : -1;
  }
  part.view = part.view || part.render();
  const panel = document.getElementById("panel");
  panel.replaceChildren(part.view.element);
  panel.setAttribute("aria-labelledby", part.button.id);
  part.button.scrollIntoView({block: "nearest", inline: "nearest"});
  if (focus) {
    part.button.focus();
  }
  try {
    history.replaceState(null, "", `#${part.id}`);
  } catch (error) {  // a frame without an address
  }
  window.scrollTo(0, 0);
  if (part.view.shown) {
    part.view.shown();
  }
  applySearch();
}

function startTabs() {
  const list = document.getElementById("tabs");
  document.getElementById("panel").setAttribute("role", "tabpanel");
  parts.forEach((part, index) => {
    part.button = h("button", {type: "button", role: "tab", id: `tab-${part.id}`, "aria-controls": "panel",
                               onclick: () => showPart(part.id)},
      part.label, part.note && h("span", {class: "note"}, part.note));
    part.button.addEventListener("keydown", event => {
      const move = {ArrowRight: 1, ArrowLeft: -1, Home: -index, End: parts.length - 1 - index}[event.key];
      if (move !== undefined) {
        event.preventDefault();
        showPart(parts[(index + move + parts.length) % parts.length].id, true);
      }
    });
    list.append(part.button);
  });
  window.addEventListener("hashchange", () => showPart(location.hash.slice(1)));
  showPart(location.hash.slice(1));
}
