import assert from "node:assert/strict";
import { test } from "node:test";
import { localDefaults } from "../../api/commands/livestream-local/local-command.js";
import { liveStreamDefaults } from "../../api/livestream/livestream-config.js";
import { variableDefaults } from "../../config.js";
import type { Defaults } from "../../engine/settings.js";
import { readPages } from "./pages.js";

const SECTIONS = pageText().split(/^## /m).slice(1);
const LIVE_STREAMS = section("Live streams\n");
const LOCAL = section("Live streams on one machine\n");
const SERVER = SECTIONS.filter((each) => each !== LIVE_STREAMS && each !== LOCAL).join("");

function pageText(): string {
  return readPages().find(({ path }) => path === "docs/operations/configuration.md")?.text ?? "";
}

function section(title: string): string {
  const found = SECTIONS.find((each) => each.startsWith(title));
  assert.ok(found, title);
  return found;
}

/** By variable, what its row shows as the default. */
function rows(text: string): ReadonlyMap<string, string> {
  const found = Array.from(
    text.matchAll(/^\| `([A-Z_]+)` \| (.+?) \|/gm),
    ([, name = "", shown = ""]) => [name, shown] as const,
  );
  const table = new Map(found);
  assert.equal(table.size, found.length, "no variable stands there twice");
  return table;
}

/** Where the code has no default the page says in words what holds. */
function holds(table: ReadonlyMap<string, string>, defaults: Defaults): void {
  assert.deepEqual([...table.keys()].sort(), Object.keys(defaults).sort());
  for (const [name, value] of Object.entries(defaults)) {
    const shown = table.get(name);
    if (value === undefined || value === "") assert.match(shown ?? "", /^[^`]+$/, name);
    else assert.equal(shown, `\`${value}\``, name);
  }
}

test("the page has every variable of the server with its default, and no other", () => {
  holds(rows(SERVER), variableDefaults());
});

test("the page has every variable of the live streams with its default, and no other", () => {
  holds(rows(LIVE_STREAMS), liveStreamDefaults());
});

test("the page has what the live streams on one machine have of their own", () => {
  const passedOn = new Set(Object.keys(liveStreamDefaults()));
  const own = Object.entries(localDefaults()).filter(([name]) => !passedOn.has(name));
  holds(rows(LOCAL), Object.fromEntries(own));
});
