import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { Auth } from "@vonage/auth";
import {
  AdvancedMachineDetectionMode,
  HttpMethod,
  MachineDetectionBehavior,
  Voice,
} from "@vonage/voice";
import Telnyx from "telnyx";
import twilio from "twilio";
import { startSandbox } from "../../engine/sandbox/sandbox.js";
import { ACCOUNT_NUMBERS } from "../../engine/sandbox/telephone/phone-account-apis.js";
import { SANDBOX_TWILIO } from "../../engine/sandbox/telephone/sandbox-telephony.js";
import { TWIML_WARM_TRANSFER } from "../../engine/telephony/twilio/twiml.js";
import { Changes } from "../doubles/changes.js";

const BUSY = "+15550100001";
const RINGING = "+15550100005";
const FROM = "+15550109999";

const sandbox = await startSandbox();
const { urls } = sandbox;
const reports: string[] = [];
const changes = new Changes();
/** Where the vendors report. */
const reported = createServer((request, response) => {
  void text(request).then((body) => {
    reports.push(body);
    response.writeHead(204).end();
    changes.tell();
  });
});
await new Promise<void>((resolve) => {
  reported.listen(0, "127.0.0.1", resolve);
});
const address = reported.address();
assert.ok(address !== null && typeof address === "object");
const base = `http://127.0.0.1:${address.port}`;
after(async () => {
  reported.close();
  reported.closeAllConnections();
  await sandbox.close();
});

function report(words: string | RegExp): Promise<true> {
  const has = (body: string) =>
    typeof words === "string" ? body.includes(words) : words.test(body);
  return changes.until(`a report of ${words}`, () => reports.some(has));
}

function twilioAt(baseUrl: string) {
  const { accountSid, authToken } = SANDBOX_TWILIO;
  const client = twilio(accountSid, authToken);
  client.api.baseUrl = baseUrl;
  return client;
}

for (const [vendor, baseUrl] of [
  ["Twilio", urls.twilio],
  ["SignalWire", `${urls.signalwire}/api/laml`],
] as const) {
  test(`Twilio's own client places, cancels and is refused calls at the simulated ${vendor}`, async () => {
    const { calls } = twilioAt(baseUrl);
    const order = { from: FROM, url: `${base}/answer`, statusCallback: `${base}/status` };
    reports.length = 0;
    const busy = await calls.create({ ...order, to: BUSY });
    assert.equal(busy.status, "queued");
    await report("CallStatus=busy");
    const ringing = await calls.create({ ...order, to: RINGING });
    reports.length = 0;
    await calls.get(ringing.sid).update({ status: "canceled" });
    await report("CallStatus=canceled");
    await assert.rejects(calls.create({ ...order, to: "+15550100009" }), { status: 400 });
  });
}

for (const [vendor, baseUrl] of [
  ["Twilio", urls.twilio],
  ["SignalWire", `${urls.signalwire}/api/laml`],
] as const) {
  test(`Twilio's own client lists the numbers of a simulated ${vendor} account, and sets a webhook`, async () => {
    const { incomingPhoneNumbers, api } = twilioAt(baseUrl);
    const account = await api.accounts(SANDBOX_TWILIO.accountSid).fetch();
    assert.equal(account.status, "active");
    const [first] = await incomingPhoneNumbers.list({ limit: 1 });
    assert.ok(first);
    const voiceUrl = `${base}/${vendor}`;
    const changed = await incomingPhoneNumbers(first.sid).update({ voiceUrl, voiceMethod: "POST" });
    assert.equal(changed.voiceUrl, voiceUrl);
    assert.equal((await incomingPhoneNumbers.list()).length, ACCOUNT_NUMBERS.length);
  });
}

test("Telnyx's own client lists numbers, and gives one to a TeXML application", async () => {
  const client = new Telnyx({ apiKey: "key", baseURL: `${urls.telnyx}/v2`, maxRetries: 0 });
  const change = { friendly_name: "Calls", voice_url: `${base}/voice` };
  const { data: application } = await client.texmlApplications.update("17", change);
  assert.equal(application?.voice_url, change.voice_url);
  const {
    data: [first],
  } = await client.phoneNumbers.list();
  assert.equal(first?.phone_number, ACCOUNT_NUMBERS[0]);
  const { data: changed } = await client.phoneNumbers.update(first?.id ?? "", {
    connection_id: "17",
  });
  assert.equal(changed?.connection_id, "17");
});

test("Telnyx's own client places and hangs up a call with a TeXML application", async () => {
  const client = new Telnyx({ apiKey: "key", baseURL: `${urls.telnyx}/v2`, maxRetries: 0 });
  reports.length = 0;
  const detection = {
    MachineDetection: "DetectMessageEnd",
    AsyncAmd: true,
    AsyncAmdStatusCallback: `${base}/status`,
  } as const;
  const addresses = { Url: `${base}/answer`, StatusCallback: `${base}/status` };
  const order = { From: FROM, ...addresses, ...detection };
  const { call_sid: callSid } = await client.texml.calls.create("17", { ...order, To: RINGING });
  await report("CallStatus=ringing");
  await client.calls.actions.hangup(callSid, {});
  await report("CallStatus=canceled");
  await assert.rejects(client.calls.actions.hangup(callSid, {}), { status: 422 });
  await assert.rejects(client.texml.calls.create("17", { ...order, To: "+15550100009" }), {
    status: 422,
  });
});

test("Vonage's own client places and hangs up a call with a token of its application", async () => {
  const { privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2_048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const auth = new Auth({ applicationId: "application", privateKey });
  const voice = new Voice(auth, { apiHost: urls.vonage });
  const behavior = MachineDetectionBehavior.CONTINUE;
  const mode = AdvancedMachineDetectionMode.DEFAULT;
  for (const detection of [
    { machineDetection: behavior },
    { advancedMachineDetection: { behavior, mode } },
  ]) {
    reports.length = 0;
    const placed = await voice.createOutboundCall({
      to: [{ type: "phone", number: RINGING.slice(1) }],
      from: { type: "phone", number: FROM.slice(1) },
      answerUrl: [`${base}/answer`],
      answerMethod: HttpMethod.POST,
      eventUrl: [`${base}/status`],
      ...detection,
    });
    assert.equal(placed.status, "started");
    await report('"status":"ringing"');
    await voice.hangupCall(placed.uuid);
    await report('"status":"cancelled"');
  }
});

test("the documents of a warm transfer are those that Twilio's own builder writes", () => {
  const conference = {
    beep: "false",
    startConferenceOnEnter: false,
    endConferenceOnExit: true,
    maxParticipants: 2,
  } as const;
  const wait = new twilio.twiml.VoiceResponse();
  const resultUrl = `${base}/result?token=a`;
  wait.dial({ action: resultUrl, method: "POST", timeLimit: 14_400 }).conference(conference, "one");
  const music = { soundUrl: `${base}/hold.mp3`, documentUrl: `${base}/hold` };
  const holdUrl = music.documentUrl;
  const waiting = TWIML_WARM_TRANSFER.wait({ conference: "one", resultUrl, holdUrl, music });
  assert.equal(waiting, wait.toString());
  const join = new twilio.twiml.VoiceResponse();
  join
    .dial({ timeLimit: 14_400 })
    .conference({ ...conference, startConferenceOnEnter: true }, "one");
  assert.equal(TWIML_WARM_TRANSFER.join("one"), join.toString());
  const briefing = { language: "de-DE", answerUrl: `${base}/a?b=1&c=2` };
  const text = "Ada & Bo call.";
  const question = "Press 1.";
  for (const audioUrl of [undefined, `${base}/briefing.wav?token=a&b=c`]) {
    const ask = new twilio.twiml.VoiceResponse();
    if (audioUrl === undefined) ask.say({ language: "de-DE" }, text);
    else ask.play(audioUrl);
    const gather = ask.gather({
      input: ["dtmf", "speech"],
      numDigits: 1,
      timeout: 5,
      speechTimeout: "auto",
      language: "de-DE",
      hints: "1, 2, yes, no",
      action: briefing.answerUrl,
      method: "POST",
      actionOnEmptyResult: true,
    });
    if (audioUrl === undefined) gather.say({ language: "de-DE" }, question);
    else gather.play(audioUrl);
    const sound = audioUrl === undefined ? {} : { audioUrl };
    const asked = TWIML_WARM_TRANSFER.ask({
      ...briefing,
      introduction: { text, ...sound },
      question: { text: question, ...sound },
    });
    assert.equal(asked, ask.toString());
  }
  const goOn = new twilio.twiml.VoiceResponse();
  goOn.redirect({ method: "POST" }, `${base}/result?token=a`);
  assert.equal(TWIML_WARM_TRANSFER.goOn(`${base}/result?token=a`), goOn.toString());
});
