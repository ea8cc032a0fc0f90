// By hand, since it is 44 bytes in which a rate and a size change.
/** RIFF, `fmt ` and `data` of PCM without anything between, as Microsoft and IBM wrote it down in 1991. */
export const WAV_HEADER_BYTES = 44;
export const WAV_CHANNELS = 2;
const BITS_PER_SAMPLE = 16;
/** The samples of one moment on both channels. */
export const WAV_FRAME_BYTES = (WAV_CHANNELS * BITS_PER_SAMPLE) / 8;
const RATE_AT = 24;

/** The 44 bytes before `dataBytes` of 16-bit samples; stereo where no `channels` are given. */
export function wavHeader(rateHz: number, dataBytes: number, channels = WAV_CHANNELS): Buffer {
  const frameBytes = (channels * BITS_PER_SAMPLE) / 8;
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(WAV_HEADER_BYTES - 8 + dataBytes, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(rateHz, RATE_AT);
  header.writeUInt32LE(rateHz * frameBytes, 28);
  header.writeUInt16LE(frameBytes, 32);
  header.writeUInt16LE(BITS_PER_SAMPLE, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(dataBytes, 40);
  return header;
}

/** The sample rate in a header made by `wavHeader`; undefined when the bytes are no such header. */
export function wavRateHz(header: Buffer): number | undefined {
  if (header.length < WAV_HEADER_BYTES) return undefined;
  const rateHz = header.readUInt32LE(RATE_AT);
  const isOurs = rateHz > 0 && header.subarray(36, 40).toString("latin1") === "data";
  return isOurs ? rateHz : undefined;
}
