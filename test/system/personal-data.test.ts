import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { RecordingLogger } from "../doubles/recording-logger.js";
import { closeOf, ended } from "./events.js";
import { OWN_VENDORS_ALLOWED, OwnVendors } from "./own-vendors.js";
import { TestServer, VENDOR_KEY } from "./test-server.js";

const WORDS = ["zanzibar", "quagga", "wombat", "Marzipan"] as const;

test("the log of calls, faults and requests contains no spoken words, keys, e-mail addresses or query strings", async (context) => {
  const log = new RecordingLogger();
  const server = await TestServer.start({ log, environment: OWN_VENDORS_ALLOWED });
  context.after(() => server.close());
  const own = await OwnVendors.of(server, context, {
    agent: { persona: { greeting: "Marzipan for all.", systemPrompt: "Talk about a quagga." } },
  });
  const { customer, faults } = own;

  const caller = await own.call();
  await caller.until(ended);
  for (const fault of ["serverError", "errorMidStream", "badRequest"] as const) {
    faults.openai = { fault, times: 1 };
    faults.openaiSpeech = { fault: "serverError", times: 1 };
    faults.deepgram = { fault: "dropMidCall", times: 1, after: 5 };
    await caller.say("say zanzibar");
    await caller.until(({ type }) => type === "audioEnd" || type === "error");
    if (fault === "badRequest") await closeOf(caller);
  }
  faults.deepgram = { fault: "unauthorized" };
  await closeOf(own.dial());
  faults.deepgram = {};
  faults.openai = { fault: "unauthorized" };
  const last = await own.call();
  await last.say("wombat");
  await closeOf(last);
  await closeOf(server.dial(customer, { apiKey: `vk_${"1".repeat(48)}`, sessionId: "wombat" }));
  await fetch(`${server.url}/api/dashboard/agents?api_key=${customer.apiKey}&query=zanzibar`);
  await fetch(`${server.url}/api/auth/signin`, {
    method: "POST",
    body: JSON.stringify({ email: customer.email, password: "wombat" }),
  });
  await server.endedCalls(customer, 3);

  const lines = log.lines.map((line) => inspect(line, { depth: 20, showHidden: true }));
  assert.ok(lines.length > 10, `${lines.length} lines`);
  assert.ok(log.ofLevel("warn").length >= 5, "the vendors' faults were logged");
  const secrets = [
    ...WORDS,
    VENDOR_KEY,
    customer.apiKey,
    customer.email,
    "api_key=",
    "1".repeat(48),
  ];
  for (const secret of secrets) {
    const leaks = lines.filter((line) => line.toLowerCase().includes(secret.toLowerCase()));
    assert.deepEqual(leaks, [], `"${secret}" is in the log`);
  }
});
