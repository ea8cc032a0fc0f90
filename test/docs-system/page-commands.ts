import assert from "node:assert/strict";
import { test } from "node:test";
import { readPages } from "../docs/pages.js";
import { walk } from "./documented-walk.js";
import { copyProject, removeCopy } from "./project-copy.js";

/** What a page says can be done as it says it. A file of its own for each page: they take as long as their calls. */
export function testCommandsOf(path: string): void {
  test(`what ${path} says can be done as it says it`, async (context) => {
    const page = readPages().find((each) => each.path === path);
    assert.ok(page);
    const folder = await copyProject();
    context.after(() => removeCopy(folder));
    await walk(page, folder);
  });
}
