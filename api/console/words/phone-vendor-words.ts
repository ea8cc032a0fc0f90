const NAMES: Readonly<Record<string, string>> = {
  twilio: "Twilio",
  signalwire: "SignalWire",
  telnyx: "Telnyx",
  plivo: "Plivo",
  vonage: "Vonage",
  jambonz: "jambonz",
  asterisk: "Asterisk",
};

/** As the vendor writes itself. */
export function phoneVendorName(vendor: string): string {
  return NAMES[vendor] ?? vendor;
}
