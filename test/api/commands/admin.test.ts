import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { adminCommand } from "../../../api/commands/admin-command.js";
import { VERSION } from "../../../engine/version.js";
import { TestServer } from "../../system/test-server.js";
import { ran } from "./recording-terminal.js";

let server: TestServer;
before(async () => {
  server = await TestServer.start();
});
after(() => server.stop());

const admin = (...args: readonly string[]) =>
  ran(
    adminCommand(() => ({ dataDir: server.dataDir, port: 0 })),
    ...args,
  );

async function signUp(email: string, orgName = "Acme"): Promise<string> {
  const { token } = await server.tenancy.accounts.signUp({
    name: "Owner",
    email,
    orgName,
    password: "correct horse",
  });
  return token;
}

async function statusOf(headers: Readonly<Record<string, string>>): Promise<number> {
  const answer = await fetch(`${server.url}/api/dashboard/organization`, { headers });
  await answer.body?.cancel();
  return answer.status;
}

describe("on the database of a running server", () => {
  test("an organization is activated and suspended at once", async () => {
    const token = await signUp("ann@example.com");
    const headers = { authorization: `Bearer ${token}` };
    assert.equal(await statusOf(headers), 403);

    const activated = await admin("org", "activate", " Ann@Example.com");
    assert.equal(activated.errors, "");
    assert.equal(activated.output, '"Acme" of ann@example.com is now active (before: pending).\n');
    assert.equal(await statusOf(headers), 200);

    const again = await admin("org", "activate", "ann@example.com");
    assert.equal(again.output, '"Acme" of ann@example.com is already active.\n');

    const suspended = await admin("org", "suspend", "ann@example.com");
    assert.equal(suspended.output, '"Acme" of ann@example.com is now pending (before: active).\n');
    assert.equal(await statusOf(headers), 403);
  });

  test("an organization gets its own plan with other limits", async () => {
    await signUp("fay@example.com", "Fay & Co");
    const made = await admin(
      "org",
      "limits",
      "fay@example.com",
      "--calls",
      "40",
      "--providers",
      "3",
    );
    assert.equal(made.errors, "");
    assert.match(
      made.output,
      /^fay@example\.com now has the plan "Free of Fay & Co" \(custom-\S+\):\n/,
    );
    assert.match(
      made.output,
      /1 agents, 40 calls at once of at most 300 s, 60 minutes a month, 3 own/,
    );
    const none = await admin("org", "limits", "fay@example.com");
    assert.match(none.errors, /expected at least one limit/);
    const wrong = await admin("org", "limits", "fay@example.com", "--calls", "many");
    assert.match(wrong.errors, /--calls: expected a whole number/);
  });

  test("an organization moves to another plan", async () => {
    const token = await signUp("ben@example.com");
    await admin("org", "activate", "ben@example.com");
    const moved = await admin("org", "plan", "ben@example.com", "pro");
    assert.equal(moved.exitCode, 0);
    assert.equal(moved.output, '"Acme" of ben@example.com now has the plan pro (before: free).\n');
    const answer = await fetch(`${server.url}/api/dashboard/organization`, {
      headers: { authorization: `Bearer ${token}` },
    });
    assert.match(await answer.text(), /"planSlug":"pro"/);

    const again = await admin("org", "plan", "ben@example.com", "pro");
    assert.equal(again.output, '"Acme" of ben@example.com already has the plan pro.\n');
  });

  test("the list shows every organization, and no name can control the terminal", async () => {
    await signUp("eve@example.com", "Evil \u001b[2J\u202etxt");
    const { output, exitCode } = await admin("org", "list");
    assert.equal(exitCode, 0);
    const lines = output.split("\n");
    assert.match(lines[0] ?? "", /^status +plan +owner +organization +since$/);
    const row = lines.find((line) => line.includes("eve@example.com")) ?? "";
    assert.match(row, /^pending +free +eve@example\.com +Evil \[2J txt +\d{4}-\d\d-\d\d$/);
  });

  test("setup creates an active organization whose key is accepted by the server at once", async () => {
    const { output, errors, exitCode } = await admin(
      "setup",
      "--name",
      "First",
      "--email",
      "first@example.com",
      "--plan",
      "starter",
    );
    assert.equal(errors, "");
    assert.equal(exitCode, 0);
    assert.match(output, /^"First" is active, with the plan starter\.$/m);
    const apiKey = /^ {2}API key {3}(vk_[0-9a-f]{48})$/m.exec(output)?.[1] ?? "";
    assert.equal(await statusOf({ "x-api-key": apiKey }), 200);
    assert.ok(
      output.includes(
        `  agent     "First agent": STT deepgram/nova-3, LLM openai/gpt-6-luna, TTS openai/gpt-4o-mini-tts\n` +
          `  call it   npm run call -- --key ${apiKey}\n`,
      ),
      output,
    );
    const tenant = await server.tenancy.apiKeys.authenticate(apiKey);
    assert.ok(tenant);
    assert.equal(
      (await server.tenancy.agents.forCall(tenant, undefined)).agent.name,
      "First agent",
    );
    const password = /^ {2}password {2}(\S{16,})$/m.exec(output)?.[1] ?? "";
    const signedIn = await server.tenancy.accounts.signIn({ email: "first@example.com", password });
    assert.equal(signedIn.organization.name, "First");
  });

  test("check reads the whole database, and finds it intact", async () => {
    const { output, errors, exitCode } = await admin("check");
    assert.equal(errors, "");
    assert.equal(exitCode, 0);
    assert.match(output, /^organizations +[1-9]\d*$/m);
    assert.match(output, /^The database is intact \(.+ kB\)\.$/m);
    assert.match(output, /^ENCRYPTION_KEY is not set here, so it was not checked\.$/m);
  });

  test("a given password is not printed", async () => {
    const { output } = await admin(
      "setup",
      "--name",
      "Own",
      "--email",
      "own@example.com",
      "--password",
      "a long secret",
    );
    assert.doesNotMatch(output, /password|secret/);
  });

  test("errors are reported in one line", async () => {
    const wishes: readonly (readonly [wish: readonly string[], reason: RegExp])[] = [
      [
        ["org", "activate", "nobody@example.com"],
        /^no organization has an owner with this e-mail$/,
      ],
      [["org", "plan", "own@example.com", "huge"], /^there is no plan "huge"; there are: free, /],
      [
        ["setup", "--name", "Twice", "--email", "own@example.com"],
        /^email: an account with this e-mail already exists$/,
      ],
    ];
    for (const [wish, reason] of wishes) {
      const { exitCode, output, errors } = await admin(...wish);
      assert.equal(exitCode, 1);
      assert.equal(output, "");
      assert.match(errors.trimEnd(), reason);
    }
  });

  test("an invalid command line changes nothing", async () => {
    const wishes: readonly (readonly string[])[] = [
      [],
      ["org"],
      ["org", "activate"],
      ["org", "activate", "a@example.com", "b@example.com"],
      ["org", "list", "--all"],
      ["fly"],
      ["setup", "--name", "Only"],
      ["setup", "--name", " ", "--email", "x@example.com"],
      ["setup", "--name", "Bad", "--email", "nobody", "--password", "short"],
    ];
    for (const wish of wishes) {
      const { exitCode, output, errors } = await admin(...wish);
      assert.equal(exitCode, 2, wish.join(" "));
      assert.equal(output, "");
      assert.match(errors, /^.+\nSee --help\.\n$/);
    }
    const { errors } = await admin("setup", "--email", "nobody", "--password", "short");
    assert.match(errors, /--name: expected .+; --email: expected .+; --password: expected .+/);
    assert.doesNotMatch(errors, /short/);
  });

  test("--version prints the version of the program", async () => {
    const { exitCode, output } = await admin("--version");
    assert.deepEqual([exitCode, output], [0, `${VERSION}\n`]);
  });

  test("--help lists every command", async () => {
    const { exitCode, output } = await admin("--help");
    assert.equal(exitCode, 0);
    for (const word of ["org list", "org activate", "org suspend", "org plan", "setup"]) {
      assert.ok(output.includes(word), word);
    }
  });
});

describe("on an empty data folder", () => {
  let dataDir: string;
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "parley-admin-"));
  });
  after(() => rm(dataDir, { recursive: true }));

  test("only setup creates a database", async () => {
    const command = adminCommand(() => ({ dataDir, port: 0 }));
    const early = await ran(command, "org", "list");
    assert.equal(early.exitCode, 1);
    assert.match(early.errors, /^there is no database .*parley\.db: start the server once/);

    const made = await ran(command, "setup", "--name", "First", "--email", "first@example.com");
    assert.equal(made.exitCode, 0);
    assert.match(
      made.output,
      /^ {2}agent {5}none: an LLM and a TTS vendor and an STT vendor is missing, or not in this plan\. Start the server with OPENAI_API_KEY or .*DEEPGRAM_API_KEY;$/m,
    );
    const { output } = await ran(command, "org", "list");
    assert.match(output, /^active +enterprise +first@example\.com +First /m);
  });

  test("check reports the damage in a damaged database, and fails", async () => {
    const command = adminCommand(() => ({ dataDir, port: 0 }));
    const filePath = join(dataDir, "parley.db");
    const bytes = await readFile(filePath);
    await writeFile(filePath, bytes.fill(0x5a, bytes.length >> 1));
    const { exitCode, output, errors } = await ran(command, "check");
    assert.equal(exitCode, 1);
    assert.doesNotMatch(output, /whole/);
    assert.match(errors, /parley\.db is damaged; restore a backup/);
  });
});
