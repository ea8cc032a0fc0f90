import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { ConfigError, loadEnvFile, textOfFile } from "../../engine/settings.js";

const MARK = "\uFEFF";
const NAMES = ["WRITTEN_FIRST", "WRITTEN_SECOND", "WRITTEN_SET"] as const;

async function fileOf(context: TestContext, content: string | Uint8Array): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "parley-text-"));
  context.after(() => rm(folder, { recursive: true }));
  const path = join(folder, ".env");
  await writeFile(path, content);
  return path;
}

for (const [how, mark, newline] of [
  ["as it should be", "", "\n"],
  ["with a byte order mark", MARK, "\n"],
  ["with Windows' line ends", "", "\r\n"],
  ["with both", MARK, "\r\n"],
] as const) {
  test(`the first line and the last of .env count, ${how}`, async (context) => {
    const lines = ["WRITTEN_FIRST=production", "WRITTEN_SET=file", "WRITTEN_SECOND=höher", ""];
    const path = await fileOf(context, mark + lines.join(newline));
    context.after(() => {
      for (const name of NAMES) delete process.env[name];
    });
    process.env["WRITTEN_SET"] = "environment";
    loadEnvFile(process.env, path);
    assert.deepEqual(
      NAMES.map((name) => process.env[name]),
      ["production", "höher", "environment"],
    );
  });

  test(`text is read the same, ${how}`, async (context) => {
    const path = await fileOf(context, `${mark}{"a":${newline}1}${newline}`);
    assert.equal(textOfFile(path), '{"a":\n1}\n');
  });
}

test("UTF-16 is detected, with and without a byte order mark", async (context) => {
  const plain = Buffer.from("NODE_ENV=production\r\n", "utf16le");
  const marked = Buffer.from(`${MARK}NODE_ENV=production\r\n`, "utf16le");
  for (const bytes of [plain, marked, Buffer.from(marked).swap16()]) {
    const path = await fileOf(context, bytes);
    assert.throws(
      () => loadEnvFile(process.env, path),
      (error) => error instanceof ConfigError && /UTF-16: save it as UTF-8/.test(error.message),
    );
  }
});

test("without a file nothing is set", async (context) => {
  loadEnvFile(process.env, join(await fileOf(context, ""), "none"));
});
