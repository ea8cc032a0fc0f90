import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as v from "valibot";
import { ROOT } from "../docs/pages.js";

const Lockfile = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    packages: v.record(
      v.string(),
      v.object({ engines: v.optional(v.record(v.string(), v.string())) }),
    ),
  }),
);

/** Whether Node 20.19 is in a range such as `^20.19.0 || >=22.12.0`. */
function includesNode20(range: string): boolean {
  return range.split("||").some((part) => {
    const [, operator = "", major = "", minor = "0"] =
      /^\s*(>=|\^|~|>)?\s*v?(\d+)(?:\.(\d+))?/.exec(part) ?? [];
    if (operator === "^" || operator === "~" || operator === "") {
      return (Number(major) === 20 && Number(minor) <= 19) || part.trim() === "*";
    }
    return Number(major) < 20 || (Number(major) === 20 && Number(minor) <= 19);
  });
}

// npm prints EBADENGINE for these packages, although cookie (of fastify, for a benchmark), uWebSockets.js, whose
// binaries are pinned for Node 20, and unpdf work there, as the tests show. Their ranges are therefore removed from the
// lockfile.
test("npm ci prints no engine warning on Node 20, the oldest version that README names", () => {
  const { packages } = v.parse(Lockfile, readFileSync(join(ROOT, "package-lock.json"), "utf8"));
  const newer = Object.entries(packages).flatMap(([path, { engines }]) =>
    engines?.["node"] === undefined || includesNode20(engines["node"]) ? [] : [path],
  );
  assert.deepEqual(newer, []);
  assert.equal(includesNode20(">=22"), false);
  assert.equal(includesNode20("^20.19.0 || >=22.12.0"), true);
});
