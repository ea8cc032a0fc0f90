import assert from "node:assert/strict";
import { test } from "node:test";
import { freePort } from "../../../../api/http/backend/free-port.js";
import { openBackend, uwsLoads } from "../../../../api/http/backend/open-backend.js";
import { HttpServer } from "../../../../api/http/server.js";
import { SilentLogger } from "../../../doubles/silent-logger.js";

const HOST = "127.0.0.1";
const REQUESTS = 40;

async function newServer(name: string, sharesPort: boolean): Promise<HttpServer> {
  const server = new HttpServer(await openBackend("uws", new SilentLogger()), { sharesPort });
  server.handle("get", "/who", (response) => {
    response.end(name, true);
  });
  return server;
}

async function whoAnswers(port: number): Promise<string> {
  const ask = async () => (await fetch(`http://${HOST}:${port}/who`)).text();
  const names = await Promise.all(Array.from({ length: REQUESTS }, ask));
  return [...new Set(names)].sort().join(" and ");
}

if (process.platform === "linux" && (await uwsLoads())) {
  test("servers on one port share its connections, and one that is overloaded leaves them to the others", async (context) => {
    const [one, other] = [await newServer("one", true), await newServer("other", true)];
    context.after(() => {
      one.close();
      other.close();
    });
    const port = await freePort(HOST, 0);
    await one.listen(HOST, port);
    await other.listen(HOST, port);
    assert.equal(await whoAnswers(port), "one and other");
    await one.takeConnections(false);
    assert.equal(await whoAnswers(port), "other");
    await one.takeConnections(true);
    assert.equal(await whoAnswers(port), "one and other");
    await one.drain();
    await one.takeConnections(true);
    assert.equal(
      await whoAnswers(port),
      "other",
      "a draining server accepts no new connections again",
    );
  });

  test("a shared port is neither free nor available exclusively", async (context) => {
    const shared = await newServer("shared", true);
    const alone = await newServer("alone", false);
    context.after(() => {
      shared.close();
      alone.close();
    });
    const port = await shared.listen(HOST, await freePort(HOST, 0));
    await assert.rejects(freePort(HOST, port), /the port is in use/);
    await assert.rejects(alone.listen(HOST, port), /the port is in use/);
  });
}

test("node:http shares no port: a second process would look like one that had taken it", async () => {
  const front = await openBackend("node", new SilentLogger());
  assert.equal(await front.listen(HOST, 0, true), undefined);
  front.close();
});
