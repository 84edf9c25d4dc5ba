// Puts the parts into the page.
"use strict";

const pageTitle = about.title || (report && report.module) || about.module || "module";
document.title = `${pageTitle} - torchtrt`;
document.getElementById("title").textContent = pageTitle.replace(/^__torch__\./, "");
document.getElementById("title").title = pageTitle;
addPart("summary", "Summary", "", renderSummary);
addPart("nodes", "Nodes", nodes.length ? nodes.length.toLocaleString("en") : "", renderNodes);
addPart("graph", "Graph", "", renderGraph);
addPart("profile", "Profile", profile ? timeText(profile.milliseconds * 1000) : "", renderProfile);
addPart("memory", "Memory", "", renderMemory);
addPart("precision", "Precision", "", renderPrecision);
addPart("verify", "Verify", verification ? (verification.agrees ? "✓" : "✗") : "", renderVerification);
startTheme();
startSearch();
startTabs();
