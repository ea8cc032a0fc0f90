import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { whenFolderChanges } from "./folder-watch.js";

export interface Playlist {
  readonly text: string;
  /** The sequence numbers of the segments, in order. */
  readonly segments: readonly number[];
  readonly durationsSec: readonly number[];
  readonly mediaSequence: number;
  readonly hasEnded: boolean;
  readonly discontinuities: number;
}

/** The files of one stream on disk. */
export class HlsFiles {
  readonly folder: string;

  constructor(hlsRoot: string, streamKey: string) {
    this.folder = join(hlsRoot, streamKey);
  }

  /** The names of the rungs in the master, in its order. */
  rungs(): readonly string[] {
    return [...this.master().matchAll(/^(\w+)\/index\.m3u8$/gm)].flatMap(([, name]) => name ?? []);
  }

  master(): string {
    return readFileSync(join(this.folder, "master.m3u8"), "utf8");
  }

  /** The `width x height` of each rung with video, in the master's order. */
  resolutions(): readonly string[] {
    return [...this.master().matchAll(/RESOLUTION=(\d+x\d+)/g)].flatMap(([, size]) => size ?? []);
  }

  playlist(rung: string): Playlist {
    const text = readFileSync(join(this.folder, rung, "index.m3u8"), "utf8");
    return {
      text,
      segments: [...text.matchAll(/^(\d+)\.ts$/gm)].map(([, number]) => Number(number)),
      durationsSec: [...text.matchAll(/^#EXTINF:([\d.]+),/gm)].map(([, length]) => Number(length)),
      mediaSequence: Number(/^#EXT-X-MEDIA-SEQUENCE:(\d+)$/m.exec(text)?.[1]),
      hasEnded: text.includes("#EXT-X-ENDLIST"),
      discontinuities: text.split("#EXT-X-DISCONTINUITY\n").length - 1,
    };
  }

  isWhole(rung: string, segment: number): boolean {
    const path = join(this.folder, rung, `${segment}.ts`);
    return existsSync(path) && statSync(path).size > 0;
  }

  /** Resolves with the playlist when it contains a segment with a higher number. */
  untilAbove(rung: string, number: number): Promise<Playlist> {
    return whenFolderChanges(
      join(this.folder, rung),
      `a segment of ${rung} above ${number}`,
      () => {
        const playlist = this.playlist(rung);
        return (playlist.segments.at(-1) ?? 0) > number ? playlist : undefined;
      },
    );
  }
}
