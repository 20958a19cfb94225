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

async function change(name, values, press) {
  if (press) press.disabled = true;
  try {
    const told = await ask(`api/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Lswc-Token": token },
      body: JSON.stringify(values),
    });
    alarm("");
    if (told.goto) location.assign(told.goto);
    else location.reload();
  } catch (error) {
    alarm(error instanceof TypeError ? "The watch doesn’t answer any more: start it again." : error.message);
    $("alert").scrollIntoView({ block: "nearest" });
    if (press) press.disabled = false;
  }
}

for (const form of document.querySelectorAll("form[data-change]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    change(form.dataset.change, valuesOf(form), event.submitter);
  });
}
for (const press of document.querySelectorAll("button[data-change]")) {
  press.addEventListener("click", () => change(press.dataset.change, { ...press.dataset }, press));
}
// What needs the token is shown to who has it; to others, where it is.
for (const part of document.querySelectorAll("[data-token]")) part.hidden = !token;
for (const part of document.querySelectorAll("[data-no-token]")) part.hidden = Boolean(token);
