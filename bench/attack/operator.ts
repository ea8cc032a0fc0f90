import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { AttackedServer } from "./attacked-server.js";

const ADMIN = fileURLToPath(new URL("../../api/commands/admin.js", import.meta.url));

/** What `npm run admin` prints to an operator of this server; rejects where it fails. */
async function admin({ dataDir }: AttackedServer, ...args: readonly string[]): Promise<string> {
  const env = { PATH: process.env["PATH"], DATA_DIR: dataDir };
  const { stdout } = await promisify(execFile)(process.execPath, [ADMIN, ...args], { env });
  return stdout;
}

/** Another organization on a large plan, made as an operator makes one; gives its API key. */
export async function newOrganization(server: AttackedServer): Promise<string> {
  const owner = ["--name", "Stranger", "--email", `${randomUUID()}@example.com`];
  const printed = await admin(server, "setup", ...owner, "--plan", "enterprise");
  const [apiKey] = /vk_[0-9a-f]{48}/.exec(printed) ?? [];
  if (apiKey === undefined) throw new Error("setup printed no API key");
  return apiKey;
}

/** Moves the first organization to another plan. */
export async function changePlan(server: AttackedServer, slug: string): Promise<void> {
  await admin(server, "org", "plan", server.demo.email, slug);
}
