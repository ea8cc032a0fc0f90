/** The message format of the Edge read-aloud service: `Name:Value` lines, an empty line, a body. */
export interface EdgeMessage {
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** The id of a connection or a request: clients write it with and without dashes. */
export const EDGE_ID = /^[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}$/i;

/** Header names in lower case. Undefined when there is no empty line. */
export function parseEdgeText(text: string): EdgeMessage | undefined {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const lines = text.slice(0, end).split("\r\n");
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  return { headers, body: text.slice(end + 4) };
}

export function edgeText(requestId: string, path: string, body: object): string {
  const type = "application/json; charset=utf-8";
  return `X-RequestId:${requestId}\r\nContent-Type:${type}\r\nPath:${path}\r\n\r\n${JSON.stringify(body)}`;
}

/** Two bytes of length, the header, the audio. Without audio it is the last frame, which has no Content-Type. */
export function edgeAudio(requestId: string, streamId: string, audio: Uint8Array): Buffer {
  const type = audio.length === 0 ? "" : "Content-Type:audio/mpeg\r\n";
  const header = `X-RequestId:${requestId}\r\n${type}X-StreamId:${streamId}\r\nPath:audio\r\n`;
  const length = Buffer.alloc(2);
  length.writeUInt16BE(header.length);
  return Buffer.concat([length, Buffer.from(header, "ascii"), audio]);
}

export interface SpokenSsml {
  readonly text: string;
  /** The piece of text as it stood in the markup. */
  readonly escapedBytes: number;
  readonly voice: string;
  /** 1 = the voice's own. */
  readonly speed: number;
}

const SSML =
  /^<speak\b[^>]*>\s*<voice\s+name\s*=\s*(['"])(.+?)\1\s*>\s*<prosody\b([^>]*)>([^<]*)<\/prosody>\s*<\/voice>\s*<\/speak>\s*$/s;
const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

/** The speeds of SSML's names for a rate. */
const NAMED_RATES: ReadonlyMap<string, number> = new Map([
  ["x-slow", 0.5],
  ["slow", 0.7],
  ["medium", 1],
  ["default", 1],
  ["fast", 1.4],
  ["x-fast", 2],
]);
const SPEED_MIN = 0.25;

/** Undefined for all that the service refuses: other elements, unescaped text, a rate that is none. */
export function parseSsml(ssml: string): SpokenSsml | undefined {
  const found = SSML.exec(ssml);
  if (found === null) return undefined;
  const [, , voice = "", attributes = "", escaped = ""] = found;
  if (/&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[\da-f]+);)/i.test(escaped)) return undefined;
  const speed = speedOf(/\brate\s*=\s*['"]([^'"]*)['"]/.exec(attributes)?.[1] ?? "default");
  if (speed === undefined) return undefined;
  const text = escaped
    .trim()
    .replace(/&(\w+|#\d+|#x[\da-f]+);/gi, (_, name: string) => entity(name));
  return { text, escapedBytes: Buffer.byteLength(escaped), voice, speed };
}

/** `+10%` is relative, a bare number is a factor, and some rates have names. */
function speedOf(rate: string): number | undefined {
  const isRelative = /^[+-]\d+(?:\.\d+)?%$/.test(rate);
  if (isRelative) return Math.max(SPEED_MIN, 1 + Number.parseFloat(rate) / 100);
  if (/^\d+(?:\.\d+)?$/.test(rate)) return Math.max(SPEED_MIN, Number(rate));
  return NAMED_RATES.get(rate);
}

function entity(name: string): string {
  if (!name.startsWith("#")) return ENTITIES[name.toLowerCase()] ?? "";
  const isHex = name[1]?.toLowerCase() === "x";
  const codePoint = Number.parseInt(name.slice(isHex ? 2 : 1), isHex ? 16 : 10);
  return codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : "\uFFFD";
}
