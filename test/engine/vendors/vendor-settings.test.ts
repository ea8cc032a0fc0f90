import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";
import { wholeNumber } from "../../../engine/vendors/setting-fields.js";
import {
  bearer,
  endpointOf,
  parseSettings,
  requireApiKey,
} from "../../../engine/vendors/vendor-settings.js";

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

test("without an address the public one applies, and a trailing slash is ignored", () => {
  const known = { origin: "https://api.acme.example", path: "/v1" };
  for (const none of [undefined, ""]) assert.deepEqual(endpoint(none), known);
  const own = { origin: "http://10.0.0.1:8000", path: "/v1" };
  assert.deepEqual(endpoint("http://10.0.0.1:8000/v1//"), own);
});

test("a key goes out as a bearer's, and none where there is none", () => {
  assert.deepEqual(bearer("the-key"), { authorization: "Bearer the-key" });
  assert.deepEqual(bearer(""), {});
  assert.deepEqual(bearer(undefined), {});
});

test("a missing key is reported before any request", () => {
  const given = { baseUrl: undefined, settings: {}, clientOwned: false };
  assert.equal(requireApiKey("acme", { ...given, apiKey: "the-key" }), "the-key");
  for (const apiKey of ["", undefined]) {
    assert.throws(() => requireApiKey("acme", { ...given, apiKey }), {
      fault: "unauthorized",
      message: "acme: no API key is configured",
    });
  }
});

test("an invalid setting is named, with what was expected; unknown ones are ignored", () => {
  const fields = { pauseMs: v.optional(wholeNumber(1, 9), 5) };
  const parsed = (settings: Record<string, unknown>) =>
    parseSettings("acme", fields, { baseUrl: "", apiKey: "", settings, clientOwned: false });
  assert.deepEqual(parsed({ region: "eu" }), { pauseMs: 5 });
  assert.throws(() => parsed({ pauseMs: 10 }), {
    fault: "refused",
    message: "acme: setting pauseMs: expected a whole number from 1 to 9",
  });
});
