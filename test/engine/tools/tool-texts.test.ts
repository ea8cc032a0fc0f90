import assert from "node:assert/strict";
import { test } from "node:test";
import { CallVariables } from "../../../engine/calls/call-variables.js";
import {
  callHeaders,
  filledAddress,
  filledFixed,
  filledHeaders,
  fixedHeaders,
  hasFixedOrigin,
  secretsIn,
} from "../../../engine/tools/tool-texts.js";
import { agentRecord } from "../../storage/sample-records.js";

function textsOf(given: Readonly<Record<string, string>>) {
  const facts = { callId: "call-1", channel: "phone", callInfo: undefined, atMs: 0 } as const;
  return new CallVariables(agentRecord().persona, given, facts);
}

const addressOf = (url: string, given: Readonly<Record<string, string>>) =>
  filledAddress({ url }, textsOf(given));

test("values stand percent-encoded in path and query, and lead to no other path", () => {
  const url = "https://a.example/customers/{{id|none}}/orders?of={{id|none}}&call={{callId}}";
  assert.equal(
    addressOf(url, { id: "a/b?c=d&e#f é" }),
    "https://a.example/customers/a%2Fb%3Fc%3Dd%26e%23f%20%C3%A9/orders?of=a%2Fb%3Fc%3Dd%26e%23f%20%C3%A9&call=call-1",
  );
  assert.equal(addressOf(url, {})?.includes("/customers/none/orders"), true);
  for (const id of ["..", "."]) assert.equal(addressOf(url, { id }), undefined);
  assert.equal(addressOf("https://a.example/x/{{a|}}{{b|}}", { a: ".", b: "." }), undefined);
  for (const id of ["..", "."]) {
    assert.equal(addressOf("https://a.example/customers/{{id|none}}", { id }), undefined, id);
  }
  for (const id of ["", " "]) {
    const own = "https://a.example/customers/none";
    assert.equal(addressOf("https://a.example/customers/{{id|none}}", { id }), own);
    assert.equal(addressOf("https://a.example/customers/{{id|}}", { id }), undefined);
  }
  assert.equal(addressOf("https://a.example/x", {}), "https://a.example/x");
});

test("no value says which server is asked", () => {
  for (const url of [
    "https://{{host|a}}.example/",
    "https://a.example{{host|}}/",
    "https://a.example:{{port|1}}/",
    "{{scheme|http}}://a.example/",
    "https:\\\\{{host|a}}/",
  ]) {
    assert.equal(hasFixedOrigin(url), false, url);
  }
  for (const url of ["https://a.example/{{id|1}}", "http://a.example:81?of={{id|1}}"]) {
    assert.equal(hasFixedOrigin(url), true, url);
  }
});

test("a header's value stays printable ASCII of one line; a fixed parameter keeps its characters", () => {
  const given = textsOf({ name: "Zoë\r\nx-admin: yes" });
  assert.deepEqual(filledHeaders({ "x-name": "{{name|}}" }, given), {
    "x-name": "Zo%C3%AB x-admin: yes",
  });
  assert.deepEqual(filledFixed({ name: "for {{name|}}", of: "{{no|body}}" }, given), {
    name: "for Zoë x-admin: yes",
    of: "body",
  });
});

test("headers with variables are told from those that all calls share", () => {
  const headers = { "x-key": "k", "x-customer": "{{id|none}}" };
  assert.deepEqual(fixedHeaders(headers), { "x-key": "k" });
  assert.deepEqual(callHeaders(headers, textsOf({ id: "7" })), { "x-customer": "7" });
});

test("what stands beside a variable is secret, alone and with the value, and so is a default; a value alone is not", () => {
  const headers = {
    "x-key": "whole secret",
    authorization: "Bearer abc{{id|none}}",
    "x-either": "{{token|a spare token}}",
    "x-name": "pre-{{name|}}-post",
  };
  const secrets = secretsIn(headers, textsOf({ id: "12345", token: "given-token", name: "Zoë B" }));
  assert.deepEqual(secrets, [
    "whole secret",
    "Bearer",
    "abc12345",
    "abc",
    "none",
    "a spare token",
    "pre-Zo%C3%AB B-post",
    "pre-Zoë B-post",
    "pre-",
    "-post",
  ]);
});
