import assert from "node:assert/strict";
import { test } from "node:test";
import {
  announce,
  banner,
  type OperatorSettings,
  type StartedServer,
} from "../../../api/start-up/announcement.js";
import { VERSION } from "../../../engine/version.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";

const SETTINGS: OperatorSettings = {
  host: "0.0.0.0",
  publicBaseUrl: "https://voice.example.com",
  dataDir: "/var/lib/parley",
  trustedProxies: ["10.0.0.1"],
  webhookKeys: {
    twilio: "key",
    signalwire: "key",
    plivo: "key",
    telnyx: "key",
    vonage: "key",
    jambonz: "key",
  },
};
const SERVER: StartedServer = {
  port: 8080,
  usesSandbox: false,
  configured: {
    llm: { withKey: ["openai", "groq"], withoutKey: ["ollama"] },
    tts: { withKey: ["openai"], withoutKey: ["edge"] },
    stt: { withKey: ["deepgram"], withoutKey: [] },
  },
  demo: undefined,
};
const NO_VENDORS: StartedServer["configured"] = {
  llm: { withKey: [], withoutKey: ["ollama"] },
  tts: { withKey: [], withoutKey: ["edge"] },
  stt: { withKey: [], withoutKey: [] },
};
test("in production one line says what started, and where", () => {
  const log = new RecordingLogger();
  announce(SETTINGS, SERVER, log);
  assert.deepEqual(log.lines, [
    {
      level: "info",
      fields: {
        version: VERSION,
        node: process.version,
        dataDir: "/var/lib/parley",
        publicBaseUrl: "https://voice.example.com",
        sandbox: "off",
        vendors: { llm: "openai, groq, ollama", tts: "openai, edge", stt: "deepgram" },
      },
      message: `Parley ${VERSION} listens on http://0.0.0.0:8080`,
    },
  ]);
});

test("what is missing has a line each, as a warning where calls need it", () => {
  const log = new RecordingLogger();
  const settings = { ...SETTINGS, publicBaseUrl: undefined, trustedProxies: [] };
  const webhookKeys = { ...SETTINGS.webhookKeys, signalwire: undefined, telnyx: undefined };
  announce({ ...settings, webhookKeys }, { ...SERVER, configured: NO_VENDORS }, log);
  const [, ...missing] = log.lines.map(({ level, message }) => `${level} ${message}`);
  assert.deepEqual(missing, [
    "warn no STT is configured: only agents with their organization's own STT provider can take calls; set DEEPGRAM_API_KEY",
    "warn no hosted LLM is configured: agents need Ollama at OLLAMA_BASE_URL; set OPENAI_API_KEY or GROQ_API_KEY",
    "warn no hosted TTS is configured: agents use Edge, which has no service guarantee; set OPENAI_API_KEY or ELEVENLABS_API_KEY",
    "info not set: PUBLIC_BASE_URL; webhooks use the address in the request's Host header, and agents cannot place calls",
    "info not set: TRUSTED_PROXIES; behind a proxy, the limits by address count all clients as one",
    "info not set: SIGNALWIRE_SIGNING_KEY, TELNYX_PUBLIC_KEY; webhooks of signalwire, telnyx are accepted without a signature",
  ]);
});

test("a developer gets a banner with the version and the first call", () => {
  const demo = { email: "demo@localhost" };
  const settings = { ...SETTINGS, publicBaseUrl: undefined, dataDir: "data" };
  const sandboxUrl = "http://127.0.0.1:9100/sandbox";
  const server = { ...SERVER, usesSandbox: true, sandboxUrl, configured: NO_VENDORS, demo };
  const text = banner(settings, server);
  assert.deepEqual(text.trim().split("\n"), [
    "Parley listens on http://127.0.0.1:8080",
    "  network     other machines reach it, too (HOST=0.0.0.0)",
    `  version     ${VERSION}, Node ${process.version}`,
    "  vendors     simulated, since no vendor key is set",
    "  data        data",
    "  console     http://127.0.0.1:8080/console",
    "  API         http://127.0.0.1:8080/api/docs",
    "  sandbox     http://127.0.0.1:9100/sandbox/faults",
    "  first call  npm run call",
    "  telephone   npm run call -- --phone",
    "  demo user   demo@localhost, password and API key in data/demo.json",
  ]);
});

test("a server for its own machine names one address, and behind a proxy both", () => {
  const alone = banner({ ...SETTINGS, host: "::1", publicBaseUrl: undefined }, SERVER);
  assert.match(alone, /^\nParley listens on http:\/\/\[::1\]:8080\n {2}version/);
  const proxied = banner({ ...SETTINGS, host: "127.0.0.1" }, SERVER);
  assert.deepEqual(proxied.trim().split("\n").slice(0, 2), [
    "Parley listens on http://127.0.0.1:8080",
    "  public      https://voice.example.com",
  ]);
});

test("the commands of the banner find data in another folder, from a terminal of their own", () => {
  const demo = { email: "demo@localhost" };
  const settings = { ...SETTINGS, publicBaseUrl: undefined, dataDir: "/srv/parley" };
  const text = banner(settings, { ...SERVER, usesSandbox: true, configured: NO_VENDORS, demo });
  assert.match(text, /^ {2}first call {2}DATA_DIR=\/srv\/parley npm run call$/m);
  assert.match(text, /^ {2}telephone {3}DATA_DIR=\/srv\/parley npm run call -- --phone$/m);
});

test("with real vendors the first call is a person's: npm run call speaks in tones", () => {
  const text = banner(SETTINGS, { ...SERVER, demo: { email: "demo@localhost" } });
  assert.match(text, /first call {2}open the console, press Talk and speak/);
  assert.doesNotMatch(text, /npm run call/);
});

test("a developer with keys sees which vendors are used, and what is missing", () => {
  const { llm, tts } = SERVER.configured;
  const configured = { ...NO_VENDORS, llm, tts };
  const lines = banner(SETTINGS, { ...SERVER, configured })
    .trim()
    .split("\n");
  assert.equal(lines[4], "  vendors     STT: none; LLM: openai, groq, ollama; TTS: openai, edge");
  assert.match(lines.at(-1) ?? "", /^ {2}missing {5}no STT is configured/);
});

test("a recognizer at home, which has no key, is one", () => {
  const stt = { withKey: [], withoutKey: ["whisper"] };
  const text = banner(SETTINGS, { ...SERVER, configured: { ...SERVER.configured, stt } });
  assert.match(text, /STT: whisper;/);
  assert.doesNotMatch(text, /missing/);
});
