import { generateKeyPair, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { promisify } from "node:util";
import forge from "node-forge";
import * as v from "valibot";
import { AssemblyAiSimulator } from "./assemblyai/assemblyai-simulator.js";
import { CartesiaSimulator } from "./cartesia/cartesia-simulator.js";
import { DeepgramSimulator } from "./deepgram/deepgram-simulator.js";
import { EdgeSimulator } from "./edge/edge-simulator.js";
import { ElevenLabsSimulator } from "./elevenlabs/elevenlabs-simulator.js";
import { Exchange, ExchangeAbortedError } from "./exchange.js";
import { FaultsPatch, noFaults, type SandboxFaults } from "./faults.js";
import { Journal, type JournalEntry } from "./journal.js";
import { OllamaSimulator } from "./ollama/ollama-simulator.js";
import { OpenAiSimulator } from "./openai/openai-simulator.js";
import { OpenAiSpeechSimulator } from "./openai/openai-speech-simulator.js";
import { type SandboxUrls, urlsAt } from "./sandbox-urls.js";
import { refuseUpgrade, type SandboxContext, type Simulator } from "./simulator.js";
import { useSpokenVoice } from "./sound/simulated-voice.js";
import { SpeechThread } from "./sound/speech-thread-client.js";
import { PhoneApiSimulator } from "./telephone/phone-api-simulator.js";
import { PhonePeople } from "./telephone/phone-person.js";
import { TwilioSimulator } from "./telephone/twilio-simulator.js";

/** More than anybody types at once. */
const TYPED_CHARACTERS_MAX = 1_000;
const PersonOrder = v.union([
  /** The next call to the number is answered by a person whose words are typed. */
  v.strictObject({ number: v.pipe(v.string(), v.maxLength(32)) }),
  v.strictObject({
    callSid: v.pipe(v.string(), v.maxLength(64)),
    text: v.pipe(v.string(), v.maxLength(TYPED_CHARACTERS_MAX)),
  }),
]);

/** `/sandbox/…`: the settings, the journal and the people who answer, for other processes. */
export class ControlServer implements Simulator {
  readonly #context: SandboxContext;
  readonly #people: PhonePeople;
  readonly #countConnections: () => number;
  urls: SandboxUrls | undefined;

  constructor(context: SandboxContext, people: PhonePeople, countConnections: () => number) {
    this.#context = context;
    this.#people = people;
    this.#countConnections = countConnections;
  }

  async handleRequest(exchange: Exchange): Promise<void> {
    const { faults, journal } = this.#context;
    switch (`${exchange.request.method} ${exchange.url.pathname}`) {
      case "GET /":
        exchange.answerJson(200, { urls: this.urls, openConnections: this.#countConnections() });
        return;
      case "GET /faults":
        exchange.answerJson(200, faults);
        return;
      case "PUT /faults":
        await this.#change(exchange);
        return;
      case "GET /journal":
        exchange.answerJson(200, journal.entries);
        return;
      case "DELETE /journal":
        journal.clear();
        exchange.answerJson(200, { success: true });
        return;
      case "POST /people":
        await this.#orderPerson(exchange);
        return;
      default:
        exchange.answerJson(404, { error: "faults, journal or people?" });
    }
  }

  async #orderPerson(exchange: Exchange): Promise<void> {
    const order = v.safeParse(PersonOrder, await exchange.readJson());
    if (!order.success) {
      exchange.answerJson(400, { error: "expected a number, or a callSid and a text" });
    } else if ("number" in order.output) {
      this.#people.expectTyping(order.output.number);
      exchange.answerJson(200, { success: true });
    } else if (this.#people.say(order.output.callSid, order.output.text)) {
      exchange.answerJson(200, { success: true });
    } else exchange.answerJson(404, { error: "no person in that call says what is typed" });
  }

  async #change(exchange: Exchange): Promise<void> {
    const patch = v.safeParse(FaultsPatch, await exchange.readJson());
    if (!patch.success) {
      const [issue] = patch.issues;
      exchange.answerJson(400, { error: `${v.getDotPath(issue) ?? "body"}: ${issue.message}` });
      return;
    }
    Object.assign(this.#context.faults, patch.output);
    exchange.answerJson(200, this.#context.faults);
  }
}

const KEY_BITS = 2048;
const SERIAL_BYTES = 15;
const DAY_MS = 24 * 3_600_000;
/** Long enough for any run, and too short to be relied on. */
const VALID_DAYS = 30;

/** PEM texts of a server's key and of its certificate. */
export interface ServerIdentity {
  readonly key: string;
  readonly cert: string;
}

interface KeyPair {
  readonly publicKey: string;
  readonly privateKey: string;
}

/** Signs certificates for servers on this machine. Created for each sandbox; its key is not stored. */
export class CertificateAuthority {
  /** PEM; with it a client trusts every certificate of this authority, and no other. */
  readonly certificate: string;
  readonly #key: forge.pki.rsa.PrivateKey;
  readonly #nowMs: number;
  readonly #name: forge.pki.CertificateField[];

  static async create(nowMs = Date.now()): Promise<CertificateAuthority> {
    return new CertificateAuthority(await newKeyPair(), nowMs);
  }

  private constructor(keys: KeyPair, nowMs: number) {
    this.#nowMs = nowMs;
    this.#key = forge.pki.privateKeyFromPem(keys.privateKey);
    // Two authorities with one name would be confused, and the error would be a wrong signature
    // instead of an unknown issuer.
    this.#name = nameOf(`Parley sandbox ${randomBytes(4).toString("hex")}`);
    this.certificate = this.#sign(keys.publicKey, this.#name, [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", keyCertSign: true, critical: true },
      { name: "subjectKeyIdentifier" },
    ]);
  }

  /** `hosts`: the names and IP addresses that the certificate is valid for. */
  async identityFor(hosts: readonly string[]): Promise<ServerIdentity> {
    const { publicKey, privateKey } = await newKeyPair();
    const cert = this.#sign(publicKey, nameOf("Parley sandbox's vendors"), [
      { name: "basicConstraints", cA: false, critical: true },
      { name: "keyUsage", digitalSignature: true, critical: true },
      { name: "extKeyUsage", serverAuth: true },
      { name: "subjectAltName", altNames: hosts.map(alternativeName) },
    ]);
    return { key: privateKey, cert };
  }

  #sign(publicKey: string, subject: forge.pki.CertificateField[], extensions: object[]): string {
    const certificate = forge.pki.createCertificate();
    certificate.publicKey = forge.pki.publicKeyFromPem(publicKey);
    // A leading zero bit keeps the number positive, as X.509 requires.
    certificate.serialNumber = `01${randomBytes(SERIAL_BYTES).toString("hex")}`;
    certificate.validity.notBefore = new Date(this.#nowMs - DAY_MS);
    certificate.validity.notAfter = new Date(this.#nowMs + VALID_DAYS * DAY_MS);
    certificate.setSubject(subject);
    certificate.setIssuer(this.#name);
    certificate.setExtensions(extensions);
    certificate.sign(this.#key, forge.md.sha256.create());
    return forge.pki.certificateToPem(certificate);
  }
}

function nameOf(value: string): forge.pki.CertificateField[] {
  return [{ name: "commonName", value }];
}

/** The kinds are those of RFC 5280, section 4.2.1.6. */
function alternativeName(host: string): object {
  return isIP(host) === 0 ? { type: 2, value: host } : { type: 7, ip: host };
}

function newKeyPair(): Promise<KeyPair> {
  return promisify(generateKeyPair)("rsa", {
    modulusLength: KEY_BITS,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
}

export type SandboxVoice = "tones" | "speech";

export interface SandboxOptions {
  readonly host?: string;
  /** Zero, the default, chooses a free one. */
  readonly port?: number;
  readonly faults?: Partial<SandboxFaults>;
  /** The one key that vendors with keys accept; without it any non-empty key is accepted. */
  readonly apiKey?: string;
  /** Keeps a journal of requests and events. */
  readonly journal?: boolean;
  /** Serves the vendors with TLS too, on a separate port: `port + 1`, or a free one. */
  readonly tls?: boolean;
  /** `speech`: all simulated TTS speaks English, if the optional package is installed; otherwise in tones. */
  readonly voice?: SandboxVoice;
  /** Called after each entry of the journal, and when a connection has been opened or closed. */
  readonly onChange?: () => void;
}

export interface Sandbox {
  readonly port: number;
  /** With `tls` the vendors' addresses use TLS. */
  readonly urls: SandboxUrls;
  /** PEM of the authority that signed the vendors' certificate; with `tls` only. */
  readonly caCertificate: string | undefined;
  readonly faults: SandboxFaults;
  readonly journal: readonly JournalEntry[];
  readonly openConnections: number;
  close(): Promise<void>;
}

/** The message of a sandbox's thread when it listens. */
export type SandboxAddresses = Pick<Sandbox, "urls" | "caCertificate">;

const SERVER_OPTIONS = { keepAliveTimeout: 60_000 };

/** Starts all simulated vendors on one port, and with `tls` on a second one. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { host = "127.0.0.1", port = 0, onChange = () => undefined } = options;
  const journal = new Journal(options.journal ?? false, onChange);
  const faults = Object.assign(noFaults(), options.faults);
  const context: SandboxContext = { faults, journal, apiKey: options.apiKey };
  const sockets = new Set<Duplex>();
  const speech =
    options.voice === "speech" ? await SpeechThread.start((text) => console.warn(text)) : undefined;
  if (speech !== undefined) useSpokenVoice(speech);
  const people = new PhonePeople();
  const routes = routesOf(context, people);
  const desk = new ControlServer(context, people, () => sockets.size);
  routes.push(["/sandbox", desk]);
  const authority = options.tls === true ? await CertificateAuthority.create() : undefined;
  const servers: Server[] = [];
  const open = async (server: Server, at: number): Promise<string> => {
    server.on("connection", (socket: Duplex) => {
      sockets.add(socket);
      onChange();
      socket.on("close", () => {
        sockets.delete(socket);
        onChange();
      });
    });
    server.on("request", (request, response) => serve(routes, request, response));
    server.on("upgrade", (request, socket, head) => upgrade(routes, request, socket, head));
    servers.push(server);
    return `${host}:${await listen(server, host, at)}`;
  };
  const address = await open(createServer(SERVER_OPTIONS), port);
  const identity = await authority?.identityFor([host, "localhost"]);
  const tlsAddress =
    identity === undefined
      ? undefined
      : await open(createTlsServer({ ...SERVER_OPTIONS, ...identity }), port === 0 ? 0 : port + 1);
  const urls = urlsAt(address, tlsAddress);
  desk.urls = urls;
  return {
    port: Number(new URL(`http://${address}`).port),
    urls,
    caCertificate: authority?.certificate,
    faults,
    get journal() {
      return journal.entries;
    },
    get openConnections() {
      return sockets.size;
    },
    async close() {
      for (const [, simulator] of routes) simulator.close?.();
      for (const socket of sockets) socket.destroy();
      if (speech !== undefined) useSpokenVoice(undefined);
      speech?.close();
      await Promise.all(servers.map(closed));
    },
  };
}

/** These simulators open no audio stream, so an answered call ends soon. */
const PLACED_TALK_MS = 10_000;

type Routes = [prefix: string, simulator: Simulator][];

/** The first matching prefix wins: speech comes before the rest of OpenAI. */
function routesOf(context: SandboxContext, people: PhonePeople): Routes {
  const talk: PhonePeople["talk"] = (caller, number) => people.talk(caller, number);
  return [
    ["/deepgram", new DeepgramSimulator(context)],
    ["/openai/v1/audio/speech", new OpenAiSpeechSimulator(context)],
    ["/openai/v1", new OpenAiSimulator(context, "openai")],
    ["/groq/openai/v1", new OpenAiSimulator(context, "groq")],
    ["/compatible/v1/audio/speech", new OpenAiSpeechSimulator({ ...context, isOpen: true })],
    ["/compatible/v1", new OpenAiSimulator({ ...context, isOpen: true }, "openai")],
    ["/assemblyai", new AssemblyAiSimulator(context)],
    ["/cartesia", new CartesiaSimulator(context)],
    ["/ollama", new OllamaSimulator(context)],
    ["/elevenlabs", new ElevenLabsSimulator(context)],
    ["/edge", new EdgeSimulator(context)],
    ["/twilio", new TwilioSimulator({ ...context, talk })],
    ["/signalwire", new PhoneApiSimulator("signalwire", { talkMs: PLACED_TALK_MS })],
    ["/telnyx", new PhoneApiSimulator("telnyx", { talkMs: PLACED_TALK_MS })],
    ["/plivo", new PhoneApiSimulator("plivo", { talkMs: PLACED_TALK_MS })],
    ["/vonage", new PhoneApiSimulator("vonage", { talkMs: PLACED_TALK_MS })],
    ["/jambonz", new PhoneApiSimulator("jambonz", { talkMs: PLACED_TALK_MS })],
    ["/asterisk", new PhoneApiSimulator("asterisk", { talkMs: PLACED_TALK_MS })],
  ];
}

function find(routes: Routes, target: string): [Simulator, URL] | undefined {
  const [path = "", query = ""] = target.split(/\?(.*)/s, 2);
  const route = routes.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`));
  if (route === undefined) return undefined;
  return [route[1], new URL(`http://sandbox${path.slice(route[0].length)}?${query}`)];
}

function serve(routes: Routes, request: IncomingMessage, response: ServerResponse): void {
  const [simulator, url] = find(routes, request.url ?? "/") ?? [];
  const exchange = new Exchange(request, response, url ?? new URL("http://sandbox/"));
  if (simulator?.handleRequest === undefined) {
    exchange.answerJson(404, { error: "the sandbox has nothing here" });
    return;
  }
  simulator.handleRequest(exchange).catch((error: unknown) => {
    if (error instanceof ExchangeAbortedError) return;
    console.error("a simulator failed", error);
    if (exchange.hasStarted) exchange.disconnect();
    else exchange.answerJson(500, { error: "the simulator failed" });
  });
}

function upgrade(routes: Routes, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const [simulator, url] = find(routes, request.url ?? "/") ?? [];
  // The other side may reset the connection at any time; no report is needed.
  socket.on("error", () => undefined);
  if (simulator?.handleUpgrade === undefined || url === undefined) {
    refuseUpgrade({ request, socket, head, url: new URL("http://sandbox/") }, 404, "");
  } else simulator.handleUpgrade({ request, socket, head, url });
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

async function listen(server: Server, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the sandbox has no port");
  return address.port;
}
