import assert from "node:assert/strict";
import { after, test } from "node:test";
import { VENDOR_CATALOG } from "../../../engine/tenancy/providers/vendor-catalog.js";
import { SystemClock } from "../../../engine/time/clock.js";
import { VendorError } from "../../../engine/vendors/contracts.js";
import { PLAN_TIERS } from "../../../engine/vendors/model-catalog.js";
import { vendorSettingFaults } from "../../../engine/vendors/registry.js";
import { Connections } from "../../../engine/vendors/transport/connections.js";
import { CATEGORIES } from "../../../engine/vendors/vendor.js";
import { VENDORS, vendorOf } from "../../../engine/vendors/vendors.js";
import type { Category, JsonObject } from "../../../storage/records.js";

const clock = new SystemClock();
const connections = new Connections({ clock, allowPrivateAddresses: true });
after(() => connections.close());

const NUMBERS = [
  -1,
  0,
  0.5,
  1,
  1.01,
  255,
  256,
  1_500,
  1_500.5,
  5_001,
  1e9,
  Number.POSITIVE_INFINITY,
];
const MP3 = "audio-24khz-96kbitrate-mono-mp3";
const TEXTS = [
  "",
  " ",
  "x",
  "low",
  "websocket",
  "10m",
  "+10Hz",
  "-20%",
  "1-143.0",
  MP3,
  "a/../b",
  "ü",
  "\ud800",
];
const ADDRESSES = ["https://x.example", "http://x", "ws://x/y", "wss://x", "ftp://x"];
const OTHERS = [true, [], {}, [1], { a: 1 }, "x".repeat(5_000)];
const VALUES: readonly unknown[] = [...NUMBERS, ...TEXTS, ...ADDRESSES, ...OTHERS];

const vendors = VENDORS.flatMap((vendor) =>
  CATEGORIES.filter((category) => vendor[category] !== undefined).map((category) => ({
    category,
    providerKey: vendor.key,
    keys: [...Object.keys(vendor[category]?.fields ?? {}), "baseUrl"],
  })),
);

function isTakenByClient(category: Category, providerKey: string, settings: JsonObject): boolean {
  // Some vendors are nowhere until somebody says where.
  const baseUrl = "baseUrl" in settings ? undefined : "http://127.0.0.1:9";
  const isElsewhere = vendorOf(providerKey)?.address.publicUrl === undefined;
  const given = {
    baseUrl: isElsewhere ? baseUrl : undefined,
    apiKey: "key",
    settings,
    clientOwned: true,
  };
  try {
    vendorOf(providerKey)?.[category]?.client(given, { clock, connections });
    return true;
  } catch (error) {
    assert.ok(error instanceof VendorError && error.fault === "refused", String(error));
    return false;
  }
}

test("the client of every vendor in the catalog reads every setting that it is offered with", () => {
  assert.equal(new Set(VENDORS.map(({ key }) => key)).size, VENDORS.length);
  for (const { category, providerKey, settings } of VENDOR_CATALOG) {
    const { keys = [] } =
      vendors.find((each) => each.category === category && each.providerKey === providerKey) ?? {};
    for (const { key } of settings) assert.ok(keys.includes(key), `${providerKey} ${key}`);
  }
});

for (const { category, providerKey, keys } of vendors) {
  test(`what the ${category} client of ${providerKey} would refuse is refused when it is written`, () => {
    for (const key of keys) {
      const taken = VALUES.filter((value) => {
        const settings = { [key]: value };
        const faults = vendorSettingFaults(category, providerKey, settings);
        if (faults.length === 0) {
          assert.ok(isTakenByClient(category, providerKey, settings), `${key} ${String(value)}`);
          return true;
        }
        assert.deepEqual(
          faults.map(({ path }) => path),
          [key],
        );
        assert.match(faults[0]?.message ?? "", /^expected /);
        return false;
      });
      assert.ok(taken.length > 0 && taken.length < VALUES.length, key);
    }
  });
}

test("unknown settings are ignored", () => {
  assert.deepEqual(vendorSettingFaults("llm", "groq", { region: "eu", tier: 1 }), []);
  assert.deepEqual(vendorSettingFaults("llm", "unknown", { region: "eu" }), []);
});

test("an operator finds a vendor's variables by its name", () => {
  for (const { key, apiKey, address } of VENDORS) {
    const name = key.replaceAll("-", "_").toUpperCase();
    assert.equal(apiKey.variable ?? `${name}_API_KEY`, `${name}_API_KEY`);
    assert.match(address.variable ?? `${name}_URL`, new RegExp(`^${name}_(?:BASE_|TTS_)?URL$`));
  }
});

test("every model is in a plan that there is", () => {
  const models = VENDORS.flatMap((vendor) =>
    CATEGORIES.flatMap((category) => vendor[category]?.models ?? []),
  );
  const plans = models.map(({ plan }) => plan);
  assert.deepEqual(new Set(plans), new Set(PLAN_TIERS));
});
