import { type MPEGDecodedAudio, MPEGDecoder } from "mpg123-decoder";

/** A stream takes 0.42 MB of a module's 17, and what it is given at once; one that is full would try again for ever. */
const STREAMS_MAX = 16;

/** What mpg123's WebAssembly module exports, as far as it is used here. */
interface Mpg123 {
  readonly malloc: (sizeBytes: number) => number;
  readonly free: (pointer: number) => void;
  readonly HEAP: ArrayBuffer;
  readonly mpeg_frame_decoder_create: (pointer: number, gapless: 0 | 1) => number;
  readonly mpeg_frame_decoder_destroy: (handle: number) => void;
}

export interface Mp3Options {
  /** Whether the silence is cut off that the encoder says it put before and behind the sound. */
  readonly gapless: boolean;
}

/**
 * One WebAssembly module with a decoder of mpg123 for each of its streams. The package has one decoder in each module, and to begin
 * a stream is to load a module with new memory, which takes three times as long as to decode a sentence. This leans on
 * names inside `mpg123-decoder`, whose version is exact.
 */
export class Mp3Module extends MPEGDecoder {
  declare private readonly _common: { readonly wasm: Mpg123 };
  declare private _decoder: number;
  #streamCount = 0;
  #hasFailed = false;

  static async load(): Promise<Mp3Module> {
    const module = new Mp3Module();
    await module.ready;
    module.#destroy(module._decoder);
    return module;
  }

  get hasRoom(): boolean {
    return this.#streamCount < STREAMS_MAX && !this.#hasFailed;
  }

  get isEmpty(): boolean {
    return this.#streamCount === 0;
  }

  /** Only where there is room. */
  open({ gapless }: Mp3Options): Mp3Stream {
    const { wasm } = this._common;
    const pointer = wasm.malloc(Uint32Array.BYTES_PER_ELEMENT);
    const fault = wasm.mpeg_frame_decoder_create(pointer, gapless ? 1 : 0);
    const [handle = 0] = new Uint32Array(wasm.HEAP, pointer, 1);
    wasm.free(pointer);
    if (fault !== 0 || handle === 0) throw new Error("there is no memory for an MP3 decoder");
    this.#streamCount += 1;
    let isOpen = true;
    return {
      decode: (bytes) => {
        if (!isOpen) throw new Error("the MP3 stream is closed");
        return this.#decode(handle, bytes);
      },
      close: () => {
        if (!isOpen) return;
        isOpen = false;
        this.#streamCount -= 1;
        this.#destroy(handle);
      },
    };
  }

  /** The package's own code, on the stream's decoder. What throws has left memory behind that nobody should begin on. */
  #decode(handle: number, bytes: Uint8Array): MPEGDecodedAudio {
    this._decoder = handle;
    try {
      return this.decode(bytes);
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    }
  }

  /** This frees the handle too; the package frees it a second time, and leaves the memory behind that it has spoilt. */
  #destroy(handle: number): void {
    this._common.wasm.mpeg_frame_decoder_destroy(handle);
  }
}

/** An MP3 that comes piece by piece, with a state of its own. */
export interface Mp3Stream {
  /** What these bytes complete, by channel; none for what is no MP3. The rate says something only where there are samples. Throws when it is closed. */
  readonly decode: (bytes: Uint8Array) => MPEGDecodedAudio;
  readonly close: () => void;
}

/** The modules of a thread: another is loaded only when none has room. */
export class Mp3Decoders {
  #modules: readonly Mp3Module[] = [];
  #loading: Promise<void> | undefined;

  get moduleCount(): number {
    return this.#modules.length;
  }

  /** 3 µs where there is room, and some milliseconds else. */
  async open(options: Mp3Options): Promise<Mp3Stream> {
    for (;;) {
      const roomy = this.#modules.find(({ hasRoom }) => hasRoom);
      if (roomy !== undefined) return this.#opened(roomy.open(options));
      await (this.#loading ??= this.#load());
    }
  }

  #opened(stream: Mp3Stream): Mp3Stream {
    const close = () => {
      stream.close();
      this.#dropEmpty();
    };
    return { decode: stream.decode, close };
  }

  async #load(): Promise<void> {
    try {
      this.#modules = [...this.#modules, await Mp3Module.load()];
    } finally {
      this.#loading = undefined;
    }
  }

  /** One waits for the next stream; the others' memory, and that of those that have failed, goes back. */
  #dropEmpty(): void {
    const spare = this.#modules.find(({ isEmpty, hasRoom }) => isEmpty && hasRoom);
    this.#modules = this.#modules.filter((module) => !module.isEmpty || module === spare);
  }
}

/** Those of this thread. */
export const mp3Decoders = new Mp3Decoders();
