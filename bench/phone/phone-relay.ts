import * as v from "valibot";
import { WebSocket } from "ws";
import { answer, heardIn, openRecognizer, serveRelay, type Voice } from "../load/relay-parts.js";

/**
 * The least that can be in the same place on a telephone leg: Twilio's frames to the recognizer, its words to the
 * model, the first sentence to a voice that speaks µ-law, its audio back in paced frames. It has no tenants, history,
 * storage, limits, faults, metrics or marks: what Parley costs more is the price of these.
 */
const Environment = v.object({
  DEEPGRAM_URL: v.string(),
  OPENAI_BASE_URL: v.string(),
  ELEVENLABS_BASE_URL: v.string(),
});
const { DEEPGRAM_URL, OPENAI_BASE_URL, ELEVENLABS_BASE_URL } = v.parse(Environment, process.env);

const VOICE: Voice = {
  url: `${ELEVENLABS_BASE_URL}/v1/text-to-speech/21m00Tcm4TlvDq8ikWAM/stream?output_format=ulaw_8000`,
  bodyOf: (text) => ({ text, model_id: "eleven_flash_v2_5" }),
};
const FRAME_BYTES = 160;
const FRAME_MS = 20;
const SEND_AHEAD_MS = 160;

const FromPhone = v.variant("event", [
  v.object({ event: v.literal("start"), streamSid: v.string() }),
  v.object({ event: v.literal("media"), media: v.object({ payload: v.string() }) }),
]);

/** Sends audio in frames of 20 ms, a little ahead of what is heard, with a timer of its own. */
class PacedSpeech {
  streamSid = "";
  readonly #phone: WebSocket;
  #audio: Buffer = Buffer.alloc(0);
  #nextMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(phone: WebSocket) {
    this.#phone = phone;
  }

  play(audio: Buffer): void {
    this.#audio = Buffer.concat([this.#audio, audio]);
    this.#nextMs = Math.max(this.#nextMs, performance.now());
    this.#timer ??= setInterval(() => this.#sendDue(), FRAME_MS);
    this.#sendDue();
  }

  /** Whether there was anything to stop. */
  stop(): boolean {
    const wasPlaying = this.#nextMs > performance.now();
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#audio = Buffer.alloc(0);
    this.#nextMs = 0;
    if (wasPlaying) this.#send({ event: "clear", streamSid: this.streamSid });
    return wasPlaying;
  }

  #sendDue(): void {
    while (this.#audio.length > 0 && this.#nextMs < performance.now() + SEND_AHEAD_MS) {
      const payload = this.#audio.subarray(0, FRAME_BYTES).toString("base64");
      this.#send({ event: "media", streamSid: this.streamSid, media: { payload } });
      this.#audio = this.#audio.subarray(FRAME_BYTES);
      this.#nextMs += FRAME_MS;
    }
    if (this.#audio.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #send(message: object): void {
    if (this.#phone.readyState === WebSocket.OPEN) this.#phone.send(JSON.stringify(message));
  }
}

function relay(phone: WebSocket): void {
  const recognizer = openRecognizer(DEEPGRAM_URL, "encoding=mulaw&sample_rate=8000");
  const speech = new PacedSpeech(phone);
  let stop = () => {};
  recognizer.on("message", (data: Buffer) => {
    const { text, isFinal } = heardIn(data);
    if (text === "") return;
    if (speech.stop()) stop();
    if (!isFinal) return;
    stop = answer(OPENAI_BASE_URL, VOICE, text, (mulaw) => {
      if (mulaw !== undefined) speech.play(mulaw);
    });
  });
  recognizer.on("error", () => phone.close());
  recognizer.on("close", () => phone.close());
  phone.on("message", (data: Buffer) => {
    const message = v.safeParse(FromPhone, JSON.parse(data.toString("utf8")));
    if (!message.success) return;
    if (message.output.event === "start") speech.streamSid = message.output.streamSid;
    else if (recognizer.readyState === WebSocket.OPEN) {
      recognizer.send(Buffer.from(message.output.media.payload, "base64"));
    }
  });
  phone.on("error", () => undefined);
  phone.on("close", () => {
    stop();
    speech.stop();
    recognizer.close();
  });
}

serveRelay(relay);
