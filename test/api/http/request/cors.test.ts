import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { EdgeOnLoopback, endpoint, text } from "../edge-on-loopback.js";

const OURS = "https://app.example.com";
const THING = endpoint({ answer: () => text("a thing") });
const PREFLIGHT = {
  "access-control-request-method": "PATCH",
  "access-control-request-headers": "authorization",
};

async function started(t: TestContext, corsOrigins: readonly string[]): Promise<EdgeOnLoopback> {
  const edge = await EdgeOnLoopback.start([THING], { corsOrigins });
  t.after(() => edge.close());
  return edge;
}

test("no page of another origin may read responses unless it is configured", async (t) => {
  const { client } = await started(t, []);
  const { headers } = await client.get("/api/thing", { origin: OURS });
  assert.equal(headers["access-control-allow-origin"], undefined);
  assert.equal(headers.vary, undefined);
});

test("a page of an allowed origin may read responses, including refusals", async (t) => {
  const { client } = await started(t, [OURS]);
  for (const path of ["/api/thing", "/nowhere"]) {
    const { headers } = await client.get(path, { origin: OURS });
    assert.equal(headers["access-control-allow-origin"], OURS);
    const exposed = "x-request-id, retry-after, idempotent-replayed";
    assert.equal(headers["access-control-expose-headers"], exposed);
    assert.equal(headers.vary, "Origin");
  }
});

test("a page of another origin may not read them, nor a request without an origin", async (t) => {
  const { client } = await started(t, [OURS]);
  for (const origin of ["https://evil.example.com", "null", ""]) {
    const { headers } = await client.get("/api/thing", { origin });
    assert.equal(headers["access-control-allow-origin"], undefined);
    assert.equal(headers.vary, "Origin");
  }
});

test("a preflight of an allowed origin returns the allowed methods and headers", async (t) => {
  const { client } = await started(t, [OURS]);
  const { status, headers } = await client.send("OPTIONS", "/api/thing", {
    headers: { origin: OURS, ...PREFLIGHT },
  });
  assert.equal(status, 204);
  assert.equal(headers["access-control-allow-origin"], OURS);
  assert.match(String(headers["access-control-allow-methods"]), /PATCH/);
  assert.match(String(headers["access-control-allow-headers"]), /authorization, .*x-api-key/);
  assert.equal(headers["access-control-max-age"], "600");
});

test("an allow-list with a star opens the API to every page", async (t) => {
  const { client } = await started(t, ["*"]);
  const { headers } = await client.get("/api/thing", { origin: "https://anybody.example" });
  assert.equal(headers["access-control-allow-origin"], "*");
});
