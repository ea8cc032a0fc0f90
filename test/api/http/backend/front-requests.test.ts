import assert from "node:assert/strict";
import { connect } from "node:net";
import type { HttpBackend, HttpResponse } from "../../../../api/http/backend/http-backend.js";
import { openBackend } from "../../../../api/http/backend/open-backend.js";
import { SilentLogger } from "../../../doubles/silent-logger.js";
import { LoopbackClient } from "../loopback-client.js";
import { testFronts } from "./both-fronts.js";

const HOST = "host: x\r\n";

/** Responds with the name of the route and its parameters. */
function routes(front: HttpBackend): void {
  for (const path of ["/a/b", "/a/:id", "/a/:id/c", "/:x/b", "/a/:id/*"]) {
    front.handle("get", path, (response, request) => {
      response.writeStatus("200 OK");
      response.end(`${path} ${request.getParameter(0) ?? ""}`);
    });
  }
  front.handle("any", "/*", (response, request) => response.end(`any ${request.getMethod()}`));
}

testFronts("a path goes to the most specific handler", routes, async ({ port }, t) => {
  const client = new LoopbackClient(port);
  t.after(() => client.close());
  const expected = {
    "/a/b": "/a/b ",
    "/a/b?x=1": "/a/b ",
    "/a/x": "/a/:id x",
    "/a/%62": "/a/:id %62",
    "/a/x/c": "/a/:id/c x",
    "/a/b/c": "/a/:id/c b",
    "/z/b": "/:x/b z",
    "/a/x/d/e": "/a/:id/* x",
    "/a/": "any get",
    "/a": "any get",
    "/": "any get",
    "//a/b": "any get",
  };
  for (const [path, body] of Object.entries(expected)) {
    assert.equal((await client.get(path)).text, body, path);
  }
  assert.equal((await client.send("PUT", "/a/b")).text, "any put");
  assert.equal((await client.send("PURGE", "/a/b")).text, "any purge");
});

function telling(front: HttpBackend): void {
  front.handle("get", "/tell", (response, request) => {
    const names: string[] = [];
    request.forEach((name) => names.push(name));
    const told = [
      request.getHeader("x-one"),
      request.getHeader("x-none"),
      request.getQuery() ?? "",
      request.getQuery("a") ?? "none",
      request.getQuery("c") ?? "none",
      Buffer.from(response.getRemoteAddress()).toString("hex"),
    ];
    response.writeStatus("200 OK");
    response.writeHeader("x-first", "1\r\nx-second: two: 2\r\nx-third: 3");
    response.end(`${told.join("|")} ${names.filter((name) => name === "x-one").length}`);
  });
}

testFronts("a handler gets the request unchanged", telling, async ({ port }, t) => {
  const client = new LoopbackClient(port);
  t.after(() => client.close());
  const head = `GET /tell?a=%C3%A9+1&x HTTP/1.1\r\n${HOST}X-One: first\r\nx-one: second\r\n\r\n`;
  const answer = await client.exchange(head, /\r\n\r\n.+/);
  assert.match(answer, /\r\n\r\nfirst\|\|a=%C3%A9\+1&x\|é 1\|none\|7f000001 2$/);
  const { headers, text } = await client.get("/tell");
  assert.match(text, /^\|\|\|none\|none\|/);
  assert.deepEqual(
    [headers["x-first"], headers["x-second"], headers["x-third"]],
    ["1", "two: 2", "3"],
  );
});

function reading(front: HttpBackend): void {
  front.handle("post", "/read", (response) => {
    const parts: Buffer[] = [];
    response.onAborted(() => undefined);
    response.onData((chunk, isLast) => {
      parts.push(Buffer.from(chunk.slice(0)));
      if (isLast) response.cork(() => response.end(Buffer.concat(parts).toString()));
    });
  });
  front.handle("get", "/read", (response) => response.end("got"));
}

function post(body: string, more = ""): string {
  return `POST /read HTTP/1.1\r\n${HOST}${more}content-length: ${body.length}\r\n\r\n${body}`;
}

testFronts("pipelined requests are answered in order", reading, async ({ port }) => {
  const requests = `${post("one")}GET /read HTTP/1.1\r\n${HOST}\r\n${post("two")}${post("three")}`;
  const answers = await new LoopbackClient(port).exchange(requests, /three$/);
  assert.match(answers, /\r\n\r\none[^]*\r\n\r\ngot[^]*\r\n\r\ntwo[^]*\r\n\r\nthree$/);
});

testFronts("an HTTP/2 upgrade is served as HTTP/1.1, with its body", reading, async ({ port }) => {
  const wish = "connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AA\r\n";
  const client = new LoopbackClient(port);
  assert.match(await client.exchange(post("abc", wish), /abc$/), /^HTTP\/1\.1 200 /);
  const get = `GET /read HTTP/1.1\r\n${HOST}${wish}\r\n`;
  assert.match(await client.exchange(get, /got$/), /^HTTP\/1\.1 200 /);
});

testFronts("heads too large, or of an old version, are refused", reading, async ({ port }) => {
  const client = new LoopbackClient(port);
  const head = (lines: string, version = "1.1") =>
    `GET /read HTTP/${version}\r\n${HOST}${lines}\r\n`;
  const many = (count: number) => "x: 1\r\n".repeat(count);
  assert.match(await client.exchange(head(many(90)), /got$/), /^HTTP\/1\.1 200 /);
  assert.match(await client.exchange(head(many(110))), /^HTTP\/1\.1 431 /);
  const long = (length: number) => `x: ${"a".repeat(length)}\r\n`;
  assert.match(await client.exchange(head(long(3_900)), /got$/), /^HTTP\/1\.1 200 /);
  assert.match(await client.exchange(head(long(4_200))), /^HTTP\/1\.1 431 /);
  assert.match(await client.exchange(head("", "1.0")), /^HTTP\/1\.1 505 /);
  const twoFramings = "content-length: 3\r\ntransfer-encoding: chunked\r\n";
  assert.match(await client.exchange(post("", twoFramings)), /^HTTP\/1\.1 400 /);
});

const held = new WeakMap<HttpBackend, Promise<HttpResponse>>();
const aborted = new WeakMap<HttpBackend, Promise<string>>();

function holding(front: HttpBackend): void {
  const asked = new Promise<HttpResponse>((resolve) => {
    const gone = new Promise<string>((tell) => {
      front.handle("get", "/held", (response) => {
        response.onAborted(() => tell("replaced"));
        response.onAborted(() => tell("gone"));
        resolve(response);
      });
    });
    aborted.set(front, gone);
  });
  held.set(front, asked);
}

testFronts(
  "a client that ends its side of the connection while it waits counts as disconnected",
  holding,
  async ({ front, port }) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write(`GET /held HTTP/1.1\r\n${HOST}\r\n`);
    await held.get(front);
    socket.end();
    assert.equal(await aborted.get(front), "gone");
  },
);

testFronts("a closed connection is reported to the handler", holding, async ({ front, port }) => {
  const answer = new LoopbackClient(port).exchange(`GET /held HTTP/1.1\r\n${HOST}\r\n`);
  const response = await held.get(front);
  response?.close();
  assert.equal(await aborted.get(front), "gone");
  assert.equal(await answer, "");
});

testFronts("a port in use cannot be opened", holding, async ({ front, port }) => {
  const second = await openBackend(front.name, new SilentLogger());
  assert.equal(await second.listen("127.0.0.1", port), undefined);
  second.close();
});
