import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { packageRoot } from "../../api/commands/livestream-local/package-root.js";
import {
  DOCUMENTED_DIALPLAN,
  DOCUMENTED_SECTIONS,
  DOCUMENTED_VARIABLES,
  DOCUMENTED_WEBSOCKET_OPTIONS,
} from "./asterisk-documentation.js";

const FOLDER = join(packageRoot(), "deploy/asterisk");
const REGISTERED = {
  PARLEY_URL: "http://127.0.0.1:8080",
  PARLEY_API_KEY: "vk_1",
  ASTERISK_ARI_PASSWORD: "of;ari",
  SIP_TRUNK_HOST: "sip.example.com:5080",
  SIP_TRUNK_USER: "acme",
  SIP_TRUNK_PASSWORD: "of;acme",
};
const { SIP_TRUNK_USER: _, SIP_TRUNK_PASSWORD: __, ...BY_ADDRESS } = REGISTERED;

function started(context: TestContext, environment: Readonly<Record<string, string>>) {
  const run = mkdtempSync(join(tmpdir(), "parley-asterisk-"));
  context.after(() => rmSync(run, { recursive: true }));
  const { status, stderr } = spawnSync("sh", [join(FOLDER, "start.sh"), "--write-only"], {
    encoding: "utf8",
    env: { PATH: process.env["PATH"], ASTERISK_RUN_DIR: run, ...environment },
  });
  return { status, stderr, folder: join(run, "conf") };
}

interface Section {
  readonly file: string;
  readonly name: string;
  readonly entries: readonly (readonly [string, string])[];
}

/** As Asterisk reads a file: a semicolon begins a comment unless a backslash is before it. */
function sectionsOf(folder: string, file: string): readonly Section[] {
  const sections: { file: string; name: string; entries: (readonly [string, string])[] }[] = [];
  for (const line of readFileSync(join(folder, file), "utf8").split("\n")) {
    const text = line
      .replace(/(?<!\\);.*$/, "")
      .replaceAll(String.raw`\;`, ";")
      .trim();
    const name = /^\[([\w-]+)\]$/.exec(text)?.[1];
    if (name !== undefined) sections.push({ file, name, entries: [] });
    else if (text !== "") {
      const [, key = "", value = ""] = /^([\w]+)\s*=>?\s*(.*)$/.exec(text) ?? [];
      assert.notEqual(key, "", `${file}: ${line}`);
      sections.at(-1)?.entries.push([key, value]);
    }
  }
  return sections;
}

function configured(context: TestContext, environment: Readonly<Record<string, string>>) {
  const { status, stderr, folder } = started(context, environment);
  assert.equal(status, 0, stderr);
  const files = readdirSync(folder).filter((name) => name !== "extensions.conf");
  return files.flatMap((file) => sectionsOf(folder, file));
}

const kindOf = ({ name, entries }: Section) => new Map(entries).get("type") ?? name;

function valuesOf(sections: readonly Section[], file: string, kind: string) {
  const found = sections.filter((each) => each.file === file && kindOf(each) === kind);
  assert.equal(found.length, 1, `${file}: ${kind}`);
  return new Map(found[0]?.entries);
}

const ENVIRONMENTS = {
  "an account": REGISTERED,
  "the provider's addresses": { ...BY_ADDRESS, SIP_TRUNK_ADDRESSES: "198.51.100.0/28,203.0.113.7" },
  "TLS, behind NAT, with Parley elsewhere": {
    ...REGISTERED,
    PARLEY_URL: "https://voice.example.com/parley",
    SIP_TRUNK_TRANSPORT: "tls",
    SIP_PUBLIC_ADDRESS: "203.0.113.9",
  },
} as const;

for (const [title, environment] of Object.entries(ENVIRONMENTS)) {
  test(`with ${title}: Asterisk's documentation has every key that is written`, (context) => {
    const sections = configured(context, environment);
    for (const section of sections) {
      const { file, entries } = section;
      const kind = kindOf(section);
      const documented = DOCUMENTED_SECTIONS.find(
        (each) => each.file === file && each.section === kind,
      );
      assert.ok(documented, `${file}: ${kind}`);
      const known = new Set(documented.keys.split(/\s+/));
      for (const [key] of entries) {
        assert.ok(known.has(key), `${file}: ${key} is not in ${documented.source}`);
      }
    }
  });
}

test("a trunk with an account registers, keeps trying, and its calls reach the dialplan", (context) => {
  const sections = configured(context, REGISTERED);
  const registration = valuesOf(sections, "pjsip.conf", "registration");
  assert.equal(registration.get("server_uri"), "sip:sip.example.com:5080");
  assert.equal(registration.get("client_uri"), "sip:acme@sip.example.com:5080");
  assert.equal(registration.get("auth_rejection_permanent"), "no");
  assert.ok(Number(registration.get("max_retries")) > 100_000, "ten, and then never, by default");
  assert.deepEqual([registration.get("line"), registration.get("endpoint")], ["yes", "trunk"]);
  assert.equal(valuesOf(sections, "pjsip.conf", "auth").get("password"), "of;acme");
  assert.equal(valuesOf(sections, "pjsip.conf", "endpoint").get("context"), "from-trunk");
  assert.equal(valuesOf(sections, "ari.conf", "user").get("password"), "of;ari");
  assert.ok(!sections.some((section) => kindOf(section) === "identify"));
});

test("a trunk without an account is known by its addresses alone", (context) => {
  const identified = (addresses?: string) => {
    const more = addresses === undefined ? {} : { SIP_TRUNK_ADDRESSES: addresses };
    const sections = configured(context, { ...BY_ADDRESS, ...more });
    const kinds = new Set(sections.map(kindOf));
    assert.ok(!kinds.has("registration") && !kinds.has("auth"));
    assert.equal(valuesOf(sections, "pjsip.conf", "endpoint").get("outbound_auth"), undefined);
    return valuesOf(sections, "pjsip.conf", "identify").get("match");
  };
  assert.equal(identified(), "sip.example.com");
  assert.equal(identified("198.51.100.0/28,203.0.113.7"), "198.51.100.0/28,203.0.113.7");
});

test("the media streams go to Parley, encrypted where its address is", (context) => {
  const clientsOf = (environment: Readonly<Record<string, string>>) =>
    configured(context, environment)
      .filter(({ file }) => file === "websocket_client.conf")
      .map(({ name, entries }) => {
        const client = new Map(entries);
        return [name, client.get("uri"), client.get("tls_enabled"), client.get("ca_list_file")];
      });
  const near = "ws://127.0.0.1:8080/ws/telephony";
  assert.deepEqual(clientsOf(REGISTERED), [
    ["parley", `${near}/stream/asterisk`, "no", undefined],
    ["parley-briefing", `${near}/briefing/asterisk`, "no", undefined],
  ]);
  const far = "wss://voice.example.com/parley/ws/telephony";
  const trusted = "/etc/ssl/certs/ca-certificates.crt";
  assert.deepEqual(clientsOf(ENVIRONMENTS["TLS, behind NAT, with Parley elsewhere"]), [
    ["parley", `${far}/stream/asterisk`, "yes", trusted],
    ["parley-briefing", `${far}/briefing/asterisk`, "yes", trusted],
  ]);
});

test("every format of music is loaded before the music", () => {
  const modules = readFileSync(join(FOLDER, "conf/modules.conf"), "utf8");
  const places = ["format_wav.so", "res_musiconhold.so"].map((name) => modules.indexOf(name));
  assert.ok(places.every((place) => place > 0));
  assert.deepEqual(
    places,
    places.toSorted((one, other) => one - other),
  );
});

test("ARI listens on loopback only, and no program can be run from outside", (context) => {
  const sections = configured(context, REGISTERED);
  assert.equal(valuesOf(sections, "http.conf", "general").get("bindaddr"), "127.0.0.1");
  assert.equal(valuesOf(sections, "asterisk.conf", "options").get("live_dangerously"), "no");
});

for (const [name, value] of [
  ["PARLEY_URL", ""],
  ["PARLEY_URL", "ftp://127.0.0.1"],
  ["PARLEY_URL", "http://127.0.0.1:8080\nx"],
  ["PARLEY_API_KEY", "vk&agent_id=1"],
  ["ASTERISK_ARI_PASSWORD", ""],
  ["ASTERISK_ARI_PASSWORD", "one\n[two]"],
  ["SIP_TRUNK_HOST", "sip.example.com\ntype=endpoint"],
  ["SIP_TRUNK_HOST", "sip.example.com;transport=tcp"],
  ["SIP_TRUNK_USER", "acme@sip.example.com"],
  ["SIP_TRUNK_PASSWORD", " of acme"],
  ["SIP_TRUNK_PASSWORD", ""],
  ["SIP_TRUNK_TRANSPORT", "ws"],
  ["SIP_TRUNK_ADDRESSES", "198.51.100.1 198.51.100.2"],
  ["SIP_PUBLIC_ADDRESS", "203.0.113.9 "],
  ["SIP_PORT", "sip"],
] as const) {
  test(`${name} of ${JSON.stringify(value)} is refused by its name, without the value`, (context) => {
    const { status, stderr } = started(context, { ...REGISTERED, [name]: value });
    assert.equal(status, 2);
    assert.match(stderr, new RegExp(`^${name}: expected `));
    if (value !== "" && /PASSWORD|KEY/.test(name)) assert.ok(!stderr.includes(value.trim()));
  });
}

const EXTENSIONS = readFileSync(join(FOLDER, "conf/extensions.conf"), "utf8");

/** The steps of each context, without comments. */
function contextsOf(dialplan: string): ReadonlyMap<string, readonly string[]> {
  const contexts = new Map<string, string[]>();
  let steps: string[] | undefined;
  for (const line of dialplan.split("\n")) {
    const name = /^\[([\w-]+)\]$/.exec(line)?.[1];
    if (name !== undefined) {
      steps = [];
      contexts.set(name, steps);
    } else if (line !== "" && !line.startsWith(";")) steps?.push(line);
  }
  return contexts;
}

test("the dialplan uses applications, functions and variables that Asterisk documents", () => {
  const applications = new Set(DOCUMENTED_DIALPLAN.Dialplan_Applications.split(" "));
  const functions = new Set(DOCUMENTED_DIALPLAN.Dialplan_Functions.split(" "));
  const steps = [...contextsOf(EXTENSIONS).values()].flat();
  const set = steps.flatMap((step) => /,Set\((\w+)=/.exec(step)?.[1] ?? []);
  const given = ["PARLEY_ANSWER_URL", "PARLEY_STATUS_URL", "PARLEY_RING_SEC"];
  const variables = new Set([...DOCUMENTED_VARIABLES.split(" "), ...set, ...given]);
  for (const step of steps) {
    const application = /^(?:exten => [^,]+,1| same => n(?:\(\w+\))?),(\w+)\(/.exec(step)?.[1];
    assert.ok(application !== undefined && applications.has(application), step);
    for (const [, name = ""] of step.matchAll(/\$\{(\w+)\(/g)) assert.ok(functions.has(name), step);
    for (const [, name = ""] of step.matchAll(/\$\{(\w+)\}/g)) assert.ok(variables.has(name), step);
    const dialString = /WebSocket\/parley(?:-briefing)?\/(.*),,g\)$/.exec(step)?.[1] ?? "";
    const options = dialString.replace(/\$\{[^}]*\}/g, "").replace(/\([^)]*\)/g, "");
    for (const option of options) {
      assert.ok(DOCUMENTED_WEBSOCKET_OPTIONS.split(" ").includes(option), `${option}: ${step}`);
    }
  }
});

test("every label and context that the dialplan jumps to exists", () => {
  const contexts = contextsOf(EXTENSIONS);
  for (const steps of contexts.values()) {
    const labels = new Set(steps.flatMap((step) => /n\((\w+)\)/.exec(step)?.[1] ?? []));
    for (const step of steps) {
      const jump = /,(Gosub|Goto)(?:If\(.*\?|\()([^?]*)\)$/.exec(step);
      for (const target of jump?.[2]?.split(":") ?? []) {
        const [context = "", isFar] = target.split(",");
        const isLabel = jump?.[1] === "Goto" && isFar === undefined;
        const isKnown = isLabel ? labels.has(target) : contexts.has(context);
        assert.ok(target === "" || isKnown, step);
      }
    }
  }
});

test("the contexts of the telephone's guide are those of the recipe", () => {
  const guide = readFileSync(join(packageRoot(), "docs/guides/telephony.md"), "utf8");
  const blocks = [...guide.matchAll(/```ini extensions\.conf\n([\s\S]*?)```/g)];
  const contexts = contextsOf(EXTENSIONS);
  const shown = blocks.flatMap(([, text = ""]) => [...contextsOf(text)]);
  assert.deepEqual(
    shown.map(([name]) => name),
    [
      "parley-next",
      "parley-outbound",
      "parley-answered",
      "parley-transfer",
      "parley-hold",
      "parley-person",
    ],
  );
  for (const [name, steps] of shown) assert.deepEqual(contexts.get(name), steps, name);
});
