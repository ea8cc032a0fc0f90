import assert from "node:assert/strict";
import * as v from "valibot";
import type { Customer, TestServer } from "./test-server.js";

const Turns = v.looseObject({
  turns: v.array(v.looseObject({ underruns: v.optional(v.number(), 0) })),
});

/**
 * Returns the number of gaps in the record of the customer's only call. The metrics must have counted at least as many,
 * since they include other calls.
 */
export async function gapsToldOf(
  server: TestServer,
  customer: Customer,
  call: () => Promise<void>,
): Promise<number> {
  const before = await countedGaps(server);
  await call();
  const { metadata } = await server.endedCall(customer);
  const { turns } = v.parse(Turns, metadata);
  const told = turns.reduce((sum, { underruns }) => sum + underruns, 0);
  const counted = (await countedGaps(server)) - before;
  assert.ok(counted >= told, `${counted} counted, ${told} told`);
  return told;
}

async function countedGaps({ url }: TestServer): Promise<number> {
  const page = await (await fetch(`${url}/metrics`)).text();
  const [, count] = /^parley_underruns_total (\d+)$/m.exec(page) ?? [];
  assert.ok(count !== undefined, page);
  return Number(count);
}
