import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { type HttpToolResult, runHttpTool } from "../../../engine/tools/http-tool.js";
import { Connections } from "../../../engine/vendors/transport/connections.js";
import type { HttpTool } from "../../../storage/tenancy/agent-tool.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { never } from "../vendors/sandboxed-vendors.js";
import { ScriptedWebServer } from "../vendors/scripted-web-server.js";

const TOOL_ANSWER_MAX_BYTES = 16_384;

const ORDER = {
  type: "object",
  properties: { order: { type: "string" }, count: { type: "integer", minimum: 1 } },
  required: ["order"],
};
const HEADERS = { authorization: "Bearer top-secret" };

describe("an HTTP tool", () => {
  let clock: VirtualClock;
  let server: ScriptedWebServer;
  let connections: Connections;

  beforeEach(async () => {
    clock = new VirtualClock();
    server = new ScriptedWebServer();
    await server.start();
    connections = new Connections({ clock, allowPrivateAddresses: true });
  });

  afterEach(async () => {
    await connections.close();
    await server.close();
  });

  function tool(changes: Partial<HttpTool> = {}): HttpTool {
    return {
      type: "http",
      name: "find_order",
      description: "Finds an order",
      parameters: ORDER,
      url: `${server.url}/orders`,
      method: "POST",
      headerNames: ["authorization"],
      timeoutMs: 5_000,
      speak: false,
      ...changes,
    };
  }

  function run(
    changes: Partial<HttpTool> = {},
    argumentsJson = '{"order":"12"}',
    signal = never(),
    context = { clock, connections },
  ): Promise<HttpToolResult> {
    const asked = tool(changes);
    const request = { headers: HEADERS, argumentsJson, orgId: "org", fixed: {} };
    const call = { tool: asked, url: asked.url, ...request };
    return runHttpTool(call, context, signal);
  }

  function answers(status: number, body: string | Buffer, type = "application/json"): void {
    server.answer = (response) => {
      response.writeHead(status, { "content-type": type });
      response.end(body);
    };
  }

  it("asks with texts as they are, other arguments as JSON, and no word of the address overruled", async () => {
    answers(200, "{}");
    const url = `${server.url}/orders?shop=7`;
    const given = '{"order":"12 a","count":2,"shop":"8","tags":["x"]}';
    const free = { type: "object" };
    await run({ method: "GET", url, parameters: free }, given);
    const [request] = server.requests;
    const asked = new URL(request?.url ?? "", server.url).searchParams;
    assert.deepEqual(
      [...asked],
      [
        ["shop", "7"],
        ["order", "12 a"],
        ["count", "2"],
        ["tags", '["x"]'],
      ],
    );
    assert.equal(request?.body, "");
  });

  it("posts the arguments with the tool's own headers, and gives the model the JSON of the answer", async () => {
    answers(200, '{"state":"on its way"}');
    const result = await run({}, ' {"order": "12", "note": "ü"} ');
    const [request] = server.requests;
    assert.equal(request?.method, "POST");
    assert.equal(request?.url, "/orders");
    assert.equal(request?.headers.authorization, "Bearer top-secret");
    assert.equal(request?.headers["content-type"], "application/json");
    assert.deepEqual(JSON.parse(request?.body ?? ""), { order: "12", note: "ü" });
    assert.deepEqual(result, {
      ok: true,
      status: 200,
      fault: undefined,
      content: '{"ok":true,"status":200,"body":{"state":"on its way"}}',
      spoken: undefined,
    });
    assert.equal(clock.pendingTimerCount, 0);
  });

  it("adds the arguments to the query of a GET, but never over what the address says", async () => {
    answers(200, "on its way", "text/plain");
    const url = `${server.url}/orders?order=all&key=a%20b`;
    const given = { order: "12", count: 3, key: "stolen", more: { a: [1] } };
    const result = await run({ method: "GET", url }, JSON.stringify(given));
    const [request] = server.requests;
    const query = new URL(request?.url ?? "", server.url).searchParams;
    assert.equal(request?.method, "GET");
    assert.deepEqual(
      [...query],
      [
        ["order", "all"],
        ["key", "a b"],
        ["count", "3"],
        ["more", '{"a":[1]}'],
      ],
    );
    assert.equal(request?.body, "");
    assert.equal(result.content, '{"ok":true,"status":200,"body":"on its way"}');
  });

  it("asks nobody when the arguments are no JSON object or do not fit the schema", async () => {
    for (const [argumentsJson, explanation] of [
      ["{half", "not a JSON object"],
      ["[]", "not a JSON object"],
      ["null", "not a JSON object"],
      ['"12"', "not a JSON object"],
      ["{}", 'required property \\"order\\"'],
      ['{"order":12}', "order: Instance type"],
      ['{"order":"12","count":0}', "count: 0 is less than 1"],
    ] as const) {
      const result = await run({}, argumentsJson);
      assert.equal(result.ok, false);
      assert.equal(result.fault, "badArguments");
      assert.ok(result.content.includes(explanation), result.content);
    }
    assert.equal(server.requests.length, 0);
  });

  it("survives a stored schema that cannot be used", async () => {
    const result = await run({ parameters: { type: "object", $ref: "#/nowhere" } });
    assert.equal(result.ok, false);
    assert.match(result.content, /schema cannot be used/);
  });

  it("counts only 2xx as success, and tells the model the others", async () => {
    for (const status of [200, 201, 204]) {
      answers(status, "");
      assert.equal((await run()).ok, true, String(status));
    }
    for (const status of [300, 400, 401, 404, 429, 500, 503]) {
      answers(status, '{"error":"no such order"}');
      const { ok, content, fault } = await run();
      assert.equal(ok, false);
      assert.equal(fault, undefined);
      assert.equal(content, `{"ok":false,"status":${status},"body":{"error":"no such order"}}`);
    }
  });

  it("does not follow a redirect", async () => {
    server.answer = (response) => {
      response.writeHead(302, { location: `${server.url}/elsewhere` });
      response.end();
    };
    const { ok, status } = await run();
    assert.deepEqual([ok, status, server.requests.length], [false, 302, 1]);
  });

  it("cuts an answer at the limit, between characters, and says so", async () => {
    answers(200, "x".repeat(TOOL_ANSWER_MAX_BYTES), "text/plain");
    const whole = JSON.parse((await run()).content);
    assert.equal(whole.body.length, TOOL_ANSWER_MAX_BYTES);
    assert.equal(whole.note, undefined);

    for (const status of [200, 500]) {
      answers(status, `x${"ü".repeat(TOOL_ANSWER_MAX_BYTES)}`, "text/plain");
      const cut = JSON.parse((await run()).content);
      assert.match(cut.note, /has been cut/);
      assert.ok(Buffer.byteLength(cut.body) <= TOOL_ANSWER_MAX_BYTES);
    }
  });

  it("reads no JSON out of an answer that was cut", async () => {
    answers(200, "1".repeat(TOOL_ANSWER_MAX_BYTES + 1));
    assert.equal(JSON.parse((await run()).content).body, "1".repeat(TOOL_ANSWER_MAX_BYTES));
  });

  it("takes what is of no kind for text", async () => {
    server.answer = (response) => response.end("on its way");
    assert.equal((await run()).content, '{"ok":true,"status":200,"body":"on its way"}');
  });

  it("does not wait for the end of an endless answer", async () => {
    server.answer = (response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      response.write("x".repeat(TOOL_ANSWER_MAX_BYTES + 1));
    };
    assert.match((await run()).content, /has been cut/);
    clock.advance(1_000);
    assert.equal(clock.pendingTimerCount, 0);
  });

  it("leaves out what is no text", async () => {
    answers(200, Buffer.from([0xff, 0xd8, 0xff, 0x00]), "image/jpeg");
    assert.equal((await run()).content, '{"ok":true,"status":200,"body":""}');
  });

  it("gives up on a service that is silent, or slow in the middle, after the tool's own time", async () => {
    for (const begin of [false, true]) {
      const asked = new Promise<void>((resolve) => {
        server.answer = (response) => {
          if (begin) response.write("half ");
          resolve();
        };
      });
      const result = run({ timeoutMs: 100 });
      await asked;
      clock.advance(99);
      clock.advance(1);
      const { ok, fault, content } = await result;
      assert.deepEqual([ok, fault], [false, "timeout"]);
      assert.match(content, /did not answer in time/);
      assert.equal(clock.pendingTimerCount, 0);
    }
  });

  it("tells a broken connection and a service that is not there", async () => {
    server.answer = (response) => response.destroy();
    assert.equal((await run()).fault, "disconnected");
    const url = "http://127.0.0.1:1/";
    const { fault, content } = await run({ url });
    assert.equal(fault, "unavailable");
    assert.equal(content, '{"ok":false,"error":"the service could not be reached"}');
  });

  it("rejects only when it is aborted, and then at once", async () => {
    const ending = new AbortController();
    const asked = new Promise<void>((resolve) => {
      server.answer = () => resolve();
    });
    const result = run({}, '{"order":"12"}', ending.signal);
    await asked;
    ending.abort();
    await assert.rejects(result, { fault: "aborted" });
    await assert.rejects(run({}, '{"order":"12"}', AbortSignal.abort()), { fault: "aborted" });
    assert.equal(server.requests.length, 1);
  });

  it("reaches no private address unless the operator allows it", async () => {
    const guarded = new Connections({ clock, allowPrivateAddresses: false });
    const context = { clock, connections: guarded };
    const { port } = new URL(server.url);
    for (const host of ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0x7f000001"]) {
      const url = `http://${host}:${port}/orders`;
      const { ok, fault, content } = await run({ url }, '{"order":"12"}', never(), context);
      assert.deepEqual([ok, fault], [false, "refused"], host);
      assert.match(content, /may not be reached/);
    }
    assert.equal(server.requests.length, 0);
    await guarded.close();
  });

  it("has a text spoken only where the tool's author wants it and there is one", async () => {
    answers(200, " Your order comes tomorrow. ", "text/plain");
    assert.equal((await run({ speak: true })).spoken, "Your order comes tomorrow.");
    assert.equal((await run()).spoken, undefined);
    answers(200, '"It comes tomorrow."');
    assert.equal((await run({ speak: true })).spoken, "It comes tomorrow.");
    answers(200, '{"when":"tomorrow"}');
    assert.equal((await run({ speak: true })).spoken, undefined);
    answers(500, "Internal error", "text/plain");
    assert.equal((await run({ speak: true })).spoken, undefined);
  });

  it("keeps secrets and what was said out of its results", async () => {
    server.answer = (response) => response.destroy();
    const { content } = await run({}, '{"order":"private words"}');
    assert.doesNotMatch(content, /top-secret|private words/);
  });
});
