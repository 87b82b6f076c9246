// Sliders choose which run of a cell is in sight; along the last one the runs follow each other.

function start() {
  for (const box of document.querySelectorAll(".sweep-controls[hidden]")) {
    const runs = [...box.parentElement.children].slice(1);
    const ranges = [...box.querySelectorAll("input")];
    box.oninput = () => {
      let chosen = 0;
      for (const range of ranges) {
        const values = JSON.parse(range.dataset.values);
        chosen = chosen * values.length + +range.value;
        const said = values[range.value];
        range.ariaValueText = range.parentElement.nextElementSibling.textContent = said;
      }
      runs.forEach((run, index) => {
        run.open = true;
        run.hidden = index !== chosen;
      });
    };
    box.hidden = false;
    box.oninput();
  }
}

start();
document.addEventListener("blogsmith:update", start);
