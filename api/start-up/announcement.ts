import { join, normalize } from "node:path";
import type { Logger } from "../../engine/log.js";
import type { WebhookKeys } from "../../engine/telephony/telephony-settings.js";
import type { ConfiguredVendors } from "../../engine/tenancy/providers/vendor-preference.js";
import { VERSION } from "../../engine/version.js";
import { consoleAddress } from "./console-address.js";
import { hostUrl, isEveryHost, localUrl } from "./local-url.js";

/** What the operator has set, as far as it is told back. */
export interface OperatorSettings {
  readonly host: string;
  readonly publicBaseUrl: string | undefined;
  readonly dataDir: string;
  readonly trustedProxies: readonly string[];
  readonly webhookKeys: WebhookKeys;
}

/** What has come of it. */
export interface StartedServer {
  readonly port: number;
  readonly usesSandbox: boolean;
  /** Where the sandbox's faults and journal are. */
  readonly sandboxUrl?: string | undefined;
  readonly configured: ConfiguredVendors;
  readonly demo: { readonly email: string } | undefined;
  /** Signs the demo user in to the console; left out where there is none, or the password was changed. */
  readonly demoToken?: string | undefined;
}

/** What turns the demand for each telephony vendor's signature on. */
const SIGNATURE_SETTINGS: Readonly<Record<keyof WebhookKeys, string>> = {
  twilio: "TWILIO_AUTH_TOKEN",
  signalwire: "SIGNALWIRE_SIGNING_KEY",
  plivo: "PLIVO_AUTH_TOKEN",
  telnyx: "TELNYX_PUBLIC_KEY",
  vonage: "VONAGE_SIGNATURE_SECRET",
  jambonz: "JAMBONZ_WEBHOOK_SECRET",
};

/** Log lines for a server in production: where it is and what it has, then one for each thing that it lacks. */
export function announce(settings: OperatorSettings, server: StartedServer, log: Logger): void {
  const { host, publicBaseUrl, dataDir } = settings;
  const { port, configured, usesSandbox } = server;
  const sandbox = usesSandbox ? "on" : "off";
  const about = { version: VERSION, node: process.version, dataDir, publicBaseUrl, sandbox };
  const vendors = namesOf(configured);
  log.info({ ...about, vendors }, `Parley ${VERSION} listens on ${hostUrl(host, port)}`);
  for (const [category, advice] of missingVendors(configured)) log.warn({ category }, advice);
  for (const [setting, consequence] of missingSettings(settings)) {
    log.info({ setting }, `not set: ${setting}; ${consequence}`);
  }
}

/** As `config.ts` has it: commands find the data there without being told. */
const DEFAULT_DATA_DIR = "data";

/** For a developer's terminal. */
export function banner(
  { host, publicBaseUrl, dataDir }: OperatorSettings,
  { port, usesSandbox, sandboxUrl, configured, demo, demoToken }: StartedServer,
): string {
  const base = publicBaseUrl ?? localUrl(host, port);
  const lines = [
    `Parley listens on ${localUrl(host, port)}`,
    ...(isEveryHost(host) ? [`  network     other machines reach it, too (HOST=${host})`] : []),
    ...(publicBaseUrl === undefined ? [] : [`  public      ${publicBaseUrl}`]),
    `  version     ${VERSION}, Node ${process.version}`,
    `  vendors     ${usesSandbox ? "simulated, since no vendor key is set" : described(configured)}`,
    `  data        ${dataDir}`,
    `  console     ${consoleAddress(base, demoToken)}`,
    `  API         ${base}/api/docs`,
  ];
  if (sandboxUrl !== undefined) lines.push(`  sandbox     ${sandboxUrl}/faults`);
  if (demo !== undefined) {
    const own = port === 8080 ? "" : ` --url ${base}`;
    // A terminal of its own does not have this server's environment.
    const folder = normalize(dataDir) === DEFAULT_DATA_DIR ? "" : `DATA_DIR=${dataDir} `;
    if (usesSandbox) {
      lines.push(`  first call  ${folder}npm run call${own === "" ? "" : ` --${own}`}`);
      lines.push(`  telephone   ${folder}npm run call -- --phone${own}`);
    } else lines.push("  first call  open the console, press Talk and speak");
    lines.push(
      `  demo user   ${demo.email}, password and API key in ${join(dataDir, "demo.json")}`,
    );
  }
  const missing = usesSandbox ? [] : missingVendors(configured);
  for (const [, advice] of missing) lines.push(`  missing     ${advice}`);
  return `\n${lines.join("\n")}\n\n`;
}

function namesOf({ llm, tts, stt }: ConfiguredVendors): Readonly<Record<string, string>> {
  const list = ({ withKey, withoutKey }: ConfiguredVendors["llm"]) =>
    [...withKey, ...withoutKey].join(", ") || "none";
  return { llm: list(llm), tts: list(tts), stt: list(stt) };
}

function described(configured: ConfiguredVendors): string {
  const { llm, tts, stt } = namesOf(configured);
  return `STT: ${stt}; LLM: ${llm}; TTS: ${tts}`;
}

function missingVendors({
  llm,
  tts,
  stt,
}: ConfiguredVendors): readonly (readonly [category: string, advice: string])[] {
  const missing: (readonly [string, string])[] = [];
  if (stt.withKey.length + stt.withoutKey.length === 0) {
    missing.push([
      "stt",
      "no STT is configured: only agents with their organization's own STT provider can take calls; set DEEPGRAM_API_KEY",
    ]);
  }
  if (llm.withKey.length === 0) {
    missing.push([
      "llm",
      "no hosted LLM is configured: agents need Ollama at OLLAMA_BASE_URL; set OPENAI_API_KEY or GROQ_API_KEY",
    ]);
  }
  if (tts.withKey.length === 0) {
    missing.push([
      "tts",
      "no hosted TTS is configured: agents use Edge, which has no service guarantee; set OPENAI_API_KEY or ELEVENLABS_API_KEY",
    ]);
  }
  return missing;
}

function missingSettings({
  publicBaseUrl,
  trustedProxies,
  webhookKeys,
}: OperatorSettings): readonly (readonly [setting: string, consequence: string])[] {
  const missing: (readonly [string, string])[] = [];
  if (publicBaseUrl === undefined) {
    missing.push([
      "PUBLIC_BASE_URL",
      "webhooks use the address in the request's Host header, and agents cannot place calls",
    ]);
  }
  if (trustedProxies.length === 0) {
    missing.push([
      "TRUSTED_PROXIES",
      "behind a proxy, the limits by address count all clients as one",
    ]);
  }
  const unsigned = (Object.keys(SIGNATURE_SETTINGS) as (keyof WebhookKeys)[]).filter(
    (vendor) => webhookKeys[vendor] === undefined,
  );
  if (unsigned.length > 0) {
    missing.push([
      unsigned.map((vendor) => SIGNATURE_SETTINGS[vendor]).join(", "),
      `webhooks of ${unsigned.join(", ")} are accepted without a signature`,
    ]);
  }
  return missing;
}
