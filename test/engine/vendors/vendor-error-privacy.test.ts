import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { inspect } from "node:util";
import { WebSocketServer } from "ws";
import { MP3, PCM_16K } from "../../../engine/audio/audio-format.js";
import { loggedError } from "../../../engine/log.js";
import { SystemClock } from "../../../engine/time/clock.js";
import { VendorError } from "../../../engine/vendors/contracts.js";
import { languageModel, speechToText, textToSpeech } from "../../../engine/vendors/registry.js";
import { Connections } from "../../../engine/vendors/transport/connections.js";
import { VENDORS } from "../../../engine/vendors/vendors.js";
import { RecordingListener } from "./recording-listener.js";
import { never } from "./sandboxed-vendors.js";

const SPOKEN = "zanzibar quagga +4915112345678";
const QUOTE = `cannot take "${SPOKEN}"`;

const SOCKET_VENDORS: ReadonlySet<string> = new Set(["deepgram", "assemblyai"]);

/** Everything in which a vendor may repeat what it was sent. */
const ERROR = { message: QUOTE, type: SPOKEN, code: SPOKEN, param: `messages.${SPOKEN}` };
const BODIES: readonly string[] = [
  JSON.stringify({ error: ERROR }),
  JSON.stringify([{ error: ERROR }]),
  JSON.stringify({ error: QUOTE, error_code: SPOKEN, title: QUOTE, message: QUOTE }),
  JSON.stringify({ error: { code: "zanzibar", param: "quagga", message: QUOTE } }),
  JSON.stringify({ detail: QUOTE }),
  JSON.stringify({ detail: { status: SPOKEN, code: "zanzibar", message: QUOTE } }),
  JSON.stringify({ detail: [{ type: SPOKEN, loc: ["body", SPOKEN], msg: QUOTE, input: SPOKEN }] }),
  JSON.stringify({ err_code: SPOKEN, err_msg: QUOTE }),
  QUOTE,
];
/** What comes within an answer that had begun well, and as messages of a socket. */
const MESSAGES: readonly string[] = [
  ...BODIES,
  JSON.stringify({ type: "Error", code: SPOKEN, description: QUOTE, error: QUOTE }),
  JSON.stringify({ type: "Error", error_code: 4029, error: QUOTE }),
  JSON.stringify({ type: "error", error_code: "zanzibar", title: QUOTE, status_code: 400 }),
];

const REQUEST = {
  modelId: "m",
  messages: [{ role: "user", content: SPOKEN }],
  temperature: 0,
  maxTokens: 9,
} as const;
const SPEECH = { text: SPOKEN, modelId: "m", speed: 1, language: "en", format: MP3 } as const;
const HEARD = { language: "en-US", modelId: "nova-3", format: PCM_16K, endpointingMs: 200 };

test("no error of a vendor repeats what the vendor repeats, in its message, its causes or its log line", async (context) => {
  let status = 400;
  let body = "";
  let message = "";
  const server = createServer((_request, response) => {
    if (status === 0) {
      // Not HTTP: the parser's error carries what was received.
      response.socket?.end(`${QUOTE}\r\n\r\n`);
      return;
    }
    const headers = { "dg-error": QUOTE, "x-request-id": QUOTE };
    response.writeHead(status, headers).end(body);
  });
  const sockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request, socket, head) => {
    socket.on("error", () => undefined);
    if (message === "") {
      socket.end(
        `HTTP/1.1 400 No\r\ndg-error: ${QUOTE}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
      );
      return;
    }
    sockets.handleUpgrade(request, socket, head, (peer) => {
      peer.on("error", () => undefined);
      peer.send(message);
      peer.close(1008, QUOTE);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  assert.ok(address !== null && typeof address === "object");
  const clock = new SystemClock();
  const connections = new Connections({ clock, allowPrivateAddresses: false });
  context.after(async () => {
    await connections.close();
    server.closeAllConnections();
    server.close();
  });
  const givenTo = (key: string) => ({
    baseUrl: `${SOCKET_VENDORS.has(key) ? "ws" : "http"}://127.0.0.1:${address.port}`,
    apiKey: "secret-key",
    settings: { region: "eu", voiceId: "v" },
    clientOwned: false,
  });
  const parts = { clock, connections };
  let count = 0;
  const look = (what: string, error: unknown): void => {
    if (error === undefined) return;
    assert.ok(error instanceof VendorError, what);
    count += 1;
    const written = [
      inspect(error, { depth: 20, showHidden: true }),
      JSON.stringify(loggedError(error)),
      String(error.requestId),
    ].join("\n");
    assert.doesNotMatch(written, /zanzibar|quagga|4915112345678|secret-key/i, what);
  };
  /** The first error of a recognizer that opens, or undefined where it cannot fail before it hears a voice. */
  const heard = async (key: string): Promise<unknown> => {
    const changes = new RecordingListener();
    let told: ((error: VendorError) => void) | undefined;
    const failure = new Promise<VendorError>((resolve) => {
      told = resolve;
    });
    changes.onLost = (error) => told?.(error);
    changes.onFailed = (error) => told?.(error);
    const stream = await speechToText(key, givenTo(key), parts).open(HEARD, changes, never());
    const isSocket = message !== "" && SOCKET_VENDORS.has(key);
    const error = isSocket ? await failure : undefined;
    stream.close();
    return error;
  };
  const caught = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      (value) => value,
      (error: unknown) => error,
    );
  for (const vendor of VENDORS) {
    if (vendor.key === "edge") continue;
    const asked: [string, () => Promise<unknown>][] = [];
    const { key } = vendor;
    if (vendor.llm !== undefined)
      asked.push([
        `${key} llm`,
        () =>
          languageModel(key, givenTo(key), parts)
            .complete(REQUEST, () => undefined, never())
            .then(() => undefined),
      ]);
    if (vendor.tts !== undefined)
      asked.push([
        `${key} tts`,
        () =>
          textToSpeech(key, givenTo(key), parts)
            .synthesize(SPEECH, () => undefined, never())
            .then(() => undefined),
      ]);
    if (vendor.stt !== undefined) asked.push([`${key} stt`, () => heard(key)]);
    for (const [what, ask] of asked) {
      message = "";
      for (const answer of [400, 401, 404, 422, 429, 500, 0]) {
        for (const each of answer === 0 ? [""] : BODIES) {
          [status, body] = [answer, each];
          look(`${what} ${answer} ${each}`, await caught(ask()));
        }
      }
      status = 200;
      for (const each of MESSAGES) {
        message = each;
        body = `data: ${each}\n\n${each}\n`;
        look(`${what} ${each}`, await caught(ask()));
      }
    }
  }
  assert.ok(count > 500, `${count} errors`);
});
