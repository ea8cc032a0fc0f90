import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { PhoneVendor } from "../../../engine/telephony/phone-vendor.js";
import { phoneVendor } from "../../../engine/telephony/phone-vendors.js";
import { PHONE_VENDOR_NAMES } from "../../../engine/telephony/telephony-settings.js";

const NAMES: Readonly<Record<(typeof PHONE_VENDOR_NAMES)[number], string>> = {
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
    "After a failed transfer",
    ({ failedTransfer }) => (failedTransfer === "comesBack" ? "back to the agent" : "no"),
  ],
  ["Warm transfers", ({ warmTransfer }) => (warmTransfer === "conference" ? "yes" : "no")],
  ["Digits from the caller", ({ receiveDigits }) => receiveDigits],
  ["Digits to the caller", ({ sendDigits }) => sendDigits],
  ["Own accounts", ({ account }) => (account === undefined ? "no" : "yes")],
  ["Imports numbers", ({ importNumbers }) => (importNumbers === "rest" ? "yes" : "no")],
];

test("the guide's table says what each vendor's descriptor does", () => {
  const row = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rows = PHONE_VENDOR_NAMES.map((name) => {
    const vendor = phoneVendor(name);
    assert.ok(vendor);
    const { capabilities, account } = vendor;
    return row([NAMES[name], ...COLUMNS.map(([, write]) => write({ ...capabilities, account }))]);
  });
  const head = row(["Vendor", ...COLUMNS.map(([title]) => title)]);
  const table = [head, `|${"---|".repeat(COLUMNS.length + 1)}`, ...rows].join("\n");
  const guide = readFileSync("docs/guides/telephony.md", "utf8");
  assert.ok(guide.includes(table), `docs/guides/telephony.md needs this table:\n${table}`);
});
