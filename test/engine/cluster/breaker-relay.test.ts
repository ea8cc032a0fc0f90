import assert from "node:assert/strict";
import { test } from "node:test";
import { BreakerRelay } from "../../../engine/cluster/primary.js";
import type { BreakerEvent } from "../../../engine/vendors/chain/breakers.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const OPEN: BreakerEvent = {
  id: "a",
  version: 1,
  category: "llm",
  vendor: "openai",
  phase: "open",
  changeCount: 1,
  pauseMs: 5_000,
  leftMs: 5_000,
  lastFault: { fault: "unauthorized", agoMs: 0 },
};
const CLOSED: BreakerEvent = { ...OPEN, phase: "closed", changeCount: 3, leftMs: 0 };

function newRelay() {
  const clock = new VirtualClock();
  const said: unknown[] = [];
  const worker = (name: number) => ({
    link: { notify: (_what: string, asks: unknown) => void said.push([name, asks]) },
  });
  const workers = new Map([1, 2, 3].map((name) => [name, worker(name)]));
  const publishBreaker = (event: BreakerEvent) => void said.push(["others", event]);
  const relay = new BreakerRelay(workers, clock, { publishBreaker });
  const heard = (act: () => void) => {
    act();
    return said.splice(0);
  };
  return { clock, relay, heard };
}

test("a process's event goes to other processes and servers, and a server's event to the processes only", () => {
  const { relay, heard } = newRelay();
  assert.deepEqual(
    heard(() => relay.publish(2, OPEN)),
    [
      [1, [OPEN]],
      [3, [OPEN]],
      ["others", OPEN],
    ],
  );
  assert.deepEqual(
    heard(() => relay.asNode.onBreakers([CLOSED])),
    [1, 2, 3].map((name) => [name, [CLOSED]]),
  );
});

test("a process or server that starts later learns which breakers are still open, and for how long", () => {
  const { clock, relay, heard } = newRelay();
  relay.publish(1, OPEN);
  clock.advance(2_000);
  const left = { ...OPEN, leftMs: 3_000, lastFault: { fault: "unauthorized", agoMs: 2_000 } };
  heard(() => undefined);
  assert.deepEqual(
    heard(() => relay.sendAll(3)),
    [[3, [left]]],
  );
  assert.deepEqual(relay.asNode.known(), [left]);
  relay.publish(1, CLOSED);
  assert.deepEqual(relay.asNode.known(), []);
});
