import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Duplex } from "node:stream";
import { AssemblyAiSimulator } from "./assemblyai/assemblyai-simulator.js";
import { CartesiaSimulator } from "./cartesia/cartesia-simulator.js";
import { CertificateAuthority } from "./certificate-authority.js";
import { ControlDesk } from "./control-desk.js";
import { DeepgramSimulator } from "./deepgram/deepgram-simulator.js";
import { EdgeSimulator } from "./edge/edge-simulator.js";
import { ElevenLabsSimulator } from "./elevenlabs/elevenlabs-simulator.js";
import { Exchange, ExchangeAborted } from "./exchange.js";
import { noFaults, type SandboxFaults } from "./faults.js";
import { Journal, type JournalEntry } from "./journal.js";
import { OllamaSimulator } from "./ollama/ollama-simulator.js";
import { OpenAiSimulator } from "./openai/openai-simulator.js";
import { OpenAiSpeechSimulator } from "./openai/openai-speech-simulator.js";
import { type SandboxUrls, urlsAt } from "./sandbox-urls.js";
import { refuseUpgrade, type SandboxContext, type Simulator } from "./simulator.js";
import { converse } from "./telephone/phone-person.js";
import { TwilioSimulator } from "./telephone/twilio-simulator.js";

export interface SandboxOptions {
  readonly host?: string;
  /** Zero, the default, takes any that is free. */
  readonly port?: number;
  readonly faults?: Partial<SandboxFaults>;
  /** The one key that the vendors with keys take; without it any key that is not empty is good. */
  readonly apiKey?: string;
  /** Keeps a journal of requests and events. */
  readonly journal?: boolean;
  /** Serves the vendors with TLS too, on a port of its own: `port + 1`, or any that is free. */
  readonly tls?: boolean;
  /** Called after each entry of the journal, and when a connection has been opened or closed. */
  readonly onChange?: () => void;
}

export interface Sandbox {
  readonly port: number;
  /** With `tls` the vendors' addresses are those with TLS. */
  readonly urls: SandboxUrls;
  /** PEM of the authority that signed the vendors' certificate; with `tls` only. */
  readonly caCertificate: string | undefined;
  readonly faults: SandboxFaults;
  readonly journal: readonly JournalEntry[];
  readonly openConnections: number;
  close(): Promise<void>;
}

const SERVER_OPTIONS = { keepAliveTimeout: 60_000 };

/** Starts all simulated vendors on one port, and with `tls` on a second one. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { host = "127.0.0.1", port = 0, onChange = () => undefined } = options;
  const journal = new Journal(options.journal ?? false, onChange);
  const faults = Object.assign(noFaults(), options.faults);
  const context: SandboxContext = { faults, journal, apiKey: options.apiKey };
  const sockets = new Set<Duplex>();
  const routes = routesOf(context);
  const desk = new ControlDesk(context, () => sockets.size);
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
      await Promise.all(servers.map(closed));
    },
  };
}

type Routes = [prefix: string, simulator: Simulator][];

/** The first prefix that fits wins: speech stands before the rest of OpenAI. */
function routesOf(context: SandboxContext): Routes {
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
    ["/twilio", new TwilioSimulator({ ...context, talk: converse })],
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
    if (error instanceof ExchangeAborted) return;
    console.error("a simulator failed", error);
    if (exchange.hasStarted) exchange.disconnect();
    else exchange.answerJson(500, { error: "the simulator failed" });
  });
}

function upgrade(routes: Routes, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const [simulator, url] = find(routes, request.url ?? "/") ?? [];
  // The other side may reset the connection at any time; there is nobody to tell.
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
