import assert from "node:assert/strict";
import { after, test } from "node:test";
import { VendorError } from "../../../../engine/vendors/contracts.js";
import {
  type CompatibleServer,
  compatibleVendor,
} from "../../../../engine/vendors/openai-compatible/openai-compatible.js";
import { Connections } from "../../../../engine/vendors/transport/connections.js";
import { CATEGORIES } from "../../../../engine/vendors/vendor.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";

const ALL: CompatibleServer = {
  key: "acme",
  displayName: "Acme",
  llm: [],
  tts: { models: [], voice: "ann" },
  stt: [],
};

const clock = new VirtualClock();
const connections = new Connections({ clock, allowPrivateAddresses: false });
after(() => connections.close());

/** The categories of a server whose client wants a key. */
function wantsKey(server: CompatibleServer): readonly string[] {
  const given = { baseUrl: "http://127.0.0.1:9/v1", settings: {}, clientOwned: false };
  return CATEGORIES.filter((category) => {
    try {
      compatibleVendor(server)[category]?.client({ ...given, apiKey: "" }, { clock, connections });
      return false;
    } catch (error) {
      assert.ok(error instanceof VendorError && error.fault === "unauthorized");
      return true;
    }
  });
}

test("a server wants a key for all that it does where the operator has a place for one, and else for nothing", () => {
  assert.deepEqual(wantsKey(ALL), []);
  assert.equal(compatibleVendor(ALL).apiKey.isRequired, false);
  const keyed = { ...ALL, keyVariable: "ACME_API_KEY" };
  assert.deepEqual(wantsKey(keyed), CATEGORIES);
  assert.deepEqual(compatibleVendor(keyed).apiKey, { isRequired: true, variable: "ACME_API_KEY" });
});

test("a server's address is required in its settings, with an example, unless it is known", () => {
  const address = (server: CompatibleServer) => compatibleVendor(server).stt?.settings.at(-1);
  const label = (server: CompatibleServer) => address(server)?.label;
  assert.equal(label(ALL), "Base URL, such as https://models.example.com/v1");
  const usualUrl = "http://127.0.0.1:8000/v1";
  assert.equal(label({ ...ALL, usualUrl }), `Base URL, such as ${usualUrl}`);
  const publicUrl = "https://api.acme.example";
  assert.equal(label({ ...ALL, publicUrl }), "Base URL, for a compatible server");
  assert.equal(address(ALL)?.required, true);
  assert.equal(address({ ...ALL, publicUrl })?.required, false);
  assert.equal(compatibleVendor({ ...ALL, publicUrl }).address.publicUrl, publicUrl);
  assert.equal(compatibleVendor(ALL).address.publicUrl, undefined);
});

test("a server is requested at its public address by default, and without one there is no request", () => {
  const given = { baseUrl: undefined, apiKey: "", settings: {}, clientOwned: false };
  for (const category of CATEGORIES) {
    const clientOf = (server: CompatibleServer) =>
      compatibleVendor(server)[category]?.client(given, { clock, connections });
    assert.ok(clientOf({ ...ALL, publicUrl: "https://api.acme.example" }));
    assert.throws(() => clientOf(ALL), {
      vendor: "acme",
      fault: "refused",
      message: "acme: the base URL must begin with http:// or https://",
    });
  }
});

test("a server has what it is said to have, and nothing else", () => {
  for (const category of CATEGORIES) {
    const { key, displayName } = ALL;
    const vendor = compatibleVendor({ key, displayName, [category]: ALL[category] });
    assert.deepEqual(
      CATEGORIES.filter((each) => vendor[each] !== undefined),
      [category],
    );
    assert.equal(vendor[category]?.displayName, "Acme");
  }
});
