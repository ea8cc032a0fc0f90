import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { urlsAt } from "../../engine/sandbox/sandbox-urls.js";
import { PHONE_VENDOR_NAMES } from "../../engine/telephony/telephony-settings.js";
import { VENDORS } from "../../engine/vendors/vendors.js";
import { ROOT } from "./pages.js";

interface Row {
  readonly vendor: string;
  readonly simulator: string;
  readonly sdk: string;
}

const page = readFileSync(join(ROOT, "docs/reference/vendors.md"), "utf8");
const [, section = ""] = page.split("## Tried against\n");
const rows = [...section.matchAll(/^\| `([\w-]+)` \| (.+?) \| (.+?) \| .+? \|$/gm)].map(
  ([, vendor = "", simulator = "", sdk = ""]): Row => ({ vendor, simulator, sdk }),
);
const simulatedUrls = new Map<string, string>(Object.entries(urlsAt("sandbox")));

test("the table of what vendors were tried against has every vendor once", () => {
  const vendors = [...VENDORS.map(({ key }) => key), ...PHONE_VENDOR_NAMES];
  assert.deepEqual(rows.map(({ vendor }) => vendor).toSorted(), vendors.toSorted());
});

test("a simulator of its own is one of the sandbox's, and an SDK has its test", () => {
  for (const { vendor, simulator, sdk } of rows) {
    const url = simulatedUrls.get(vendor);
    const isTelephony = PHONE_VENDOR_NAMES.some((name) => name === vendor);
    const shared = isTelephony ? "no" : "OpenAI's protocol";
    const isOwn = url !== undefined && !url.includes("/compatible/");
    assert.equal(simulator, isOwn ? "its own" : shared, vendor);
    if (sdk === "no") continue;
    const [, path = ""] = /^`(test\/sdks\/.+)`$/.exec(sdk) ?? [];
    assert.ok(path !== "" && existsSync(join(ROOT, path)), `${vendor}: ${sdk}`);
  }
});
