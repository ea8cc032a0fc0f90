import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import twilio from "twilio";
import { ASTERISK } from "../../../engine/telephony/asterisk/asterisk.js";
import {
  jambonzConnect,
  jambonzHangUp,
  jambonzPauseAndAsk,
  jambonzSayAndHangUp,
} from "../../../engine/telephony/jambonz/jambonz.js";
import { phoneVendor } from "../../../engine/telephony/phone-vendors.js";
import {
  plivoConnect,
  plivoSayAndHangUp,
  plivoWaitAndAsk,
} from "../../../engine/telephony/plivo/plivo.js";
import {
  dialAndAsk,
  pauseAndAsk,
  sayAndHangUp,
  signalwireConnect,
  telnyxConnect,
  twilioConnect,
} from "../../../engine/telephony/twilio/twiml.js";
import {
  isVonageWaiting,
  vonageConnect,
  vonageHangUp,
  vonageSayAndHangUp,
} from "../../../engine/telephony/vonage/vonage.js";
import { anyCharacter } from "../../any-character.js";

const URL_OF_STREAM = "wss://voice.example.com/ws/telephony/stream";
const TARGET = { url: URL_OF_STREAM, parameters: { token: "0a1b", agentId: "ag1" } };
const HEAD = '<?xml version="1.0" encoding="UTF-8"?>';

test("a call is connected to its stream, with the token beside the address", () => {
  assert.equal(
    twilioConnect({
      ...TARGET,
      statusUrl: "https://voice.example.com/api/telephony/status?a=1&b=2",
    }),
    `${HEAD}<Response><Connect><Stream url="${URL_OF_STREAM}" statusCallback="https://voice.example.com/api/telephony/status?a=1&amp;b=2">` +
      '<Parameter name="token" value="0a1b"/><Parameter name="agentId" value="ag1"/></Stream></Connect></Response>',
  );
});

/** All of Unicode that XML can hold: the vendor's builder refuses the rest where ours leaves it out. */
const xmlText = fc
  .oneof(
    fc.string({ unit: anyCharacter, maxLength: 40 }),
    fc.string({ unit: "binary-ascii", maxLength: 40 }),
    fc.string({
      unit: fc.constantFrom(..."& < > \" ' \t \n \r ] a".split(" "), " "),
      maxLength: 12,
    }),
  )
  .filter((text) => !/[^\P{Cc}\t\n\r]|[\ufffe\uffff]/u.test(text));

test("the document is the one that the vendor's library writes, whatever stands in it", () => {
  fc.assert(
    fc.property(xmlText, xmlText, (name, value) => {
      const response = new twilio.twiml.VoiceResponse();
      response.connect().stream({ url: URL_OF_STREAM }).parameter({ name, value });
      const ours = twilioConnect({ url: URL_OF_STREAM, parameters: { [name]: value } });
      assert.equal(ours, response.toString());
    }),
  );
  fc.assert(
    fc.property(
      xmlText.filter((text) => text !== ""),
      (text) => {
        const response = new twilio.twiml.VoiceResponse();
        response.say({ language: "en-US" }, text);
        response.hangup();
        assert.equal(sayAndHangUp({ text, language: "en-US" }), response.toString());
      },
    ),
  );
});

test("what XML cannot hold is left out", () => {
  const text = "a\u0000b\ud800c\uffffd";
  assert.equal(sayAndHangUp({ text }), `${HEAD}<Response><Say>abcd</Say><Hangup/></Response>`);
});

test("an address with a query, a name or another scheme is refused", () => {
  for (const url of [
    `${URL_OF_STREAM}?api_key=k1`,
    `${URL_OF_STREAM}#a`,
    "https://voice.example.com/",
    "wss://user:password@voice.example.com/",
  ]) {
    for (const connect of [
      twilioConnect,
      telnyxConnect,
      plivoConnect,
      vonageConnect,
      jambonzConnect,
    ]) {
      assert.throws(() => connect({ url, parameters: {} }), RangeError);
    }
  }
});

test("SignalWire and Telnyx are asked for the codec that they are to send", () => {
  assert.match(signalwireConnect(TARGET, "L16@16000h"), /<Stream url="[^"?]+" codec="L16@16000h">/);
  assert.doesNotMatch(signalwireConnect(TARGET), /codec/);
  assert.match(
    telnyxConnect(TARGET),
    / codec="PCMU" bidirectionalMode="rtp" bidirectionalCodec="PCMU" bidirectionalSamplingRate="8000">/,
  );
  assert.match(telnyxConnect(TARGET), /<\/Connect><Hangup\/><\/Response>$/);
});

const CONTINUE_URL = "https://voice.example.com/api/telephony/continue?token=a.b-c_d";

test("a vendor that runs on behind its stream is sent to ask what comes next, and hangs up where nothing does", () => {
  const redirect = `<Redirect method="POST">${CONTINUE_URL}</Redirect></Response>`;
  for (const connect of [plivoConnect, telnyxConnect]) {
    const document = connect({ ...TARGET, continueUrl: CONTINUE_URL });
    assert.ok(document.endsWith(`>${redirect}`), document);
    assert.doesNotMatch(document, /action=|<Hangup/);
    assert.ok(connect(TARGET).endsWith("><Hangup/></Response>"));
  }
});

test("a vendor that is to wait asks again after it, in its own words", () => {
  const wait = { url: CONTINUE_URL, pauseSec: 9 };
  const redirect = `<Redirect method="POST">${CONTINUE_URL}</Redirect></Response>`;
  assert.equal(pauseAndAsk(wait), `${HEAD}<Response><Pause length="9"/>${redirect}`);
  assert.equal(plivoWaitAndAsk(wait), `${HEAD}<Response><Wait length="9"/>${redirect}`);
  assert.deepEqual(JSON.parse(jambonzPauseAndAsk(wait)), [
    { verb: "pause", length: 9 },
    { verb: "redirect", actionHook: `${CONTINUE_URL}#rc=5&rp=ct,rt,5xx` },
  ]);
});

test("Plivo gets the address as the element's text, and parameters that it does not spoil", () => {
  assert.equal(
    plivoConnect(TARGET),
    `${HEAD}<Response><Stream bidirectional="true" keepCallAlive="true" contentType="audio/x-mulaw;rate=8000" streamTimeout="86400" extraHeaders="token=0a1b,agentId=ag1">${URL_OF_STREAM}</Stream><Hangup/></Response>`,
  );
  assert.doesNotMatch(plivoConnect({ url: URL_OF_STREAM, parameters: {} }), /extraHeaders/);
  assert.throws(() => plivoConnect({ ...TARGET, parameters: { a: "b=c" } }), /letters and digits/);
  assert.throws(() => plivoConnect({ ...TARGET, parameters: { a: "b".repeat(511) } }), /512/);
  assert.equal(
    plivoSayAndHangUp({ text: "Sorry <3", language: "en-GB" }),
    `${HEAD}<Response><Speak language="en-GB">Sorry &lt;3</Speak><Hangup/></Response>`,
  );
});

test("Vonage gets a call control object", () => {
  assert.deepEqual(JSON.parse(vonageConnect({ ...TARGET, statusUrl: "https://a.example/s" })), [
    {
      action: "connect",
      endpoint: [
        {
          type: "websocket",
          uri: URL_OF_STREAM,
          "content-type": "audio/l16;rate=16000",
          headers: TARGET.parameters,
        },
      ],
      eventUrl: ["https://a.example/s"],
    },
  ]);
  assert.throws(() => vonageConnect({ ...TARGET, parameters: { a: "b".repeat(512) } }), /512/);
  assert.deepEqual(JSON.parse(vonageSayAndHangUp({ text: "Bye" })), [
    { action: "talk", text: "Bye" },
  ]);
});

test("Vonage asks what comes next at the end of its stream, and of all else only tells", () => {
  const target = { ...TARGET, continueUrl: CONTINUE_URL, statusUrl: "https://a.example/s" };
  const [connect, ...others] = JSON.parse(vonageConnect(target));
  assert.deepEqual(
    [connect.eventType, connect.eventUrl, others],
    ["synchronous", [CONTINUE_URL], []],
  );
  const waiting = ["disconnected", "failed", "unanswered", "rejected", "busy", "timeout"];
  const telling = ["started", "ringing", "answered", "completed", "cancelled", "human", ""];
  const isWaiting = (status: string) => isVonageWaiting(JSON.stringify({ status }));
  assert.deepEqual([...waiting, ...telling].filter(isWaiting), waiting);
  assert.equal(isVonageWaiting(""), false);
  assert.equal(vonageHangUp(), "", "no document: the one before has nothing behind the stream");
});

test("what just fits is passed on", () => {
  const longest = { a: "b".repeat(510) };
  assert.match(plivoConnect({ ...TARGET, parameters: longest }), /extraHeaders="a=b{510}"/);
  const headers = { a: "b".repeat(512 - '{"a":""}'.length) };
  assert.equal(
    JSON.parse(vonageConnect({ ...TARGET, parameters: headers }))[0].endpoint[0].headers.a,
    headers.a,
  );
  const longer = { a: `${headers.a}b` };
  assert.throws(() => vonageConnect({ ...TARGET, parameters: longer }), /at most 512 bytes/);
  assert.deepEqual(JSON.parse(vonageSayAndHangUp({ text: "Bye", language: "en-US" })), [
    { action: "talk", text: "Bye", language: "en-US" },
  ]);
  assert.equal(JSON.parse(vonageConnect(TARGET))[0].eventUrl, undefined);
});

test("Jambonz listens to the caller alone, is told of keys, and talks at 8 kHz unless it is asked", () => {
  assert.deepEqual(JSON.parse(jambonzConnect(TARGET)), [
    {
      verb: "listen",
      url: URL_OF_STREAM,
      sampleRate: 8_000,
      mixType: "mono",
      passDtmf: true,
      bidirectionalAudio: { enabled: true, streaming: true, sampleRate: 8_000 },
      metadata: TARGET.parameters,
    },
    { verb: "hangup" },
  ]);
  assert.deepEqual(JSON.parse(jambonzSayAndHangUp({ text: "Bye" })), [
    { verb: "say", text: "Bye" },
    { verb: "hangup" },
  ]);
});

test("Jambonz asks the hook of its stream what comes next, and again while nobody answers", () => {
  const [listen, ...others] = JSON.parse(jambonzConnect({ ...TARGET, continueUrl: CONTINUE_URL }));
  assert.equal(listen.actionHook, `${CONTINUE_URL}#rc=5&rp=ct,rt,5xx`);
  assert.deepEqual(others, [{ verb: "hangup" }]);
  assert.deepEqual(JSON.parse(jambonzHangUp()), [{ verb: "hangup" }]);
});

test("Jambonz gets verbs, and streams both ways", () => {
  const [listen, end] = JSON.parse(jambonzConnect(TARGET, 16_000));
  assert.equal(listen.url, URL_OF_STREAM);
  assert.deepEqual(listen.bidirectionalAudio, {
    enabled: true,
    streaming: true,
    sampleRate: 16_000,
  });
  assert.deepEqual(listen.metadata, TARGET.parameters);
  assert.deepEqual(end, { verb: "hangup" });
  assert.deepEqual(JSON.parse(jambonzSayAndHangUp({ text: "Bye", language: "en-US" })), [
    { verb: "say", text: "Bye", synthesizer: { language: "en-US" } },
    { verb: "hangup" },
  ]);
});

test("a caller is handed on to a number or to a SIP address, each by its own element", () => {
  const resultUrl = "https://voice.example.com/next?token=a&b";
  const dial = { ringSec: 30, talkMaxSec: 600, resultUrl };
  const handedTo = (to: string) =>
    /<Dial action="https:\/\/voice\.example\.com\/next\?token=a&amp;b" method="POST" timeout="30" timeLimit="600">(.*)<\/Dial>/.exec(
      dialAndAsk({ ...dial, to }),
    )?.[1];
  assert.equal(handedTo("+15550101000"), "<Number>+15550101000</Number>");
  for (const address of ["sip:desk@a.org", "SIPS:desk@a.org"]) {
    assert.equal(handedTo(address), `<Sip>${address}</Sip>`);
  }
});

test("a dialplan is told its stream's token, and where to ask behind it if it may", () => {
  const { documents } = ASTERISK;
  assert.equal(documents.connect(TARGET), "0a1b");
  const continueUrl = "https://voice.example.com/next";
  assert.equal(documents.connect({ ...TARGET, continueUrl }), `0a1b|${continueUrl}`);
  const words = [documents.farewell({ text: "Goodbye." }), documents.hangUp()];
  assert.deepEqual(words, ["Goodbye.", "over"]);
});

test("a dialplan is told whom to dial, and only numbers: other characters have a meaning there", () => {
  const { documents } = ASTERISK;
  const resultUrl = "https://voice.example.com/next";
  const dial = { to: "+15550101000", ringSec: 30, talkMaxSec: 600, resultUrl };
  assert.equal(documents.dial?.(dial), `dial|+15550101000|30|${resultUrl}|600|`);
  const callerId = "+15550109999";
  assert.equal(
    documents.dial?.({ ...dial, callerId }),
    `dial|+15550101000|30|${resultUrl}|600|${callerId}`,
  );
  assert.equal(documents.mayDial?.(dial.to), true);
  for (const to of ["sip:desk@a.org", "+1555&PJSIP/+1900", "+15550101000,99", "+1555${X}"]) {
    assert.equal(documents.mayDial?.(to), false, to);
  }
});

const REPORTS: readonly (readonly [
  vendor: string,
  body: string,
  result: string,
  reason: string,
])[] = [
  ["twilio", "DialCallStatus=completed&DialCallDuration=7", "answered", "completed"],
  ["twilio", "DialCallStatus=no-answer", "noAnswer", "no-answer"],
  ["signalwire", "DialCallStatus=canceled", "canceled", "canceled"],
  ["twilio", "DialCallStatus=busy&DialSipResponseCode=603", "rejected", "603"],
  ["signalwire", "DialCallStatus=failed&DialSipResponseCode=403", "rejected", "403"],
  ["signalwire", "DialCallStatus=busy&DialSipResponseCode=486", "busy", "486"],
  ["telnyx", "DialCallStatus=busy", "busy", "busy"],
  ["telnyx", "DialCallStatus=busy&HangupCause=user_busy", "busy", "user_busy"],
  ["telnyx", "DialCallStatus=failed&HangupCause=call_rejected", "rejected", "call_rejected"],
  [
    "telnyx",
    "DialCallStatus=busy&HangupCause=unspecified&SipHangupCause=603",
    "rejected",
    "unspecified",
  ],
  ["telnyx", "DialCallStatus=completed&HangupCause=call_rejected", "answered", "call_rejected"],
  ["telnyx", "DialCallStatus=of-the-future", "failed", "of-the-future"],
  ["plivo", "DialStatus=timeout&DialHangupCause=NO_ANSWER", "noAnswer", "NO_ANSWER"],
  ["plivo", "DialStatus=failed&DialHangupCause=CALL_REJECTED", "rejected", "CALL_REJECTED"],
  ["plivo", "DialStatus=completed&DialHangupCause=CALL_REJECTED", "answered", "CALL_REJECTED"],
  ["jambonz", '{"dial_call_status":"failed","dial_sip_status":603}', "rejected", "603"],
  ["jambonz", '{"dial_call_status":"busy","dial_sip_status":486}', "busy", "486"],
  ["vonage", '{"status":"unanswered"}', "noAnswer", "unanswered"],
  ["vonage", '{"status":"rejected","detail":"restricted"}', "rejected", "restricted"],
  ["asterisk", "dialStatus=ANSWER&hangupCause=16&duration=7", "answered", "16"],
  ["asterisk", "dialStatus=NOANSWER&hangupCause=19", "noAnswer", "19"],
  ["asterisk", "dialStatus=BUSY&hangupCause=21", "rejected", "21"],
  ["asterisk", "dialStatus=CONGESTION&hangupCause=", "failed", "CONGESTION"],
  ["audiosocket", "dialStatus=CANCEL&hangupCause=0", "canceled", "0"],
];

test("what a vendor reports of a transfer is read in the vendor's own words", () => {
  for (const [vendor, body, result, reason] of REPORTS) {
    const report = phoneVendor(vendor)?.transferReport?.(body);
    assert.deepEqual([report?.result, report?.reason], [result, reason], `${vendor} ${body}`);
  }
  assert.equal(phoneVendor("twilio")?.transferReport?.(REPORTS[0]?.[1] ?? "")?.durationSec, 7);
  const report = (body: string) => phoneVendor("twilio")?.transferReport?.(body);
  assert.equal(report("CallStatus=in-progress"), undefined);
  assert.equal(report(`DialCallStatus=${"x".repeat(65)}`), undefined);
  assert.equal(report("DialCallStatus=completed&DialCallDuration=-1")?.durationSec, undefined);
  assert.equal(report("DialCallStatus=completed&DialCallDuration=999999")?.durationSec, 86_400);
  for (const status of ["started", "ringing"]) {
    assert.equal(phoneVendor("vonage")?.transferReport?.(JSON.stringify({ status })), undefined);
  }
});
