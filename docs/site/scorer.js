// How Sphinx's search ranks pages. Its own rule counts one word in a heading as much as all of them in the page's title.
// A page for readers who use torchtrt comes before one for those who work on it.
var Scorer = {
  score: ([docname, title, anchor, description, score]) => {
    const asked = new URLSearchParams(window.location.search).get("q") || "";
    const words = asked.toLowerCase().match(/[\p{Letter}\p{Number}_+]{3,}/gu) || [];
    const heading = title.toLowerCase();
    const named = words.filter((word) => heading.includes(word.replace(/s$/, ""))).length;
    const audience = /^(src|tests|tools|bench)\/|^CHANGELOG|decisions\//.test(docname) ? -8 : 0;
    const teaches = /^docs\/(tutorials\/)?\w+$/.test(docname) ? 3 : 0;
    return score + 6 * named + audience + teaches;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
