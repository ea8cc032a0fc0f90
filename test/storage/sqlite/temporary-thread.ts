import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { storageThread } from "../../../storage/sqlite/storage-thread.js";
import { ThreadClient } from "../../../storage/sqlite/thread-client.js";
import type { Statement, StatementResult } from "../../../storage/statements/statement-port.js";
import { temporaryFile } from "../temporary-file.js";

/** The client of a file on a real storage thread, without stores. It is closed after the test. */
export async function temporaryThread(
  context: TestContext,
  options: { readonly filePath?: string; readonly requestsWaitingMax?: number } = {},
): Promise<ThreadClient> {
  const { filePath = temporaryFile(), ...rest } = options;
  const outcome = { onFailure: assert.ifError, ...rest };
  const client = await ThreadClient.open(storageThread(), { filePath }, outcome);
  context.after(() => client.close());
  return client;
}

export function statement(sql: string, ...parameters: readonly unknown[]): Statement {
  return { sql, parameters };
}

/** Sends one statement and returns its result. */
export async function run(
  client: ThreadClient,
  sql: string,
  ...parameters: readonly unknown[]
): Promise<StatementResult> {
  const [result] = (await client.send([statement(sql, ...parameters)], false)) ?? [];
  assert.ok(result !== undefined);
  return result;
}
