// Which program is blogsmith, and which folder a site.

const { existsSync } = require("node:fs");
const path = require("node:path");

const CONFIG = "blogsmith.yaml";

/**
 * The program: what the settings say, else the environment beside the site, else what the shell finds.
 * @param {string} setting
 * @param {string | undefined} site
 * @param {NodeJS.Platform} [platform]
 * @param {(file: string) => boolean} [exists]
 * @returns {string}
 */
function findExecutable(setting, site, platform = process.platform, exists = existsSync) {
  if (setting.trim() !== "") return setting.trim();
  if (site === undefined) return "blogsmith";
  const inside = platform === "win32" ? ["Scripts", "blogsmith.exe"] : ["bin", "blogsmith"];
  const own = path.join(site, ".venv", ...inside);
  return exists(own) ? own : "blogsmith";
}

/**
 * The nearest folder at or above a file that holds the settings of a site, not above `top`.
 * @param {string} file
 * @param {string} top
 * @param {(file: string) => boolean} [exists]
 * @returns {string | undefined}
 */
function findSite(file, top, exists = existsSync) {
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    if (exists(path.join(folder, CONFIG))) return folder;
    if (folder === top || folder === path.dirname(folder)) return undefined;
  }
}

module.exports = { CONFIG, findExecutable, findSite };
