// Light and dark: as the system has it, until the reader chooses.
"use strict";

const themeListeners = [];
let chosenTheme = "";

function storedTheme() {
  try {
    return localStorage.getItem("torchtrt-theme") || "";
  } catch (error) {
    return "";  // a frame of a notebook has no storage
  }
}

function setTheme(theme) {
  chosenTheme = theme;
  const isDark = theme ? theme === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  const button = document.getElementById("theme");
  button.textContent = isDark ? "☀" : "☾";
  button.setAttribute("aria-label", isDark ? "Switch to light" : "Switch to dark");
  button.title = button.getAttribute("aria-label");
  button.dataset.next = isDark ? "light" : "dark";
  themeListeners.forEach(listener => listener());
}

function startTheme() {
  const button = document.getElementById("theme");
  button.addEventListener("click", () => {
    setTheme(button.dataset.next);
    try {
      localStorage.setItem("torchtrt-theme", chosenTheme);
    } catch (error) {  // the choice holds for this visit
    }
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTheme(chosenTheme));
  setTheme(storedTheme());
}
