import assert from "node:assert/strict";
import { test } from "node:test";
import type { Toolbox, ToolOutcome } from "../../../engine/conversation/toolbox.js";
import { ToolLog } from "../../../engine/tools/tool-log.js";
import { RecordingCaller } from "../../doubles/recording-caller.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { never } from "../vendors/sandboxed-vendors.js";

const CALL_CHARACTERS_MAX = 256_000;

/** Tools that answer when they are told to. */
function watched(secrets?: readonly string[]) {
  const clock = new VirtualClock();
  const log = new ToolLog(clock);
  const works: { resolve(outcome: ToolOutcome): void; reject(error: Error): void }[] = [];
  const toolbox: Toolbox = {
    definitions: [{ name: "find", description: "finds", parameters: {} }],
    ...(secrets === undefined ? {} : { secrets }),
    run: () => new Promise((resolve, reject) => works.push({ resolve, reject })),
  };
  const watching = log.watch(toolbox);
  const run = (argumentsJson = "{}", name = "find") =>
    watching.run({ id: "1", name, argumentsJson }, new RecordingCaller(), never());
  const answer = (at: number, content: string) => works[at]?.resolve({ content });
  const fail = (at: number, error: Error) => works[at]?.reject(error);
  return { clock, log, watching, toolbox, run, answer, fail };
}

test("a turn's record has what its tools were given, what they answered, and how long it took", async () => {
  const { clock, log, watching, toolbox, run, answer } = watched();
  assert.equal(watching.definitions, toolbox.definitions);
  assert.deepEqual(log.take(), {});
  const sent = '{"ok":true,"status":200,"body":"sent"}';
  const found = run('{"order":"12"}');
  clock.advance(120.26);
  answer(0, sent);
  assert.deepEqual(await found, { content: sent });
  const lost = run("{}", "lose");
  answer(1, '{"ok":false,"error":"no"}');
  await lost;
  const made = run("{}", "made up");
  answer(2, "There is no such tool.");
  await made;
  clock.advance(1_000);
  assert.deepEqual(log.take(), {
    tools: [
      { name: "find", input: '{"order":"12"}', output: sent, ok: true, ms: 120.3 },
      { name: "lose", input: "{}", output: '{"ok":false,"error":"no"}', ok: false, ms: 0 },
      { name: "made up", input: "{}", output: "There is no such tool.", ok: false, ms: 0 },
    ],
  });
  assert.deepEqual(log.take(), {}, "the next turn has its own");
});

test("a tool that the end of its turn stops stands there without an answer, and not in the next turn", async () => {
  const { clock, log, run, answer, fail } = watched();
  const late = run();
  const stopped = run();
  clock.advance(300);
  const none = { name: "find", input: "{}", ok: false, ms: 300 };
  assert.deepEqual(log.take(), { tools: [none, none] });
  answer(0, '{"ok":true}');
  await late;
  fail(1, new Error("aborted"));
  await assert.rejects(stopped, /aborted/);
  assert.deepEqual(log.take(), {});
});

test("of one turn eight tools are kept, and of each text its beginning", async () => {
  const { log, run, answer } = watched();
  const long = `${"x".repeat(1_999)}😀${"y".repeat(20_000)}`;
  const works = Array.from({ length: 11 }, () => run(long, "n".repeat(200)));
  for (const at of works.keys()) answer(at, long);
  await Promise.all(works);
  const { tools = [], moreTools } = log.take();
  assert.equal(tools.length, 8);
  assert.equal(moreTools, 3);
  const beginning = `${"x".repeat(1_999)}…`;
  assert.deepEqual(tools[7], {
    name: `${"n".repeat(100)}…`,
    input: beginning,
    output: beginning,
    ok: false,
    ms: 0,
  });
  const next = run();
  answer(works.length, "{}");
  await next;
  assert.equal(log.take().moreTools, undefined, "what was left out is counted anew");
});

test("what an answer repeats of the tools' headers is hidden, before it is cut", async () => {
  const { log, run, answer } = watched(['Bearer to$&ken-"1234', "json"]);
  const padding = "x".repeat(1_970);
  const content = JSON.stringify({ ok: true, body: `json ${padding} Bearer to$&ken-"1234` });
  const work = run('{"auth":"to$&ken-\\"1234"}');
  answer(0, content);
  assert.deepEqual(await work, { content }, "the model is told what was answered");
  const [use] = log.take().tools ?? [];
  assert.equal(use?.input, '{"auth":"[hidden]"}');
  assert.equal(use?.ok, true);
  assert.match(use?.output ?? "", /json x+ \[hidd…$/);
  assert.doesNotMatch(use?.output ?? "", /Bearer|ken/);
});

test("of one call so much is kept, and later tools are told without what they were given", async () => {
  const { log, run, answer } = watched();
  const keptInputs: string[] = [];
  const long = "x".repeat(1_999);
  const callsMax = CALL_CHARACTERS_MAX / 4_000 + 3;
  for (let n = 0; n < callsMax; n += 1) {
    const work = run(`${long}é`);
    answer(n, `${long}é`);
    await work;
    keptInputs.push(...(log.take().tools ?? []).map(({ input, output }) => input + output));
  }
  const keptCount = keptInputs.filter((text) => text.length === 4_000).length;
  assert.equal(keptCount, CALL_CHARACTERS_MAX / 4_000);
  assert.deepEqual(keptInputs.slice(keptCount), ["……", "……", "……"]);
});

test("a word of eight characters in a header is a secret, and a shorter one may stand in any answer", async () => {
  const { log, run, answer } = watched(["12345678", "1234567"]);
  const work = run('["12345678","1234567"]');
  answer(0, '{"ok":true}');
  await work;
  assert.equal(log.take().tools?.[0]?.input, '["[hidden]","1234567"]');
});

test("a secret is hidden as an address repeats it", async () => {
  const { log, run, answer } = watched(["a/secret key"]);
  const found = run();
  answer(0, '{"ok":true,"asked":"https://a.example/?key=a%2Fsecret%20key&of=a%2Fsecret+key"}');
  await found;
  const output = '{"ok":true,"asked":"https://a.example/?key=[hidden]&of=[hidden]"}';
  assert.deepEqual(log.take().tools?.[0]?.output, output);
});
