import { codeOnly, type Fault, type FileRule, faultsAt, isIn } from "./source-file.js";

const BANNED_WORDS = new Set(
  "utils util helpers helper common types index misc manager stuff base".split(" "),
);
const KEBAB_CASE = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

export const fileNames: FileRule = ({ path }) => {
  const faults: Fault[] = [];
  for (const part of path.replace(/(?:(?:\.contract)?\.test|\.d)?\.tsx?$/, "").split("/")) {
    if (!KEBAB_CASE.test(part))
      faults.push({ path, line: 1, message: `"${part}" is not kebab-case` });
    const banned = part.split("-").find((word) => BANNED_WORDS.has(word));
    if (banned !== undefined) {
      faults.push({ path, line: 1, message: `"${banned}" says nothing: name it by what it holds` });
    }
  }
  return faults;
};

/** Where time and chance are allowed, as in .oxlintrc.json. */
export const PLACES_OF_TIME = [
  "engine/time/clock.ts",
  "config.ts",
  "main.ts",
  "parley.ts",
  "api/client/client-clock.ts",
  "api/commands/",
  "api/livestream/main.ts",
  "api/console/model/browser-clock.ts",
  "deploy/livestream/front/site/page-clock.ts",
  "engine/sandbox/",
  "bench/",
  "test/",
];

const IMPURE =
  /(?<![.\w])(?:setTimeout|setInterval)\s*\(|\bDate\.now\b|\bMath\.random\b|\bprocess\.env\b|\bnew Date\(\)/g;

/** The names stay readable where the module's name is blanked; `setImmediate` only lets others go first. */
const TIMER_IMPORT = /\bimport\s*\{[^}]*\b(?:setTimeout|setInterval|scheduler)\b[^}]*\}\s*from\b/g;

export const timeAndChance: FileRule = (file) =>
  isIn(file.path, PLACES_OF_TIME)
    ? []
    : [
        ...faultsAt(
          file,
          codeOnly(file.text),
          IMPURE,
          "time, chance and environment are arguments",
        ),
        ...faultsAt(
          file,
          codeOnly(file.text),
          TIMER_IMPORT,
          "time is a Clock (engine/time/clock.ts)",
        ),
      ];

interface Ban {
  /** Which text is searched: everything, or without comments, strings and regular expressions. */
  readonly within: "all" | "code";
  readonly pattern: RegExp;
  readonly message: string;
  /** Where the text is allowed. */
  readonly except?: readonly string[];
}

const TEST_PLACES = ["test/"];

const BANS: readonly Ban[] = [
  {
    within: "code",
    pattern: /\bexport\s+default\b|\bas\s+default\b/g,
    message: "named exports only",
  },
  {
    within: "code",
    pattern: /(?<![.\w$])any\b(?!\s*[(:])/g,
    message: "`any` switches the types off",
  },
  {
    within: "code",
    pattern: /\binterface\s+I[A-Z][a-z]/g,
    message: "no I before an interface's name",
  },
  {
    within: "code",
    pattern: /(?<![.\w])console\.\w+\(/g,
    message: "the logger is an argument",
    except: [
      "main.ts",
      "api/commands/",
      "api/livestream/main.ts",
      "engine/sandbox/",
      "bench/",
      "test/run.ts",
    ],
  },
  { within: "all", pattern: /@ts-(?:ignore|nocheck)/g, message: "fix the type instead" },
  {
    within: "all",
    pattern: /@ts-expect-error/g,
    message: "fix the type instead",
    except: TEST_PLACES,
  },
  {
    within: "all",
    pattern: /(?:oxlint|eslint)-disable(?![^\n]* -- \S)|biome-ignore(?![^\n]*: \S)/g,
    message: "say after -- why the rule does not hold here",
  },
  {
    within: "all",
    pattern: /\b(?:TO[D]O|FIX[M]E|X[X]X|HA[C]K)\b/g,
    message: "do it, or open an issue",
  },
  {
    within: "all",
    pattern: /(?:\/\*\*?\s*(?:\*\s+)?|\/\/ )Of\s/g,
    message: "name what the comment is about: it leans on the line below",
  },
  { within: "all", pattern: /-----BEGIN [A-Z ]*PRIVATE KEY/g, message: "looks like a secret" },
  {
    within: "all",
    pattern:
      /\b(?:sk-(?:proj-)?|gsk_|ghp_|xox[bp]-|AKIA|AIza|AC(?=[0-9a-f]{32}\b))(?=[\w-]*\d)[A-Za-z0-9_-]{16,}/g,
    message: "looks like a secret",
  },
  {
    within: "all",
    pattern: /\bvk_[0-9a-f]{48}\b/g,
    message: "looks like a secret",
    except: TEST_PLACES,
  },
  {
    within: "all",
    pattern:
      /(?:key|secret|token)\w*["']?\s*[:=]\s*["'`][0-9a-f]{64}["'`]|\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\./gi,
    message: "looks like a secret",
    except: TEST_PLACES,
  },
];

export const bannedTexts: FileRule = (file) =>
  BANS.filter(({ except = [] }) => !isIn(file.path, except)).flatMap(
    ({ within, pattern, message }) =>
      faultsAt(file, within === "code" ? codeOnly(file.text) : file.text, pattern, message),
  );

const TAKES_OFF = /\.removeEventListener\(\s*"abort"/;

/** Node holds a signal made of others, with all that its listeners see, for as long as one of them is on it. */
export const listenersTakenOff: FileRule = (file) =>
  isIn(file.path, ["engine/"]) && !TAKES_OFF.test(file.text)
    ? faultsAt(
        file,
        file.text,
        /\.addEventListener\(\s*"abort"/g,
        "take the listener off when it is over",
      )
    : [];

const LEFT_OUT =
  /\b(?:test|it|describe|suite)\.(?:only|skip|todo)\s*\(|\b(?:only|skip|todo):\s*(?:true\b|["'`])|\b[ct]\.(?:skip|todo)\(/g;
const SLEEPING =
  /(?<![.\w])(?:setTimeout|setInterval)\s*\(|(?<![.\w])(?:sleep|delay)\s*\(|\bAtomics\.wait\s*\(/g;

export const wholeTests: FileRule = (file) =>
  file.path.startsWith("test/")
    ? faultsAt(file, codeOnly(file.text), LEFT_OUT, "every test runs, always")
    : [];

export const wakefulTests: FileRule = (file) =>
  file.path.startsWith("test/")
    ? [
        ...faultsAt(
          file,
          codeOnly(file.text),
          SLEEPING,
          "wait for an event or move a VirtualClock",
        ),
        ...faultsAt(
          file,
          codeOnly(file.text),
          TIMER_IMPORT,
          "wait for an event or move a VirtualClock",
        ),
      ]
    : [];
