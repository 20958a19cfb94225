// Sends forms and buttons that change something: what their fields hold, as JSON, with the token.
// A form, or a button outside of one, names the change: data-change="mark". What a page shows is a
// form of its own, by GET, without a script.
"use strict";

function valuesOf(form) {
  const values = {};
  for (const [name, value] of new FormData(form)) {
    if (typeof value === "string") values[name] = name in values ? [values[name], value].flat() : value;
  }
  for (const box of form.querySelectorAll("input[type=checkbox]:not([value])")) values[box.name] = box.checked;
  return values;
}

// Says at each field what is wrong with it, and goes to the first; what was typed stays.
function mark(form, mistakes) {
  for (const remark of form.querySelectorAll(".wrong")) {
    const name = remark.id.slice(0, -"-wrong".length);
    remark.textContent = mistakes[name] || "";
    remark.hidden = !mistakes[name];
    for (const field of form.querySelectorAll(`[name="${name}"]`)) {
      const others = (field.getAttribute("aria-describedby") || "").split(" ").filter((id) => id && id !== remark.id);
      field.setAttribute("aria-describedby", [...others, ...(mistakes[name] ? [remark.id] : [])].join(" "));
      field.toggleAttribute("aria-invalid", Boolean(mistakes[name]));
      if (mistakes[name]) field.setAttribute("aria-invalid", "true");
    }
  }
  form.querySelector("[aria-invalid=true]")?.focus();
}

async function change(name, values, press, form) {
  if (press) press.disabled = true;
  try {
    const answer = await send(name, values);
    alarm(answer.error || "");
    if (form) mark(form, answer.mistakes || {});
    if (answer.mistakes) {
      if (press) press.disabled = false;
      return;
    }
    if (answer.goto) location.assign(answer.goto);
    else location.reload();
  } catch (error) {
    alarm(reason(error));
    $("alert").scrollIntoView({ block: "nearest" });
    if (press) press.disabled = false;
  }
}

for (const form of document.querySelectorAll("form[data-change]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    change(form.dataset.change, valuesOf(form), event.submitter, form);
  });
}
for (const press of document.querySelectorAll("button[data-change]")) {
  press.addEventListener("click", () => {
    if (press.dataset.sure && !confirm(press.dataset.sure)) return;
    change(press.dataset.change, { ...press.dataset }, press);
  });
}
// A text file is read here, and goes into a field, where it can be looked at.
for (const chosen of document.querySelectorAll("input[type=file][data-into]")) {
  chosen.addEventListener("change", async () => {
    const [file] = chosen.files;
    if (!file) return;
    if (file.size > 4e6) alarm("That file is larger than 4 MB: name it in the crawl file, by hand.");
    else $(chosen.dataset.into).value = await file.text();
  });
}
// What needs the token is shown to who has it; to others, where it is.
for (const part of document.querySelectorAll("[data-token]")) part.hidden = !token;
for (const part of document.querySelectorAll("[data-no-token]")) part.hidden = Boolean(token);
