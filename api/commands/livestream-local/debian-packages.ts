import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Debian's programs and nginx module that replace the containers, with full paths. */
export interface DebianParts {
  readonly nginx: string;
  readonly rtmpModule: string;
  readonly ffmpeg: string;
}

/** The folders where Debian installs programs that are not on every user's PATH. */
const SYSTEM_FOLDERS = ["/usr/local/sbin", "/usr/sbin", "/sbin"];
const MODULE_FOLDERS = ["/usr/lib/nginx/modules", "/usr/lib64/nginx/modules"];

export interface DebianSearch {
  /** False if another program is the ingest; `rtmpModule` is then ''. */
  readonly needsRtmpModule?: boolean;
  readonly moduleFolders?: readonly string[];
  readonly systemFolders?: readonly string[];
}

/** Returns the installed programs, or the names of the missing packages. */
export function findDebianParts(
  path: string,
  {
    needsRtmpModule = true,
    moduleFolders = MODULE_FOLDERS,
    systemFolders = SYSTEM_FOLDERS,
  }: DebianSearch = {},
): DebianParts | { readonly missing: readonly string[] } {
  const nginx = findProgram("nginx", path, systemFolders);
  const ffmpeg = findProgram("ffmpeg", path, systemFolders);
  const ffprobe = findProgram("ffprobe", path, systemFolders);
  const rtmpModule = needsRtmpModule
    ? firstReadable(moduleFolders, "ngx_rtmp_module.so", constants.R_OK)
    : "";
  if (
    nginx !== undefined &&
    ffmpeg !== undefined &&
    ffprobe !== undefined &&
    rtmpModule !== undefined
  ) {
    return { nginx, rtmpModule, ffmpeg };
  }
  const missing: string[] = [];
  if (nginx === undefined) missing.push("nginx");
  if (rtmpModule === undefined) missing.push("libnginx-mod-rtmp");
  if (ffmpeg === undefined || ffprobe === undefined) missing.push("ffmpeg");
  return { missing };
}

/** Returns the full path of a program on `path` or in the folders that Debian uses for administrators' programs. */
export function findProgram(
  name: string,
  path: string,
  systemFolders: readonly string[] = SYSTEM_FOLDERS,
): string | undefined {
  const folders = [...path.split(delimiter).filter((folder) => folder !== ""), ...systemFolders];
  return firstReadable(folders, name, constants.X_OK);
}

function firstReadable(folders: readonly string[], name: string, mode: number): string | undefined {
  return folders.map((folder) => join(folder, name)).find((path) => isAccessible(path, mode));
}

function isAccessible(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
