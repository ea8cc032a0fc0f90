import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { PostgresMessageBus } from "../../../storage/postgres/postgres-message-bus.js";
import type { StatementPort } from "../../../storage/statements/statement-port.js";
import { saidByServer } from "./scripted-pool.js";
import { ScriptedServer } from "./scripted-server.js";

const KEEP_ALIVE =
  "set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3";

async function newMail(context: TestContext) {
  const server = await ScriptedServer.start(context);
  const sent: Parameters<StatementPort["send"]>[] = [];
  const send: StatementPort["send"] = async (...request) => {
    sent.push(request);
    return [];
  };
  const mail = new PostgresMessageBus(server.url, { send });
  const heard: string[] = [];
  const state = { lostCount: 0 };
  const listen = (...channels: readonly string[]) =>
    mail.listen(channels, {
      onMessages: (channel, text) => void heard.push(`${channel}: ${text}`),
      onLost: () => {
        state.lostCount += 1;
      },
    });
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await new Promise(setImmediate);
  };
  return { server, sent, mail, heard, state, listen, until };
}

test("a message goes to all of its channels in one statement, and is limited to the database's maximum length", async (t) => {
  const { sent, mail } = await newMail(t);
  const sql = "select pg_notify(channel, $2) from json_array_elements_text($1::json) as channel";
  await mail.post("one", "text");
  const longest = "é".repeat(3_950);
  await mail.postToAll(["one", 'tw"o'], longest);
  assert.deepEqual(sent, [
    [[{ sql, parameters: ['["one"]', "text"] }], false],
    [[{ sql, parameters: ['["one","tw\\"o"]', longest] }], false],
  ]);
  await assert.rejects(mail.post("one", `${longest}.`), {
    name: "RangeError",
    message: "a message to another server has at most 7900 bytes",
  });
  assert.equal(sent.length, 2);
});

test("a channel's messages arrive until the listener stops, which is not notified of a break afterwards", async (t) => {
  const { server, heard, state, listen, until } = await newMail(t);
  const end = await listen("parley one", 'parley "two"');
  assert.deepEqual(server.asked, [KEEP_ALIVE, 'listen "parley one"', 'listen "parley ""two"""']);
  server.notify(1, "parley one", "hello");
  server.notify(1, "parley nodes", "");
  await until(() => heard.length === 2);
  assert.deepEqual(heard, ["parley one: hello", "parley nodes: "]);
  await end();
  await until(() => server.openCount === 0);
  assert.equal(state.lostCount, 0);
});

test("a broken connection is reported once, and closing it afterwards is no error", async (t) => {
  const { server, state, listen, until } = await newMail(t);
  const end = await listen("parley one");
  server.drop();
  await until(() => state.lostCount > 0);
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  assert.equal(state.lostCount, 1);
  await end();
  assert.equal(state.lostCount, 1);
  await listen("parley one");
  server.complain(2);
  await until(() => state.lostCount === 2 && server.openCount === 0);
});

test("a refused channel is reported to its listener only", async (t) => {
  const { server, state, listen, until } = await newMail(t);
  server.answer = ({ sql }) => {
    if (sql.includes("two")) throw saidByServer("42501");
    return [];
  };
  await assert.rejects(listen("one", "two", "three"), { code: "42501" });
  await until(() => server.openCount === 0);
  assert.ok(!server.asked.includes('listen "three"'));
  server.answer = () => {
    server.drop();
    return [];
  };
  await assert.rejects(listen("one"));
  assert.equal(state.lostCount, 0);
});
