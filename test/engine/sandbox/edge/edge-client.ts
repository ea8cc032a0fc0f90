import { WebSocket } from "ws";
import {
  EDGE_TRUSTED_CLIENT_TOKEN,
  edgeToken,
} from "../../../../engine/sandbox/edge/edge-simulator.js";

export const REQUEST_ID = "0123456789abcdef0123456789abcdef";
const MP3 = "audio-24khz-48kbitrate-mono-mp3";

export function edgeUrl(base: string, change: Record<string, string> = {}): string {
  const url = new URL(base);
  const query = {
    TrustedClientToken: EDGE_TRUSTED_CLIENT_TOKEN,
    ConnectionId: REQUEST_ID,
    "Sec-MS-GEC": edgeToken(Date.now()),
    "Sec-MS-GEC-Version": "1-143.0.3650.75",
    ...change,
  };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}

export function configFrame(format = MP3, wordBoundaries = "false"): string {
  const audio = {
    metadataoptions: { sentenceBoundaryEnabled: "false", wordBoundaryEnabled: wordBoundaries },
    outputFormat: format,
  };
  const body = JSON.stringify({ context: { synthesis: { audio } } });
  return `X-Timestamp:now\r\nContent-Type:application/json; charset=utf-8\r\nPath:speech.config\r\n\r\n${body}`;
}

export function ssmlFrame(escapedText: string, rate = "+0%", requestId = REQUEST_ID): string {
  const prosody = `<prosody pitch='+0Hz' rate='${rate}' volume='+0%'>${escapedText}</prosody>`;
  const voice = `<voice name='en-US-AriaNeural'>${prosody}</voice>`;
  const speak = `<speak version='1.0' xmlns='http://www.w3.org/2001/10/synthesis' xml:lang='en-US'>${voice}</speak>`;
  return `X-RequestId:${requestId}\r\nContent-Type:application/ssml+xml\r\nX-Timestamp:nowZ\r\nPath:ssml\r\n\r\n${speak}`;
}

export interface EdgeAnswer {
  /** `turn.start`, `response`, `audio` with its length, and so on, in order. */
  readonly story: readonly string[];
  readonly mp3: Buffer;
  readonly closeCode: number | undefined;
}

/** Sends the frames and reads until this many turns have ended or the socket closes. */
export async function edgeConversation(
  url: string,
  frames: readonly string[],
  turns = 1,
): Promise<EdgeAnswer> {
  const socket = new WebSocket(url);
  const story: string[] = [];
  const audio: Buffer[] = [];
  let ended = 0;
  const closeCode = await new Promise<number | undefined>((resolve, reject) => {
    socket.on("error", reject);
    socket.on("open", () => {
      for (const frame of frames) socket.send(frame);
    });
    socket.on("close", (code) => resolve(code));
    socket.on("message", (data: Buffer, isBinary) => {
      const headerLength = isBinary ? data.readUInt16BE(0) : 0;
      const header = isBinary
        ? data.toString("ascii", 2, 2 + headerLength)
        : data.toString("utf8").split("\r\n\r\n", 1).join("");
      const path = /Path:([\w.]+)/.exec(header)?.[1] ?? "?";
      if (isBinary) {
        const bytes = data.subarray(2 + headerLength);
        audio.push(bytes);
        const type = header.includes("Content-Type:audio/mpeg") ? "mpeg" : "last";
        story.push(`${path} ${type} ${bytes.length}`);
        if (!header.endsWith("Path:audio\r\n")) reject(new Error(`wrong header: ${header}`));
      } else story.push(path);
      if (path === "turn.end") ended += 1;
      if (ended === turns) resolve(undefined);
    });
  });
  socket.terminate();
  return { story, mp3: Buffer.concat(audio), closeCode };
}
