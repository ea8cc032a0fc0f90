import { escapeXml } from "./edge-text.js";

/** The audio in a binary frame: a two-byte length, a header of that length, and the sound behind it. */
export function audioOf(frame: Uint8Array): Uint8Array | undefined {
  const headerBytes = ((frame[0] ?? 0) << 8) | (frame[1] ?? 0);
  const audioAt = 2 + headerBytes;
  if (frame.length < 2 || frame.length < audioAt) return undefined;
  const header = Buffer.from(frame.buffer, frame.byteOffset + 2, headerBytes).toString("latin1");
  return pathOf(header) === "audio" ? frame.subarray(audioAt) : undefined;
}

/** What a frame is about, for example `turn.end`. */
export function pathOf(frame: string): string | undefined {
  return /^Path:\s*([\w.]+)/im.exec(headerOfFrame(frame))?.[1]?.toLowerCase();
}

export function configFrame(epochMs: number, outputFormat: string): string {
  const metadataoptions = { sentenceBoundaryEnabled: "false", wordBoundaryEnabled: "false" };
  return [
    `X-Timestamp:${timestamp(epochMs)}`,
    "Content-Type:application/json; charset=utf-8",
    "Path:speech.config",
    "",
    JSON.stringify({ context: { synthesis: { audio: { metadataoptions, outputFormat } } } }),
  ].join("\r\n");
}

export interface SsmlTurn {
  readonly requestId: string;
  readonly epochMs: number;
  readonly language: string;
  readonly voice: string;
  readonly pitch: string;
  readonly volume: string;
  /** 1 = the voice's own speed. */
  readonly speed: number;
  /** Escaped already. */
  readonly text: string;
}

export function ssmlFrame(turn: SsmlTurn): string {
  return [
    `X-RequestId:${turn.requestId}`,
    "Content-Type:application/ssml+xml",
    // The stray Z is what the browser sends.
    `X-Timestamp:${timestamp(turn.epochMs)}Z`,
    "Path:ssml",
    "",
    `<speak version='1.0' xmlns='http://www.w3.org/2001/10/synthesis' xml:lang='${escapeXml(turn.language)}'>` +
      `<voice name='${escapeXml(turn.voice)}'>` +
      `<prosody pitch='${turn.pitch}' rate='${rate(turn.speed)}' volume='${turn.volume}'>` +
      `${turn.text}</prosody></voice></speak>`,
  ].join("\r\n");
}

function rate(speed: number): string {
  const percent = Math.round((speed - 1) * 100);
  return `${percent < 0 ? "" : "+"}${percent}%`;
}

/** `Thu Jan 01 2026 12:00:00 GMT+0000 (Coordinated Universal Time)` */
function timestamp(epochMs: number): string {
  const [weekday, day, month, year, time] = new Date(epochMs).toUTCString().split(/,? /);
  return `${weekday} ${month} ${day} ${year} ${time} GMT+0000 (Coordinated Universal Time)`;
}

function headerOfFrame(frame: string): string {
  const end = frame.indexOf("\r\n\r\n");
  return end === -1 ? frame : frame.slice(0, end);
}
