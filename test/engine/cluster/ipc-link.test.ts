import assert from "node:assert/strict";
import { test } from "node:test";
import { type IpcMessage, Link } from "../../../engine/cluster/ipc-link.js";
import { RequestError } from "../../../engine/request-error.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { SilentLogger } from "../../doubles/silent-logger.js";
import { settled } from "./cluster-in-one-process.js";

const QUESTIONS_WAITING_MAX = 20_000;
interface Echo {
  readonly echo: { readonly asks: number; readonly answers: number };
}

/** Two ends of a way on which parcels wait until they are let through. */
function pair() {
  const handlers = { echo: (given: number) => given };
  const log = new SilentLogger();
  const waiting: IpcMessage[] = [];
  const asker = new Link<Echo, Echo>((message) => waiting.push(message), handlers, log);
  const other = new Link<Echo, Echo>((message) => asker.receive(message), handlers, log);
  const letThrough = async () => {
    // The events of one turn are sent at its end.
    await new Promise((resolve) => process.nextTick(resolve));
    for (const message of waiting.splice(0)) other.receive(message);
  };
  return { asker, letThrough };
}

test("a frozen process gets requests up to a limit, until it has responded", async () => {
  const { asker, letThrough } = pair();
  const asked = Array.from({ length: QUESTIONS_WAITING_MAX }, (_, index) =>
    asker.request("echo", index),
  );
  await assert.rejects(asker.request("echo", 0), { name: "RequestError", code: "overloaded" });
  await letThrough();
  assert.deepEqual(await Promise.all(asked), [...asked.keys()]);
  const again = asker.request("echo", 7);
  await letThrough();
  assert.equal(await again, 7);
});

interface Doors {
  readonly open: { readonly asks: string; readonly answers: string };
}

/** Two ends whose parcels arrive in the next turn; what each has posted is kept. */
function doors(open: (asks: string) => string | Promise<string>) {
  const log = new RecordingLogger();
  const posted: IpcMessage[] = [];
  const here: Link<Doors, Doors> = new Link<Doors, Doors>(
    (message) => {
      posted.push(message);
      setImmediate(() => there.receive(message));
    },
    { open: (): string => "" },
    log,
  );
  const there = new Link<Doors, Doors>(
    (message) => setImmediate(() => here.receive(message)),
    { open },
    log,
  );
  return { here, there, log, posted };
}

test("what is said in one turn of the event loop goes in one message, in its order", async () => {
  const opened: string[] = [];
  const { here, posted } = doors((name) => {
    opened.push(name);
    return `${name} is open`;
  });
  here.notify("open", "one");
  const asked = [here.request("open", "two"), here.request("open", "three")];
  assert.deepEqual(posted, [], "the turn is not over");
  assert.deepEqual(await Promise.all(asked), ["two is open", "three is open"]);
  here.notify("open", "four");
  await settled();
  assert.deepEqual(opened, ["one", "two", "three", "four"]);
  assert.deepEqual(
    posted.map(({ length }) => length),
    [3, 1],
  );
});

test("the reason of a failure returns to the requester, and is logged if there is none", async () => {
  const faults: Readonly<Record<string, () => string | Promise<string>>> = {
    refused: () => Promise.reject(new RequestError("conflict", "it is open already")),
    mistaken: () => {
      throw new TypeError("a mistake");
    },
    thrown: () => Promise.reject("no error"),
  };
  const { here, log } = doors((name) => faults[name]?.() ?? "");
  await assert.rejects(here.request("open", "refused"), {
    name: "RequestError",
    code: "conflict",
    message: "it is open already",
  });
  await assert.rejects(here.request("open", "mistaken"), { name: "Error", message: "a mistake" });
  await assert.rejects(here.request("open", "thrown"), /a value that is not an Error was thrown/);
  assert.deepEqual(log.lines, []);
  here.notify("open", "mistaken");
  here.notify("open", "well");
  await settled();
  assert.deepEqual(
    log.lines.map(({ level, fields }) => [level, fields["name"]]),
    [["error", "open"]],
  );
});

test("a closed link sends and requests nothing, and no request waits for it", async () => {
  const { here, there, posted } = doors(() => "");
  const asked = assert.rejects(
    here.request("open", "door"),
    /^LinkClosedError: the other one has ended$/,
  );
  here.close("the other one has ended");
  here.close("again");
  await asked;
  await assert.rejects(here.request("open", "door"), /the other one has ended/);
  here.notify("open", "door");
  await settled();
  assert.deepEqual(posted, []);
  there.receive([{ kind: "answer", id: 7, value: "nobody asked" }]);
});

test("what comes back of a question is its answer or why there is none, before all that is said after it", async () => {
  const posted: IpcMessage[] = [];
  const answers: Readonly<Record<string, () => string>> = {
    well: () => "it is open",
    refused: () => {
      throw new RequestError("conflict", "it is open already");
    },
    mistaken: () => {
      throw new TypeError("a mistake");
    },
  };
  const asked = new Link<Doors, Doors>(
    (message) => posted.push(message),
    { open: (name) => answers[name]?.() ?? "" },
    new SilentLogger(),
  );
  const question = (id: number, asks: string) =>
    ({ kind: "question", id, name: "open", asks }) as const;
  asked.receive([
    question(0, "well"),
    ...Object.keys(answers).map((name, at) => question(at + 1, name)),
  ]);
  asked.notify("open", "later");
  await settled();
  assert.deepEqual(posted, [
    [
      { kind: "answer", id: 1, value: "it is open" },
      { kind: "failed", id: 2, fault: { message: "it is open already", failure: "conflict" } },
      { kind: "failed", id: 3, fault: { message: "a mistake" } },
      question(0, "later"),
    ],
  ]);
});
