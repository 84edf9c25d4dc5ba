// Tables that sort by their columns and draw rows as the reader comes to them.
"use strict";

const kRowsAtOnce = 120;

// columns: {label, value(row), show(row), isNumber, isWide}; `text(row)` is what a search looks at.
// Gives {element, search(), filter(predicate), rows()}.
function makeTable({caption, columns, rows, text, what, sortBy = -1, isDescending = true}) {
  const body = h("tbody", {});
  const more = h("button", {type: "button", class: "more", onclick: () => draw(kRowsAtOnce)});
  const headers = columns.map((column, index) => {
    const label = column.value ? h("button", {type: "button", onclick: () => sort(index)}, column.label) : column.label;
    return h("th", {scope: "col", class: column.isNumber ? "number" : ""}, label);
  });
  const table = h("table", {class: "cards"}, h("caption", {class: "hidden"}, caption),
    h("thead", {}, h("tr", {}, headers)), body);
  const sortable = columns.map((column, index) => [String(index), column.label]).filter(([index]) => columns[index].value);
  const order = choice("Sort by", [["", "order"], ...sortable], value => {  // for phones, where there is no row of headers
    if (value !== "") {
      sort(Number(value), Boolean(columns[value].isNumber));
    }
  });
  const element = h("div", {class: "table"}, h("div", {class: "sortby"}, order.element), table, more);
  let chosen = rows, shown = [], drawn = 0, predicate = () => true;

  function draw(count) {
    const end = Math.min(drawn + count, shown.length);
    const fragment = document.createDocumentFragment();
    for (; drawn < end; ++drawn) {
      const row = shown[drawn];
      fragment.append(h("tr", {}, columns.map(column =>
        h("td", {class: [column.isNumber ? "number" : "", column.isWide ? "wide" : ""].join(" ").trim(), "data-label": column.label},
          h("div", {}, column.show ? column.show(row) : String(column.value(row)))))));
    }
    body.append(fragment);
    more.hidden = drawn >= shown.length;
    more.textContent = `Show more (${(shown.length - drawn).toLocaleString("en")} left)`;
  }

  function refresh() {
    shown = searchWords.length === 0 ? chosen.filter(predicate) : chosen.filter(row => predicate(row) && matches(text(row)));
    body.replaceChildren();
    drawn = 0;
    draw(kRowsAtOnce);
  }

  function sort(index, order) {
    isDescending = order !== undefined ? order : index === sortBy ? !isDescending : Boolean(columns[index].isNumber);
    sortBy = index;
    const value = columns[index].value;
    const sign = isDescending ? -1 : 1;
    chosen = rows.map((row, place) => [value(row), place, row])
      .sort((a, b) => sign * (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0) || a[1] - b[1]).map(each => each[2]);
    headers.forEach((header, each) => {
      header.setAttribute("aria-sort", each !== index ? "none" : isDescending ? "descending" : "ascending");
    });
    refresh();
  }

  // Rows follow as the reader scrolls; the button does the same for a keyboard.
  new IntersectionObserver(entries => {
    if (entries.some(entry => entry.isIntersecting) && drawn > 0 && drawn < shown.length) {
      draw(kRowsAtOnce);
    }
  }, {rootMargin: "400px"}).observe(more);

  if (sortBy >= 0) {
    sort(sortBy, isDescending);
  } else {
    refresh();
  }
  return {
    element,
    count: () => shown.length,
    search() {
      refresh();
      return `${shown.length.toLocaleString("en")} of ${counted(rows.length, what)}`;
    },
    filter(wanted) {
      predicate = wanted;
      refresh();
    },
  };
}

// A share as a bar with its number.
const bar = (share, label, colour) => h("div", {class: "meter"},
  h("div", {class: "fill", style: `width: ${Math.max(0, Math.min(100, 100 * share)).toFixed(2)}%; background: var(${colour || "--accent"})`}),
  h("span", {}, label));

const chip = (target, text) => h("span", {class: `chip ${target}`}, text);

const placeCell = row => [row.where && h("span", {class: "where"}, row.where), row.scope && h("span", {class: "scope"}, row.scope),
  row.line && h("code", {class: "line"}, row.line)];
