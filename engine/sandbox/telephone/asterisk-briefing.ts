import { randomUUID } from "node:crypto";
import { WebSocket } from "ws";
import type { QuestionReply } from "./phone-api-documents.js";

export interface AsteriskBriefing {
  /** The address of the answer; the stream is at the same server. */
  readonly answerUrl: string;
  readonly token: string;
  readonly asked: string;
  readonly channelId: string;
  readonly reply: QuestionReply;
}

/** The path of `[parley-briefing]` in websocket_client.conf, as deploy/asterisk/start.sh writes it. */
const PATH = "/ws/telephony/briefing/asterisk";

/**
 * Dials `WebSocket/parley-briefing` as Asterisk's chan_websocket does, in its plain form, and presses the person's key when the server's
 * mark is reached. Resolves with the sound, in µ-law, when the stream is over; with nothing if the server cannot be reached.
 */
export function hearBriefing(
  { answerUrl, token, asked, channelId, reply }: AsteriskBriefing,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const url = new URL(answerUrl.replace(/\/api\/.*$/, PATH).replace(/^http/, "ws"));
  url.search = new URLSearchParams({ token, asked }).toString();
  const socket = new WebSocket(url, "media", { perMessageDeflate: false });
  const pieces: Uint8Array[] = [];
  const hangUp = () => socket.terminate();
  signal.addEventListener("abort", hangUp, { once: true });
  socket.on("error", () => undefined);
  socket.on("open", () => {
    const ids = `connection_id:${randomUUID()} channel:WebSocket/parley-briefing/0x1`;
    socket.send(
      `MEDIA_START ${ids} channel_id:${channelId} format:ulaw optimal_frame_size:160 ptime:20`,
    );
  });
  socket.on("message", (data: Buffer, isBinary) => {
    if (isBinary) return void pieces.push(data);
    const [command, id] = data.toString().split(" ");
    if (command === "HANGUP") return socket.close(1000);
    if (command !== "MARK_MEDIA") return;
    socket.send(`MEDIA_MARK_PROCESSED ${id}`);
    const { digits } = reply;
    if (digits !== undefined) socket.send(`DTMF_END digit:${digits} channel_id:${channelId}`);
  });
  return new Promise((resolve) => {
    socket.on("close", () => {
      signal.removeEventListener("abort", hangUp);
      resolve(Buffer.concat(pieces));
    });
  });
}
