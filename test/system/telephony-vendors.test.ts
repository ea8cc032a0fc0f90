import assert from "node:assert/strict";
import { test } from "node:test";
import { webhookUrl } from "./telephone-stand.js";
import { TestServer } from "./test-server.js";

test("only the vendors in TELEPHONY_VENDORS are accepted, and Twilio is no exception", async () => {
  const server = await TestServer.start({
    environment: { TELEPHONY_VENDORS: "telnyx, plivo", AUDIOSOCKET_PORT: "0" },
  });
  const customer = await server.customer();
  await server.agent(customer);
  const ask = async (vendor: string | undefined) => {
    const url = webhookUrl(server, customer, vendor === undefined ? {} : { vendor });
    const response = await fetch(url, { method: "POST", body: new URLSearchParams("CallSid=CA1") });
    return `${response.status} ${await response.text()}`;
  };
  for (const vendor of ["telnyx", "plivo"]) assert.match(await ask(vendor), /^200 .*token/s);
  for (const vendor of ["asterisk", "audiosocket", "twilio", "nobody", undefined]) {
    assert.match(await ask(vendor), /^400 .*vendor: expected one of telnyx, plivo/);
  }
  await server.close();
});
