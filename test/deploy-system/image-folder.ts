import { execFileSync } from "node:child_process";
import { cpSync, lstatSync, mkdirSync, readFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import * as v from "valibot";
import { parseDockerfile, type Step } from "./dockerfile.js";

type Environment = Readonly<Record<string, string>>;

/** The configuration of the image that the last stage produces. */
export interface Image {
  /** The folder that takes the place of the container's root. */
  readonly folder: string;
  readonly workFolder: string;
  readonly environment: Environment;
  readonly user: string;
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
}

interface Building {
  readonly folder: string;
  workFolder: string;
  environment: Environment;
  user: string;
  command: readonly string[];
  healthcheck: readonly string[];
}

const Words = v.array(v.string());

/**
 * Executes a Dockerfile without a container engine: each stage is a folder under `root`, on this machine's Debian and
 * Node. Copies from `context` without the files that its .dockerignore excludes. Throws if a step fails.
 */
export function buildImage(
  dockerfile: string,
  context: string,
  root: string,
  environment: Environment,
): Image {
  const folders = new Map<string, string>();
  let last: Building | undefined;
  for (const [index, { name, steps }] of parseDockerfile(dockerfile).entries()) {
    const folder = join(root, name ?? String(index));
    mkdirSync(folder, { recursive: true });
    if (name !== undefined) folders.set(name, folder);
    last = {
      folder,
      workFolder: folder,
      environment: {},
      user: "0:0",
      command: [],
      healthcheck: [],
    };
    for (const step of steps) follow(step, last, { context, folders, environment });
  }
  if (last === undefined) throw new Error("Dockerfile: no stage");
  return last;
}

interface Around {
  readonly context: string;
  readonly folders: ReadonlyMap<string, string>;
  readonly environment: Environment;
}

function follow({ instruction, words }: Step, stage: Building, deps: Around): void {
  switch (instruction) {
    case "WORKDIR":
      stage.workFolder = join(stage.folder, words);
      mkdirSync(stage.workFolder, { recursive: true });
      break;
    case "ENV":
      for (const pair of words.split(" ")) {
        const [name = "", value = ""] = pair.split("=");
        stage.environment = { ...stage.environment, [name]: value };
      }
      break;
    case "USER":
      stage.user = words;
      break;
    case "CMD":
      stage.command = v.parse(Words, JSON.parse(words));
      break;
    case "HEALTHCHECK":
      stage.healthcheck = v.parse(Words, JSON.parse(words.replace(/^.*?\bCMD /, "")));
      break;
    case "COPY":
      copy(words.split(" "), stage, deps);
      break;
    case "RUN":
      execFileSync("sh", ["-ec", insideOf(stage.folder, words)], {
        cwd: stage.workFolder,
        env: { ...deps.environment, ...stage.environment },
        stdio: ["ignore", "ignore", "inherit"],
      });
      break;
    default:
      // EXPOSE, VOLUME and STOPSIGNAL only concern a container engine.
      break;
  }
}

/** Rewrites the container's paths in the Dockerfile to paths of this machine. */
function insideOf(folder: string, command: string): string {
  return command.replace(/(?<![\w./-])\/(?=(?:data|parley)\b)/g, `${folder}/`);
}

function copy(words: readonly string[], stage: Building, { context, folders }: Around): void {
  const from = words.find((word) => word.startsWith("--from="))?.slice("--from=".length);
  const paths = words.filter((word) => !word.startsWith("--"));
  const target = join(stage.workFolder, paths.at(-1) ?? "");
  const source = from === undefined ? context : (folders.get(from) ?? "");
  const ignored = from === undefined ? ignoredNames(context) : () => false;
  for (const path of paths.slice(0, -1)) {
    const copied = join(source, path);
    // Copies as Docker does: a folder's content, and a file under its name.
    const isFolder = lstatSync(copied).isDirectory();
    cpSync(copied, isFolder ? target : join(target, basename(path)), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (each) => !ignored(relative(source, each)),
    });
  }
}

// Supports names in the root, with stars in them, and `**/name`, which matches at any depth; throws at any other
// pattern.
function ignoredNames(context: string): (path: string) => boolean {
  const lines = readFileSync(join(context, ".dockerignore"), "utf8").split("\n");
  const forms = lines
    .filter((line) => line !== "")
    .map((pattern) => {
      const [, depth, name = ""] = /^(\*\*\/)?([\w.*-]+)$/.exec(pattern) ?? [];
      if (name === "") throw new Error(`.dockerignore: "${pattern}" is more than a name`);
      const form = name.replaceAll(".", String.raw`\.`).replaceAll("*", "[^/]*");
      return new RegExp(depth === undefined ? `^${form}$` : `(?:^|/)${form}$`);
    });
  return (path) => forms.some((form) => form.test(path));
}
