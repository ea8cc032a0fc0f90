import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

// Own code, since the header is 44 bytes in which only a rate and a size change.
/** A PCM file with RIFF, `fmt ` and `data` chunks only, as Microsoft and IBM defined it in 1991. */
export const WAV_HEADER_BYTES = 44;
export const WAV_CHANNELS = 2;
const BITS_PER_SAMPLE = 16;
/** One sample on each channel. */
export const WAV_FRAME_BYTES = (WAV_CHANNELS * BITS_PER_SAMPLE) / 8;
const RATE_AT = 24;

/** The 44 bytes before `dataBytes` of 16-bit samples; stereo by default. */
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

/** The sample rate in a header made by `wavHeader`; undefined for other bytes. */
export function wavRateHz(header: Buffer): number | undefined {
  if (header.length < WAV_HEADER_BYTES) return undefined;
  const rateHz = header.readUInt32LE(RATE_AT);
  const isOurs = rateHz > 0 && header.subarray(36, 40).toString("latin1") === "data";
  return isOurs ? rateHz : undefined;
}

/** Audio that the disk has not written yet, some sixteen seconds of a web call: a slower disk will not catch up. */
const FILE_BACKLOG_BYTES_MAX = 1024 * 1024;
/** The sizes in the file have 32 bits, and many players read them as signed: nine hours of a web call. */
const RECORDING_BYTES_MAX = 2 ** 31 - 1;
/** The suffix of an incomplete file. */
const UNFINISHED = ".part";

/** Only the server's own account may read recordings. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

export interface FinishedFile {
  readonly bytes: number;
  readonly durationSec: number;
}

/** A WAV file that is written during its call, block after block, without blocking. */
export class RecordingFile {
  readonly #path: string;
  readonly #rateHz: number;
  readonly #onFault: (error: unknown) => void;
  readonly #sizeBytesMax: number;
  #handle: FileHandle | undefined;
  #work: Promise<void>;
  #sizeBytes = WAV_HEADER_BYTES;
  #backlogBytes = 0;
  #hasFailed = false;

  /**
   * Nothing is written before `ready`. `onFault` is called once if that or the disk fails; later writes are
   * dropped.
   */
  constructor(
    path: string,
    rateHz: number,
    ready: Promise<void>,
    onFault: (error: unknown) => void,
    sizeBytesMax = RECORDING_BYTES_MAX,
  ) {
    this.#path = path;
    this.#rateHz = rateHz;
    this.#onFault = onFault;
    this.#sizeBytesMax = sizeBytesMax;
    this.#work = this.#guard(async () => {
      await ready;
      await this.#create();
    });
  }

  /** False, and the block is dropped, if the disk is too slow or the file too long. */
  write(block: Uint8Array): boolean {
    if (this.#hasFailed) return true;
    const backlogBytes = this.#backlogBytes + block.byteLength;
    if (backlogBytes > FILE_BACKLOG_BYTES_MAX) return false;
    if (this.#sizeBytes + block.byteLength > this.#sizeBytesMax) return false;
    this.#backlogBytes = backlogBytes;
    this.#sizeBytes += block.byteLength;
    this.#work = this.#work.then(() =>
      this.#guard(async () => {
        await this.#handle?.appendFile(block);
        this.#backlogBytes -= block.byteLength;
      }),
    );
    return true;
  }

  /** Resolves when the file is complete under its name; with undefined if the disk did not accept all of it. */
  async finish(): Promise<FinishedFile | undefined> {
    await this.#work;
    let finished: FinishedFile | undefined;
    await this.#guard(async () => {
      await this.#handle?.close();
      this.#handle = undefined;
      finished = await repairRecording(this.#path);
    });
    await this.#handle?.close();
    return finished;
  }

  async #create(): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true, mode: FOLDER_MODE });
    this.#handle = await open(this.#path + UNFINISHED, "wx", FILE_MODE);
    await this.#handle.appendFile(wavHeader(this.#rateHz, 0));
  }

  async #guard(step: () => Promise<void>): Promise<void> {
    if (this.#hasFailed) return;
    try {
      await step();
    } catch (error) {
      this.#hasFailed = true;
      this.#onFault(error);
    }
  }
}

/**
 * Completes an unfinished file: writes the sizes, by its length, and renames it. Undefined if there is none, or it
 * is empty; rejects if the disk refuses.
 */
export async function repairRecording(path: string): Promise<FinishedFile | undefined> {
  const handle = await openIfThere(path + UNFINISHED, "r+");
  if (handle === undefined) return describeRecording(path);
  let isWhole = false;
  try {
    isWhole = await writeSizes(handle);
  } finally {
    await handle.close();
  }
  if (!isWhole) return undefined;
  await rename(path + UNFINISHED, path);
  return describeRecording(path);
}

/** Undefined if there is no such file. */
async function describeRecording(path: string): Promise<FinishedFile | undefined> {
  const handle = await openIfThere(path, "r");
  if (handle === undefined) return undefined;
  try {
    const { size } = await handle.stat();
    const { buffer } = await handle.read(Buffer.alloc(WAV_HEADER_BYTES), 0, WAV_HEADER_BYTES, 0);
    const rateHz = wavRateHz(buffer);
    if (rateHz === undefined) return undefined;
    const samples = (size - WAV_HEADER_BYTES) / WAV_FRAME_BYTES;
    return { bytes: size, durationSec: Math.round((samples / rateHz) * 1_000) / 1_000 };
  } finally {
    await handle.close();
  }
}

async function writeSizes(handle: FileHandle): Promise<boolean> {
  const { size } = await handle.stat();
  const { buffer } = await handle.read(Buffer.alloc(WAV_HEADER_BYTES), 0, WAV_HEADER_BYTES, 0);
  const rateHz = wavRateHz(buffer);
  const frames = Math.floor((size - WAV_HEADER_BYTES) / WAV_FRAME_BYTES);
  if (rateHz === undefined || frames <= 0) return false;
  const dataBytes = frames * WAV_FRAME_BYTES;
  await handle.truncate(WAV_HEADER_BYTES + dataBytes);
  const header = wavHeader(rateHz, dataBytes);
  await handle.write(header, 0, header.length, 0);
  return true;
}

/** Undefined if there is no such file. */
export async function openIfThere(
  path: string,
  flags: "r" | "r+",
): Promise<FileHandle | undefined> {
  try {
    return await open(path, flags);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Removes it whether complete or not; does nothing if there is none. */
export async function removeRecording(path: string): Promise<void> {
  await rm(path, { force: true });
  await rm(path + UNFINISHED, { force: true });
}
