// A strip of pieces one after the other, as wide as each takes time. One piece is selected, with the pointer or the arrow keys.
"use strict";

// pieces: {label, detail, value, colour}. Zooms with the wheel.
function makeStrip(pieces, what) {
  const starts = [];
  let total = 0;
  for (const piece of pieces) {
    starts.push(total);
    total += piece.value;
  }
  let selected = -1;
  const text = h("p", {class: "stripinfo", role: "status", "aria-live": "polite"}, `${counted(pieces.length, what)}, ${timeText(total)}. Point at one, or use the arrow keys.`);
  const {canvas, redraw} = drawingCanvas({class: "strip", tabindex: 0, role: "img", "aria-label": `Time line of ${counted(pieces.length, what)}, ${timeText(total)}`},
    (context, width, height) => {
      const colours = new Map();
      const colourOf = name => colours.get(name) || (colours.set(name, styleColour(name)), colours.get(name));
      const scale = width / (total || 1);
      context.font = "11.5px system-ui, sans-serif";
      pieces.forEach((piece, index) => {
        const x = starts[index] * scale;
        const wide = piece.value * scale;
        context.fillStyle = colourOf(piece.colour);
        context.fillRect(x, 4, Math.max(wide - (wide > 3 ? 1 : 0), 0.5), height - 8);
        if (wide > 34) {
          context.fillStyle = colourOf("--onfill");
          context.fillText(fitText(context, piece.label, wide - 10), x + 5, height / 2 + 4);
        }
      });
      if (selected >= 0) {
        context.strokeStyle = colourOf("--focus");
        context.lineWidth = 3;
        context.strokeRect(starts[selected] * scale, 2.5, Math.max(pieces[selected].value * scale, 2), height - 5);
      }
    });
  const select = index => {
    selected = Math.max(0, Math.min(pieces.length - 1, index));
    const piece = pieces[selected];
    text.replaceChildren(h("strong", {}, piece.label), ` ${timeText(piece.value)} (${percent(piece.value, total, 1)}) ${piece.detail}`);
    redraw();
  };
  const at = (px, _, box) => Math.max(0, starts.findLastIndex(start => start <= px / box.width * total));
  makeSelectable(canvas, pieces.length, at, () => selected, select);
  return h("div", {class: "stripbox"}, canvas, text);
}
