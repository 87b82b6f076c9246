// What the program prints, read: without anything of the editor, so that tests can ask it.

const SERVING = /^blogsmith serves (https?:\/\/\S+) \(/m;

/**
 * Address of the preview in what `blogsmith serve` has printed so far.
 * @param {string} printed
 * @returns {string | undefined}
 */
function servedAddress(printed) {
  return SERVING.exec(printed)?.[1];
}

/**
 * Path that `blogsmith new post` prints: its last line.
 * @param {string} printed
 * @returns {string}
 */
function writtenFile(printed) {
  return printed.trimEnd().split(/\r?\n/).at(-1) ?? "";
}

/**
 * A message of the program without the lines that quote: its first line.
 * @param {string} printed
 * @returns {string}
 */
function firstMessage(printed) {
  return printed.split(/\r?\n/).find((line) => line.trim() !== "") ?? "blogsmith said nothing";
}

module.exports = { servedAddress, writtenFile, firstMessage };
