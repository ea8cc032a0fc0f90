import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { PhoneApiSimulator } from "../../../../engine/sandbox/telephone/phone-api-simulator.js";
import { SimulatedVendor } from "../../../system/public-entrance.js";

const AUTHORIZATION = `Basic ${Buffer.from("parley:password").toString("base64")}`;
const simulator = new PhoneApiSimulator("asterisk");
let vendor: SimulatedVendor;

before(async () => {
  vendor = await SimulatedVendor.start(simulator);
  simulator.adopt({ id: "1.2", from: "+15550101000", to: "+15550102000" });
});
after(() => vendor.close());

async function asked(method: string, path: string) {
  const headers = { authorization: AUTHORIZATION };
  const response = await fetch(`${vendor.url}/ari/channels/${path}`, { method, headers });
  return [response.status, Object(JSON.parse((await response.text()) || "{}"))];
}

for (const operation of ["redirect", "continue", "move"]) {
  test(`the simulated ARI refuses to ${operation} a channel of a dialplan, as the real one does`, async () => {
    const conflict = [409, { message: "Channel not in Stasis application" }];
    assert.deepEqual(await asked("POST", `1.2/${operation}`), conflict);
    const unknown = [404, { message: "Channel not found" }];
    assert.deepEqual(await asked("POST", `1.3/${operation}`), unknown);
  });
}

test("the simulated ARI knows the state of a channel until it is hung up", async () => {
  assert.deepEqual(await asked("GET", "1.2"), [200, { state: "Up" }]);
  assert.deepEqual(await asked("DELETE", "1.2"), [204, {}]);
  assert.deepEqual(await asked("GET", "1.2"), [404, { message: "Channel not found" }]);
});
