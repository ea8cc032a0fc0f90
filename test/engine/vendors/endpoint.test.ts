import assert from "node:assert/strict";
import { test } from "node:test";
import { endpointOf } from "../../../engine/vendors/vendor-settings.js";

const PUBLIC_URL = "https://api.acme.example/v1";

function endpoint(baseUrl: string | undefined) {
  const given = { apiKey: "", settings: {}, clientOwned: false, baseUrl };
  return endpointOf("acme", given, PUBLIC_URL);
}

test("an address of another protocol, or that is none, is refused by what was expected", () => {
  for (const wrong of ["ftp://acme.example", "acme", "ws://acme.example"]) {
    const message = "acme: the base URL must begin with http:// or https://";
    assert.throws(() => endpoint(wrong), { fault: "refused", message });
  }
});

test("where no address is given the public one counts, and no slash at the end does", () => {
  const known = { origin: "https://api.acme.example", path: "/v1" };
  for (const none of [undefined, ""]) assert.deepEqual(endpoint(none), known);
  const own = { origin: "http://10.0.0.1:8000", path: "/v1" };
  assert.deepEqual(endpoint("http://10.0.0.1:8000/v1//"), own);
});
