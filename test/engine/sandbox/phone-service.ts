import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { type WebSocket, WebSocketServer } from "ws";
import { decodeMuLaw, encodeMuLaw } from "../../../engine/sandbox/telephone/telephone-audio.js";
import { encodeSpeech, ToneDecoder } from "../../../engine/sandbox/telephone/tone-code.js";
import { StreamTokens } from "../../../engine/security/stream-token.js";
import type { PhoneEvent, PhoneWire } from "../../../engine/telephony/phone-wire.js";
import { isTwilioSignature } from "../../../engine/telephony/twilio/twilio-signature.js";
import { twilioWire } from "../../../engine/telephony/twilio/twilio-wire.js";
import { sayAndHangUp, twilioConnect } from "../../../engine/telephony/twilio/twiml.js";
import { SystemClock } from "../../../engine/time/clock.js";

export const AUTH_TOKEN = "12345";
const FRAME_BYTES = 160;

/** One call as the service sees it: the true wire on a true socket, and an agent that only hears and repeats. */
export class ServedCall {
  readonly wire: PhoneWire = twilioWire();
  readonly events: PhoneEvent[] = [];
  readonly words: string[] = [];
  readonly socket: WebSocket;
  frames = 0;

  constructor(socket: WebSocket, onEvent: (event: PhoneEvent) => void) {
    this.socket = socket;
    const decoder = new ToneDecoder(8000, { onWord: (word) => this.words.push(word.text) });
    socket.on("message", (data: Buffer, isBinary) => {
      for (const event of this.wire.fromWire(data, isBinary)) {
        if (event.type === "audio") {
          this.frames += 1;
          decoder.write(decodeMuLaw(event.bytes));
        } else this.events.push(event);
        onEvent(event);
      }
    });
    socket.on("close", () => decoder.end());
  }

  send(frames: readonly (string | Uint8Array)[]): void {
    for (const frame of frames) this.socket.send(frame);
  }

  say(words: string): void {
    const speech = encodeMuLaw(encodeSpeech(words, 8000));
    for (let at = 0; at < speech.length; at += FRAME_BYTES) {
      this.send(this.wire.audio(speech.subarray(at, at + FRAME_BYTES)));
    }
  }
}

/** Webhook and media stream of a telephony service, as bare as can be, out of the product's own pure parts. */
export class BarePhoneService {
  readonly #web: Server;
  readonly #sockets: WebSocketServer;
  readonly #tokens = new StreamTokens({ secret: "s".repeat(32), clock: new SystemClock() });
  readonly calls: ServedCall[] = [];
  readonly forms: URLSearchParams[] = [];
  refusal: string | undefined;

  static async start(): Promise<BarePhoneService> {
    const web = createServer();
    web.listen(0, "127.0.0.1");
    await once(web, "listening");
    return new BarePhoneService(web);
  }

  private constructor(web: Server) {
    this.#web = web;
    this.#sockets = new WebSocketServer({
      server: web,
      verifyClient: ({ req }: { req: IncomingMessage }) => this.#isSigned(req, this.streamUrl, []),
    });
    web.on("request", (request, response) => void this.#answer(request, response));
    this.#sockets.on("connection", (socket) => {
      const call = new ServedCall(socket, (event) => {
        if (event.type === "started")
          this.#admit(call, event.parameters["token"] ?? "", event.callId);
      });
      this.calls.push(call);
    });
  }

  get #authority(): string {
    const address = this.#web.address();
    if (address === null || typeof address === "string") throw new Error("not listening");
    return `127.0.0.1:${address.port}`;
  }

  get webhookUrl(): string {
    return `http://${this.#authority}/api/telephony/voice?api_key=k1`;
  }

  get streamUrl(): string {
    return `ws://${this.#authority}/ws/telephony/stream`;
  }

  get lastCall(): ServedCall {
    const call = this.calls.at(-1);
    if (call === undefined) throw new Error("nobody has called");
    return call;
  }

  close(): void {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#sockets.close();
    this.#web.close();
    this.#web.closeAllConnections();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await text(request));
    this.forms.push(form);
    if (!this.#isSigned(request, this.webhookUrl, [...form])) {
      response.writeHead(403).end();
      return;
    }
    const callerRef = form.get("CallSid") ?? "";
    const claims = {
      vendor: "twilio",
      orgId: "org-1",
      agentId: "ag-1",
      callerRef,
      callKey: "",
      attempt: 0,
    };
    const parameters = { token: this.#tokens.mint(claims), agentId: "ag-1" };
    const document =
      this.refusal === undefined
        ? twilioConnect({ url: this.streamUrl, parameters })
        : sayAndHangUp({ text: this.refusal });
    response.writeHead(200, { "content-type": "text/xml" }).end(document);
  }

  #isSigned(request: IncomingMessage, url: string, fields: readonly [string, string][]): boolean {
    const signature = request.headers["x-twilio-signature"];
    if (signature === undefined) return true;
    return isTwilioSignature(AUTH_TOKEN, { url, fields, signature: String(signature) });
  }

  #admit(call: ServedCall, token: string, callerRef: string): void {
    const { refusal } = this.#tokens.redeem(token, { agentId: "ag-1", callerRef });
    if (refusal !== undefined) call.socket.close(4001, refusal);
  }
}
