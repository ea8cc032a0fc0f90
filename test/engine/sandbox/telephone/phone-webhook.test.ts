import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import twilio from "twilio";
import {
  readDocument,
  requestWebhook,
  signatureHeader,
} from "../../../../engine/sandbox/telephone/phone-webhook.js";

test("the documents of the vendor's own library are read", () => {
  const value = fc
    .oneof(
      fc.string({ maxLength: 30 }),
      fc.string({
        unit: fc.constantFrom(..."& < > \" ' / = \t \n \r ; a x".split(" "), " "),
        maxLength: 12,
      }),
      fc.constantFrom("</Stream>", "<Parameter/>", "&lt;", "&#65;", 'a="b"'),
    )
    .filter((text) => !/[^\P{Cc}\t\n\r]/u.test(text));
  fc.assert(
    fc.property(value, (text) => {
      const response = new twilio.twiml.VoiceResponse();
      const stream = response.connect().stream({ url: "wss://a.example/ws" });
      stream.parameter({ name: "token", value: text });
      assert.deepEqual(readDocument(response.toString()), {
        url: "wss://a.example/ws",
        parameters: { token: text },
      });
    }),
  );
});

test("what is no stream is refused with its words", () => {
  const say = "<Response><Say>Sorry &amp; good-bye</Say><Hangup/></Response>";
  assert.throws(() => readDocument(say), /refused: "Sorry & good-bye"/);
  assert.throws(() => readDocument("hello"), /not TwiML/);
  const query = '<Connect><Stream url="wss://a.example/ws?api_key=1"/></Connect>';
  assert.throws(() => readDocument(query), /31920/);
});

test("where no connection can be made, the vendor asks once more", async (context) => {
  const unconnected = new TypeError("fetch failed", {
    cause: Object.assign(new Error("connect ECONNRESET"), { syscall: "connect" }),
  });
  const stream = '<Response><Connect><Stream url="wss://a.example/ws"/></Connect></Response>';
  const answers = [() => Promise.reject(unconnected), () => Promise.resolve(new Response(stream))];
  const asked = context.mock.method(globalThis, "fetch", () => answers.shift()?.());
  const call = { callSid: "CA1", accountSid: "AC1", from: "+1", to: "+2", authToken: undefined };
  const { url } = await requestWebhook("http://a.example", call);
  assert.equal(url, "wss://a.example/ws");
  asked.mock.mockImplementation(() => Promise.reject(unconnected));
  await assert.rejects(requestWebhook("http://a.example", call), /fetch failed/);
  assert.equal(asked.mock.callCount(), 4);
});

test("the vendor waits and follows redirects, but not forever", async (context) => {
  const call = { callSid: "CA1", accountSid: "AC1", from: "+1", to: "+2", authToken: undefined };
  const stream = '<Response><Connect><Stream url="wss://a.example/ws"/></Connect></Response>';
  const sentOn = new twilio.twiml.VoiceResponse();
  sentOn.pause({ length: 3 });
  sentOn.redirect({ method: "POST" }, "/later?a=1&b=2");
  const documents = [sentOn.toString().replace(/^<\?[^>]*>/, ""), stream];
  const asked: unknown[] = [];
  const answer = (url: unknown) => {
    asked.push(url);
    return Promise.resolve(new Response(documents.shift() ?? sentOn.toString()));
  };
  context.mock.method(globalThis, "fetch", answer);
  let pausedSec = 0;
  const pause = async (lengthSec: number) => void (pausedSec += lengthSec);
  await requestWebhook("http://a.example/now?token=1", call, "in-progress", pause);
  assert.deepEqual(asked, ["http://a.example/now?token=1", "http://a.example/later?a=1&b=2"]);
  assert.equal(pausedSec, 3);
  await assert.rejects(
    requestWebhook("http://a.example", call, "ringing", pause),
    /sent on and on/,
  );
});

test("requests are signed as the vendor's library expects", () => {
  const url = "https://a.example/api/telephony/voice?api_key=k1";
  const fields = { To: "+2", CallSid: "CA1", From: "+1" };
  const { "x-twilio-signature": signature = "" } = signatureHeader(url, fields, "12345");
  assert.ok(twilio.validateRequest("12345", signature, url, fields));
  assert.deepEqual(signatureHeader(url, fields, undefined), {});
});
