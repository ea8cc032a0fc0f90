import { isIPv4 } from "node:net";
import { THUMBNAIL_FILE } from "./playlist-reader.js";
import type { LiveStream } from "./stream-registry.js";

/** An IPv6 address has eight groups of four hexadecimal digits. */
const IPV6_GROUPS_SHOWN = 3;

export interface StreamViewOptions {
  readonly publicBaseUrl: string | undefined;
  /** Shows a broadcaster's network, not the address. */
  readonly isClientIpMasked: boolean;
  readonly isPrivate: (streamKey: string) => boolean;
}

/** The public view of a stream. */
export class StreamView {
  readonly #baseUrl: string;
  readonly #isClientIpMasked: boolean;
  readonly #isPrivate: (streamKey: string) => boolean;

  constructor({ publicBaseUrl = "", isClientIpMasked, isPrivate }: StreamViewOptions) {
    this.#baseUrl = publicBaseUrl;
    this.#isClientIpMasked = isClientIpMasked;
    this.#isPrivate = isPrivate;
  }

  /** The stream as one JSON object. */
  jsonOf(stream: LiveStream): string {
    const { streamKey, startedAtMs, clientIp = "", qualities, hasThumbnail, viewers } = stream;
    const isPrivate = this.#isPrivate(streamKey);
    const folder = `${this.#baseUrl}/hls/${streamKey}/`;
    return JSON.stringify({
      streamKey,
      startedAt: new Date(startedAtMs).toISOString(),
      clientIp: this.#isClientIpMasked ? maskedAddress(clientIp) : clientIp,
      masterPlaylistUrl: `${folder}master.m3u8`,
      qualities: qualities.map(({ path, ...quality }) => ({ ...quality, url: folder + path })),
      ...(isPrivate ? { private: true } : {}),
      // A private stream's picture is private too.
      ...(hasThumbnail && !isPrivate ? { thumbnailUrl: folder + THUMBNAIL_FILE } : {}),
      ...(viewers === undefined ? {} : { viewers }),
    });
  }
}

/** The first 24 bits of an IPv4 address, the first 48 of an IPv6 address. */
export function maskedAddress(address: string): string {
  if (isIPv4(address)) return address.replace(/\d+$/, "0");
  if (address === "") return "";
  const [head = "", tail] = address.split("::");
  const front = head === "" ? [] : head.split(":");
  const isShort = tail !== undefined && front.length < IPV6_GROUPS_SHOWN;
  // `::` stands for zeros, and what follows it is hidden.
  const shown = isShort ? front : front.slice(0, IPV6_GROUPS_SHOWN);
  return `${shown.join(":")}::`;
}
