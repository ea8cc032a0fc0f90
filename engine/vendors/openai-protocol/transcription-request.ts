import { bytesPerSample, type HeardFormat } from "../../audio/audio-format.js";
import type { ListenOptions } from "../contracts.js";

const BOUNDARY = "parley-9c1f0d3a7b52";
const PCM_CODE = 1;
/** WAV's name for µ-law. The servers decode by libraries that know it (FFmpeg, libsndfile, dr_wav). */
const MULAW_CODE = 7;

/** The multipart body of `POST /audio/transcriptions`, and its header. */
export function transcriptionRequest(audio: Uint8Array, options: ListenOptions) {
  const fields = {
    model: options.modelId,
    // ISO 639-1, as the protocol wants it.
    language: options.language.split("-", 1)[0] ?? "",
    response_format: "json",
  };
  const parts = Object.entries(fields).map(
    ([name, value]) =>
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const file =
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="utterance.wav"\r\n` +
    "Content-Type: audio/wav\r\n\r\n";
  const body = Buffer.concat([
    Buffer.from(parts.join("") + file),
    wavHeader(audio.length, options.format),
    audio,
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ]);
  return { body, contentType: `multipart/form-data; boundary=${BOUNDARY}` };
}

function wavHeader(dataBytes: number, { encoding, sampleRateHz }: HeardFormat): Buffer {
  const sampleBytes = bytesPerSample(encoding);
  const header = Buffer.alloc(44);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(36 + dataBytes, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(encoding === "mulaw" ? MULAW_CODE : PCM_CODE, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(sampleRateHz, 24);
  header.writeUInt32LE(sampleRateHz * sampleBytes, 28);
  header.writeUInt16LE(sampleBytes, 32);
  header.writeUInt16LE(sampleBytes * 8, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(dataBytes, 40);
  return header;
}
