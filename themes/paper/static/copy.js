// A copy button on each code figure. It copies the source alone: line numbers are not part of the text.

const SHOWN_MS = 1600;

function button(figure) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "copy-button";
  made.textContent = "copy";
  made.setAttribute("aria-live", "polite");
  made.addEventListener("click", () => copy(figure.querySelector("pre code"), made));
  return made;
}

async function copy(code, made) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    made.textContent = "copied";
  } catch {
    // refused by the reader or the browser: the text is marked instead, ready for the keyboard
    getSelection().selectAllChildren(code);
    made.textContent = "marked";
  }
  setTimeout(() => (made.textContent = "copy"), SHOWN_MS);
}

for (const figure of document.querySelectorAll("figure.code")) figure.append(button(figure));
