import assert from "node:assert/strict";
import { test } from "node:test";
import { UsedNonces } from "../../../engine/security/stream-token.js";
import { TokenUses } from "../../../engine/security/token-uses.js";
import { AnsweredWebhooks } from "../../../engine/telephony/answered-webhooks.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const clock = new VirtualClock();
const expiresAtMs = clock.epochMs() + 60_000;
const nonces = new UsedNonces({ clock, keptMs: 60_000 });
const tokens = new TokenUses(clock);
const webhooks = new AnsweredWebhooks(clock);

/** Each record of uses: its limit, and a function that returns whether it accepts one more. */
const REMEMBERED: Readonly<Record<string, readonly [max: number, take: (id: string) => boolean]>> =
  {
    "streams' tokens": [100_000, (id) => nonces.use(id) === undefined],
    "pages' tokens": [
      100_000,
      (id) => tokens.take({ nonce: id, expiresAtMs }, undefined) === undefined,
    ],
    webhooks: [
      20_000,
      (id) => webhooks.answerTo({ id, isUnique: true }, () => "answer") !== undefined,
    ],
  };

for (const [name, [max, take]] of Object.entries(REMEMBERED)) {
  test(`a limited number of used ${name} is remembered, and further ones are refused`, () => {
    let taken = 0;
    while (taken <= max && take(`${taken}`)) taken += 1;
    assert.equal(taken, max);
  });
}
