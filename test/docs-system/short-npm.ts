import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { ROOT } from "../docs/pages.js";

const packageJson = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({ scripts: v.record(v.string(), v.string()) }),
);

/**
 * A function of bash that does what npm does with `npm start` and `npm run NAME -- ...`, without a process of its own for each:
 * npm takes as long as the command itself. README is walked with the real one.
 */
export function shortNpm(): string {
  const { scripts } = v.parse(packageJson, readFileSync(join(ROOT, "package.json"), "utf8"));
  const cases = Object.entries(scripts).map(([name, command]) => {
    return `${quoted(name)}) command=${quoted(command)} ;;`;
  });
  return String.raw`npm() {
    local command
    [ "$1" != run ] || shift
    [ "$1" != --silent ] || shift
    case "$1" in
      ${cases.join("\n")}
      *) command npm "$@"; return ;;
    esac
    shift
    [ $# -eq 0 ] || [ "$1" != -- ] || shift
    PATH="$PWD/node_modules/.bin:$PATH" sh -c "$command \"\$@\"" npm "$@"
  }`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
