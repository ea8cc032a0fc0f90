import assert from "node:assert/strict";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { requestTool, type ToolRequest } from "../../../engine/tools/http-tool.js";
import { Connections } from "../../../engine/vendors/transport/connections.js";
import { httpService } from "../../doubles/http-service.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { never } from "../vendors/sandboxed-vendors.js";

const KEPT_BYTES_MAX = 16_384;

/** A service that answers as the test says, and who asks it. */
async function service(context: TestContext, answer: (response: ServerResponse) => void) {
  const asked: (readonly (string | undefined)[])[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const url = await httpService(context, (request, response) => {
    void text(request).then((body) => {
      asked.push([request.method, request.url, body]);
      headers.push(request.headers);
      answer(response);
    });
  });
  const clock = new VirtualClock();
  const connections = new Connections({ clock, allowPrivateAddresses: true });
  context.after(() => connections.close());
  const ask = (changes: Partial<ToolRequest> = {}) => {
    const request = {
      url: `${url}/find?key=a`,
      method: "POST",
      headers: {},
      timeoutMs: 900,
    } as const;
    const given = { ...request, arguments: { order: "1 2", count: 3 }, ...changes };
    return requestTool(given, { clock, connections }, never());
  };
  return { url, asked, headers, ask, clock };
}

test("a service is asked in the body or in the query, with who asks and what is understood", async (t) => {
  const { url, asked, headers, ask } = await service(t, (response) => response.end("found"));
  const found = { status: 200, body: "found", cut: false };
  assert.deepEqual(await ask({ headers: { "x-key": "secret" } }), found);
  assert.deepEqual(await ask({ method: "GET", headers: { accept: "text/csv" } }), found);
  await ask({ method: "GET", url: `${url}/find` });
  assert.deepEqual(asked, [
    ["POST", "/find?key=a", '{"order":"1 2","count":3}'],
    ["GET", "/find?key=a&order=1+2&count=3", ""],
    ["GET", "/find?order=1+2&count=3", ""],
  ]);
  const told = headers.map((each) => [
    each["user-agent"],
    each.accept,
    each["content-type"],
    each["x-key"],
  ]);
  const accept = "application/json, text/plain;q=0.9, */*;q=0.1";
  assert.deepEqual(told, [
    ["Parley", accept, "application/json", "secret"],
    ["Parley", "text/csv", undefined, undefined],
    ["Parley", accept, undefined, undefined],
  ]);
});

test("what is text is kept, and of anything else only its status", async (t) => {
  let type = "";
  const { ask } = await service(t, (response) => {
    response.writeHead(200, { "content-type": type });
    response.end("words");
  });
  for (const [of, body] of [
    ["text/csv", "words"],
    ["application/json; charset=utf-8", "words"],
    ["application/problem+json", "words"],
    ["Application/XML", "words"],
    ["application/x-www-form-urlencoded", "words"],
    ["application/octet-stream", ""],
    ["image/jsonp", ""],
    ["application/context/text", ""],
  ] as const) {
    type = of;
    assert.deepEqual(await ask(), { status: 200, body, cut: false }, of);
  }
});

test("of an answer 16 KiB are kept, and no half of a character", async (t) => {
  let [status, given] = [200, ""];
  const { ask } = await service(t, (response) => {
    response.writeHead(status, { "content-type": "text/plain" });
    response.end(given);
  });
  const whole = "x".repeat(KEPT_BYTES_MAX);
  for (const [of, body, cut, cutOfError] of [
    [whole.slice(1), whole.slice(1), false, false],
    [whole, whole, false, true],
    [`${whole}x`, whole, true, true],
    [`${whole.slice(1)}ü`, whole.slice(1), true, true],
  ] as const) {
    given = of;
    status = 200;
    assert.deepEqual(await ask(), { status, body, cut });
    // As much as is kept of an error: there may have been more.
    status = 500;
    assert.deepEqual(await ask(), { status, body, cut: cutOfError });
  }
});

test("an answer has the tool's own time from the request to its last byte", async (t) => {
  const begun: ServerResponse[] = [];
  let onBegun = () => {};
  const { ask, clock } = await service(t, (response) => {
    response.write("half ");
    begun.push(response);
    onBegun();
  });
  const wait = new Promise<void>((resolve) => (onBegun = resolve));
  const late = assert.rejects(ask(), { name: "VendorError", vendor: "tool", fault: "timeout" });
  await wait;
  clock.advance(900);
  await late;
  assert.equal(clock.pendingTimerCount, 0);
});
