// What a page cannot do without a script: dropping a file, dragging values into groups, and where the focus goes.
// Nothing here knows anything about privacy; whatever is done is sent to the server as a form.
"use strict";

document.addEventListener("dragover", (event) => {
  const place = event.target.closest("#drop, [data-drop]");
  if (place) {
    event.preventDefault();
    place.classList.add("over");
  }
});

document.addEventListener("dragleave", (event) => {
  const place = event.target.closest("#drop, [data-drop]");
  if (place) place.classList.remove("over");
});

document.addEventListener("dragstart", (event) => {
  const value = event.target.closest("[data-value]");
  if (value) event.dataTransfer.setData("text/shoal", value.dataset.value);
});

document.addEventListener("drop", (event) => {
  const place = event.target.closest("#drop, [data-drop]");
  if (!place) return;
  event.preventDefault();
  place.classList.remove("over");
  if (place.id === "drop" && event.dataTransfer.files.length) {
    place.querySelector("input[type=file]").files = event.dataTransfer.files;
    place.requestSubmit();
    return;
  }
  const value = event.dataTransfer.getData("text/shoal");
  if (value !== "" && place.dataset.drop !== undefined) {
    const form = document.getElementById("move");
    form.elements.node.value = value;
    form.elements.group.value = place.dataset.drop;
    form.requestSubmit();
  }
});

// A table is read as soon as it is chosen, and says so.
document.addEventListener("change", (event) => {
  if (event.target.matches("#drop input[type=file]") && event.target.files.length) {
    event.target.form.requestSubmit();
  }
  if (event.target.matches("input[type=range]")) shown(event.target);
});

// Whatever is sent says which tab it comes from and what had been decided when this one was shown, so that two tabs do
// not overrule each other unseen.
const tab = crypto.getRandomValues(new Uint32Array(2)).join("-");
function origin() {
  return { "shoal-tab": tab, "shoal-decisions": document.getElementById("main").dataset.decisions ?? "" };
}
document.addEventListener("submit", (event) => {
  if (event.target.method !== "post") return;
  for (const [name, value] of Object.entries(origin())) {
    const field = event.target.elements[name] ?? event.target.appendChild(document.createElement("input"));
    Object.assign(field, { type: "hidden", name, value });
  }
}, true);
document.addEventListener("htmx:configRequest", (event) => {
  if (event.detail.verb === "post") for (const [name, value] of Object.entries(origin())) event.detail.parameters[name] = value;
});

document.addEventListener("submit", (event) => {
  if (event.target.id === "drop") event.target.classList.add("sent");
});

// A slider shows its value while it moves; the server is asked when it rests.
function shown(slider) {
  const output = document.querySelector(`output[for="${slider.id}"]`);
  if (output) output.textContent = slider.value;
}
document.addEventListener("input", (event) => {
  if (event.target.matches("input[type=range]")) shown(event.target);
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) {
    navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.classList.add("copied");
  }
});

// An answer is a part of the page, and takes the place of that part alone. One that came too late, after what was asked
// later, or that is something else, such as a page that asks for a password, is dropped.
const newest = { main: 0 };
function answered(event) {
  const { target, xhr } = event.detail;
  const number = Number(xhr.getResponseHeader("Shoal-Number"));
  const place = document.getElementById(target.id);
  event.detail.target = place ?? target;
  if (!place || xhr.getResponseHeader("Shoal-Part") !== target.id || number < Math.max(newest.main, newest[target.id] ?? 0)) {
    event.detail.shouldSwap = false;
  } else if (event.detail.shouldSwap) {
    newest[target.id] = number;
  }
}
document.addEventListener("htmx:beforeRequest", (event) => {
  event.detail.target.addEventListener("htmx:beforeSwap", answered); // there, since it may be gone from the page by then
});

// A server that was stopped, or a connection that broke: said on the page, nothing is lost on the other side.
document.addEventListener("htmx:sendError", () => document.body.classList.add("lost"));
document.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.successful) document.body.classList.remove("lost");
});

// On a narrow screen the questions stand in a row; the one that is asked is shown.
document.querySelector(".steps [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
