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

function newDesk() {
  const clock = new VirtualClock();
  const said: unknown[] = [];
  const member = (name: number) => ({
    link: { tell: (_what: string, asks: unknown) => void said.push([name, asks]) },
  });
  const members = new Map([1, 2, 3].map((name) => [name, member(name)]));
  const tellOfBreaker = (news: BreakerEvent) => void said.push(["others", news]);
  const desk = new BreakerRelay(members, clock, { tellOfBreaker });
  const heard = (act: () => void) => {
    act();
    return said.splice(0);
  };
  return { clock, desk, heard };
}

test("what one process tells goes to the other processes and servers, and what a server tells to the processes alone", () => {
  const { desk, heard } = newDesk();
  assert.deepEqual(
    heard(() => desk.hear(2, OPEN)),
    [
      [1, [OPEN]],
      [3, [OPEN]],
      ["others", OPEN],
    ],
  );
  assert.deepEqual(
    heard(() => desk.asNode.onBreakers([CLOSED])),
    [1, 2, 3].map((name) => [name, [CLOSED]]),
  );
});

test("who begins later, a process or a server, is told of what is still open, and for how long", () => {
  const { clock, desk, heard } = newDesk();
  desk.hear(1, OPEN);
  clock.advance(2_000);
  const left = { ...OPEN, leftMs: 3_000, lastFault: { fault: "unauthorized", agoMs: 2_000 } };
  heard(() => undefined);
  assert.deepEqual(
    heard(() => desk.tellAll(3)),
    [[3, [left]]],
  );
  assert.deepEqual(desk.asNode.known(), [left]);
  desk.hear(1, CLOSED);
  assert.deepEqual(desk.asNode.known(), []);
});
