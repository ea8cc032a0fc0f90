import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { startDatabaseThread, ThreadClient } from "../../../storage/sqlite/thread-client.js";
import type { Statement, StatementResult } from "../../../storage/statement-port.js";
import { temporaryFile } from "../temporary-file.js";

/** The client of a real storage thread, without stores, closed after the test. */
export async function temporaryThread(
  context: TestContext,
  options: { readonly filePath?: string; readonly requestsWaitingMax?: number } = {},
): Promise<ThreadClient> {
  const { filePath = temporaryFile(), ...rest } = options;
  const worker = startDatabaseThread({ filePath });
  const client = await ThreadClient.connect(worker, { onFailure: assert.ifError, ...rest });
  context.after(() => client.close());
  return client;
}

export function statement(sql: string, ...parameters: readonly unknown[]): Statement {
  return { sql, parameters };
}

/** Sends one statement and gives its result. */
export async function run(
  client: ThreadClient,
  sql: string,
  ...parameters: readonly unknown[]
): Promise<StatementResult> {
  const [result] = (await client.send([statement(sql, ...parameters)], false)) ?? [];
  assert.ok(result !== undefined);
  return result;
}
