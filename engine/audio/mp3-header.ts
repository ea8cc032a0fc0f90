// By hand, since frames are passed on as they are, and the packages for MP3 decode them.
/** The four bytes before every frame of MPEG audio, Layer III. Source: ISO/IEC 11172-3 (MPEG-1), 13818-3 (MPEG-2), and the 2.5 extension. */
export interface Mp3Header {
  readonly version: "1" | "2" | "2.5";
  readonly sampleRateHz: number;
  readonly channels: 1 | 2;
  /** Samples per channel that the frame decodes to. */
  readonly samples: number;
  /** The whole frame with its header. */
  readonly frameBytes: number;
  /** Where the audio's main data would begin were it a tag frame: header, check sum and side information. */
  readonly sideEndBytes: number;
}

export const MP3_HEADER_BYTES = 4;

/** kbit/s by the header's index; 0 = "free" and 15 = forbidden, which are refused. */
const MPEG1_KBITS = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const MPEG2_KBITS = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];

const SAMPLE_RATES_HZ = {
  "1": [44_100, 48_000, 32_000],
  "2": [22_050, 24_000, 16_000],
  "2.5": [11_025, 12_000, 8_000],
} as const;

const VERSIONS = ["2.5", undefined, "2", "1"] as const;
const LAYER_III = 1;
const MONO = 3;
const CHECKSUM_BYTES = 2;

/** The header at `at`, or undefined when these bytes begin no Layer III frame of a known size. */
export function readMp3Header(bytes: Uint8Array, at: number): Mp3Header | undefined {
  const first = bytes[at];
  const second = bytes[at + 1];
  const third = bytes[at + 2];
  const fourth = bytes[at + 3];
  if (second === undefined || third === undefined || fourth === undefined) return undefined;
  if (first !== 0xff || (second & 0xe0) !== 0xe0 || ((second >> 1) & 3) !== LAYER_III)
    return undefined;
  const version = VERSIONS[(second >> 3) & 3];
  if (version === undefined) return undefined;
  const kbits = (version === "1" ? MPEG1_KBITS : MPEG2_KBITS)[third >> 4];
  const sampleRateHz = SAMPLE_RATES_HZ[version][(third >> 2) & 3];
  if (kbits === undefined || kbits === 0 || sampleRateHz === undefined) return undefined;
  const samples = version === "1" ? 1_152 : 576;
  const padding = (third >> 1) & 1;
  const channels = fourth >> 6 === MONO ? 1 : 2;
  return {
    version,
    sampleRateHz,
    channels,
    samples,
    frameBytes: Math.floor((samples * kbits * 125) / sampleRateHz) + padding,
    sideEndBytes:
      MP3_HEADER_BYTES + ((second & 1) === 0 ? CHECKSUM_BYTES : 0) + sideBytes(version, channels),
  };
}

function sideBytes(version: Mp3Header["version"], channels: 1 | 2): number {
  if (version === "1") return channels === 1 ? 17 : 32;
  return channels === 1 ? 9 : 17;
}
