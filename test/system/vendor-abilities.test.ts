import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { ACCOUNT_NUMBERS } from "../../engine/sandbox/telephone/phone-account-apis.js";
import { PhoneApiSimulator } from "../../engine/sandbox/telephone/phone-api-simulator.js";
import { PHONE_API_WIRES } from "../../engine/sandbox/telephone/phone-api-wires.js";
import type { PhoneVendor } from "../../engine/telephony/phone-vendor.js";
import { callControlApis, phoneVendor } from "../../engine/telephony/phone-vendors.js";
import {
  type CallControlSettings,
  PHONE_VENDOR_NAMES,
  type PhoneVendorName,
} from "../../engine/telephony/telephony-settings.js";
import { SystemClock } from "../../engine/time/clock.js";
import { Connections } from "../../engine/vendors/transport/connections.js";
import { httpService } from "../doubles/http-service.js";
import { eventually } from "./eventually.js";
import { VENDOR_DOCUMENTS } from "./phone-vendor-documents.js";
import { SimulatedVendor } from "./public-entrance.js";

const NAMES: Readonly<Record<PhoneVendorName, string>> = {
  twilio: "Twilio",
  telnyx: "Telnyx",
  signalwire: "SignalWire",
  plivo: "Plivo",
  vonage: "Vonage",
  jambonz: "Jambonz",
  asterisk: "Asterisk (WebSocket)",
  audiosocket: "Asterisk (AudioSocket)",
};

type Described = PhoneVendor["capabilities"] & {
  readonly account: PhoneVendor["account"];
};

const MACHINE_WORDS = {
  report: "yes",
  greetingEnd: "yes, and the end of the greeting",
  beep: "yes, and the beep",
  none: "no",
} as const;

const COLUMNS: readonly (readonly [string, (of: Described) => string])[] = [
  ["Places calls", ({ place }) => (place === "rest" ? "yes" : "no")],
  ["Reports machines", ({ machineDetection }) => MACHINE_WORDS[machineDetection]],
  ["Hangs up by", ({ hangUp }) => (hangUp === "rest" ? "REST" : "end of stream")],
  [
    "Transfers by",
    ({ transfer }) => ({ rest: "REST or document", document: "document", none: "no" })[transfer],
  ],
  [
    "Shows the caller's number",
    ({ transferCallerId }) => (transferCallerId === "caller" ? "yes" : "no"),
  ],
  [
    "After a failed transfer",
    ({ failedTransfer }) => (failedTransfer === "comesBack" ? "back to the agent" : "no"),
  ],
  ["Warm transfers", ({ warmTransfer }) => (warmTransfer === "conference" ? "yes" : "no")],
  ["Digits from the caller", ({ receiveDigits }) => receiveDigits],
  ["Digits to the caller", ({ sendDigits }) => sendDigits],
  ["Own accounts", ({ account }) => (account === undefined ? "no" : "yes")],
  ["Imports numbers", ({ importNumbers }) => (importNumbers === "rest" ? "yes" : "no")],
];

type Abilities = PhoneVendor["capabilities"];

const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2_048,
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});

function accountsAt(baseUrl: string): CallControlSettings {
  return {
    twilio: { accountSid: "account", authToken: "key", baseUrl },
    signalwire: { projectId: "project", apiToken: "key", baseUrl },
    telnyx: { apiKey: "key", texmlAppId: "17", baseUrl },
    plivo: { authId: "MA1", authToken: "key", baseUrl },
    vonage: { applicationId: "a", privateKey, apiKey: "b", apiSecret: "key", baseUrl },
    jambonz: { accountSid: "account", apiKey: "key", baseUrl },
    asterisk: { user: "ari", password: "key", baseUrl: `${baseUrl}/ari` },
  };
}

const RINGS = "+15550100005";
const OWN_NUMBER = "+15550109999";

/** What calls at a simulated vendor show of its REST API. */
async function observedByRest(
  context: TestContext,
  name: keyof typeof PHONE_API_WIRES,
): Promise<Partial<Abilities>> {
  const asked: string[] = [];
  const server = await httpService(context, (request, response) => {
    asked.push(new URL(request.url ?? "/", "http://server").pathname);
    response.writeHead(200).end();
  });
  const simulator = new PhoneApiSimulator(name);
  const simulated = await SimulatedVendor.start(simulator);
  const clock = new SystemClock();
  const connections = new Connections({ clock, allowPrivateAddresses: true });
  context.after(async () => {
    simulator.close();
    simulated.close();
    await connections.close();
  });
  const api = callControlApis(accountsAt(simulated.url), { clock, connections })[name];
  const vendor = phoneVendor(name);
  assert.ok(api && vendor);
  const detected = { detectMachine: true, detectMessageEnd: true, ringTimeoutSec: 60 };
  const urls = { answerUrl: `${server}/answer`, statusUrl: `${server}/status` };
  await api.place?.({ to: RINGS, from: OWN_NUMBER, ...urls, ...detected });
  const [call] = simulator.calls;
  const wire = PHONE_API_WIRES[name];
  const isMachine = (verdict: "machine" | "messageEnd") => {
    const body = call && wire.verdict(call, verdict);
    if (body === undefined) return false;
    return vendor.placedReport?.(body).answeredBy.startsWith("machine") === true;
  };
  const seesMachine = call?.order.machineUrl !== undefined && isMachine("machine");
  const seesEnd = call?.order.detectsMessageEnd === true && isMachine("messageEnd");
  const seen = wire.hasOneVerdict === true ? "greetingEnd" : "beep";
  if (call !== undefined) await api.hangUp(call.id, "ringingOrAnswered");
  // A call that no webhook names is hung up by its stream.
  const isHungUp = call?.isOver === true && vendor.callIdField !== undefined;
  const dial = { to: RINGS, ringSec: 30, talkMaxSec: 600, resultUrl: `${server}/result` };
  const ids = { from: "+15550101000", to: OWN_NUMBER };
  const handedOn = simulator.adopt({ id: "transferred", ...ids });
  await api.transfer?.(handedOn.id, { ...dial, callerId: OWN_NUMBER });
  const waiting = simulator.adopt({ id: "waiting", ...ids });
  const { warmTransfer } = vendor.documents;
  const document = warmTransfer?.wait({
    conference: "conference",
    resultUrl: `${server}/result`,
    holdUrl: `${server}/hold`,
    music: { soundUrl: `${server}/sound`, documentUrl: `${server}/sound` },
  });
  const isHeld =
    document !== undefined &&
    api.isLive !== undefined &&
    (await api.redirect?.(waiting.id, { document, url: `${server}/hold` })) === true;
  // At a vendor whose callers on hold ask by themselves, nothing is ordered.
  if (isHeld && warmTransfer?.joinCaller === undefined)
    await eventually(
      `the order of the hold at ${name}`,
      () => waiting.transferredTo.length > 0 || asked.includes("/hold") || undefined,
    );
  const numbers = (await api.numbers?.list()) ?? [];
  const isImported = numbers.length === ACCOUNT_NUMBERS.length;
  return {
    place: call === undefined ? "none" : "rest",
    machineDetection: seesEnd ? seen : seesMachine ? "report" : "none",
    hangUp: isHungUp ? "rest" : "stream",
    ...(handedOn.transferredTo.length > 0 && { transfer: "rest" }),
    warmTransfer: isHeld ? "conference" : "none",
    importNumbers: isImported && vendor.account?.provesNumbers === true ? "rest" : "none",
  };
}

/** What the vendor does, in the words of its descriptor, and not by it. */
async function observed(context: TestContext, name: PhoneVendorName): Promise<Abilities> {
  const { documents, transferReport } = phoneVendor(name) ?? {};
  const theirs = VENDOR_DOCUMENTS[name === "audiosocket" ? "asterisk" : name];
  assert.ok(documents && theirs);
  const dial = { to: RINGS, ringSec: 30, talkMaxSec: 600, resultUrl: "https://a.example.com/" };
  const dialed = theirs.readDial?.(documents.dial?.(dial) ?? "[{}]");
  const report = theirs.dialBodies?.("busy", "15550101000").at(-1) ?? "";
  return {
    place: "none",
    machineDetection: "none",
    hangUp: "stream",
    transfer: dialed === undefined ? "none" : "document",
    transferCallerId: theirs.showsCaller ? "caller" : "account",
    failedTransfer: transferReport?.(report)?.result === "busy" ? "comesBack" : "none",
    warmTransfer: "none",
    sendDigits: "tones",
    receiveDigits: "messages",
    importNumbers: "none",
    ...(name === "audiosocket" ? {} : await observedByRest(context, name)),
  };
}

test("each vendor's descriptor, and the guide's table, say what the vendor is observed to do", async (context) => {
  const row = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rows: string[] = [];
  for (const name of PHONE_VENDOR_NAMES) {
    const vendor = phoneVendor(name);
    assert.ok(vendor);
    const abilities = await observed(context, name);
    assert.deepEqual(vendor.capabilities, abilities, name);
    const { account } = vendor;
    rows.push(row([NAMES[name], ...COLUMNS.map(([, write]) => write({ ...abilities, account }))]));
  }
  const head = row(["Vendor", ...COLUMNS.map(([title]) => title)]);
  const table = [head, `|${"---|".repeat(COLUMNS.length + 1)}`, ...rows].join("\n");
  const guide = readFileSync("docs/guides/telephony.md", "utf8");
  assert.ok(guide.includes(table), `docs/guides/telephony.md needs this table:\n${table}`);
});
