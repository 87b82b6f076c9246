// Text as a terminal would show it in the end: a carriage return goes back to the start of the line, colours are
// left out.

const CHARACTERS = 100_000;
const PIECES = /(\r\n|\n|\r)/;
const ESCAPES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -~])|[\0-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]/g;

export class Printed {
  done = "";
  line = "";
  column = 0;

  add(text) {
    for (const piece of text.replace(ESCAPES, "").split(PIECES)) {
      if (piece === "\r") this.column = 0;
      else if (piece === "\n" || piece === "\r\n") this.end();
      else this.write(piece);
    }
  }

  end() {
    this.done = `${this.done}${this.line}\n`.slice(-CHARACTERS);
    this.line = "";
    this.column = 0;
  }

  write(piece) {
    this.line = this.line.slice(0, this.column) + piece + this.line.slice(this.column + piece.length);
    this.column += piece.length;
  }

  get text() {
    return (this.done + this.line).slice(-CHARACTERS);
  }
}
