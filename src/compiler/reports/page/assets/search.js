// One search for all parts: the part that is shown says what it found.
"use strict";

let searchWords = [];

const matches = text => searchWords.every(word => text.includes(word));

function applySearch() {
  const found = document.getElementById("found");
  const result = currentPart && currentPart.view.search ? currentPart.view.search() : null;
  found.textContent = searchWords.length === 0 ? "" : result === null ? "This part has nothing to search." : result;
}

function setSearch(text) {
  document.getElementById("search").value = text;
  searchWords = text.toLowerCase().split(/\s+/).filter(word => word);
  applySearch();
}

function startSearch() {
  const field = document.getElementById("search");
  let waiting = 0;
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => setSearch(field.value), nodes.length > 5000 ? 150 : 0);
  });
  field.addEventListener("keydown", event => {
    if (event.key === "Escape") {
      setSearch("");
      field.blur();
    } else if (event.key === "Enter" && currentPart.view.next) {
      currentPart.view.next(event.shiftKey ? -1 : 1);
    }
  });
  document.addEventListener("keydown", event => {
    const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      field.focus();
      field.select();
    }
  });
}
