import { PostgresCluster } from "../../bench/stand/postgres-cluster.js";
import { openDatabase } from "../../storage/database.js";
import { temporaryFile, useDatabases } from "../storage/temporary-file.js";

/** The tests that this process imports from here on get databases of PostgreSQL where they would get files of SQLite. */
export async function usePostgresDatabases({
  connectionsMax,
}: {
  readonly connectionsMax: number;
}): Promise<void> {
  const cluster = await PostgresCluster.start();
  const templateUrl = await cluster.makeDatabase();
  await (await openDatabase({ filePath: temporaryFile(), url: templateUrl })).close();
  const template = new URL(templateUrl).pathname.slice(1);
  useDatabases(async () => {
    const url = await cluster.makeDatabase(template);
    return openDatabase({ filePath: temporaryFile(), url, connectionsMax });
  });
}
