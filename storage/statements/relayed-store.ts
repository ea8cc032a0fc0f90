import type { Dialect } from "kysely";
import { errorOf, type Fault, toWireError } from "./fault.js";
import { postgresDialect, sqliteDialect } from "./statement-dialect.js";
import type {
  Results,
  Statement,
  StatementPort,
  StorageStats,
  StoreBackend,
  StoreCondition,
  StoreFault,
} from "./statement-port.js";

export interface RelayedRequest {
  readonly statements: readonly Statement[];
  readonly guarded: boolean;
  /** See `read` of `StatementPort`. */
  readonly isRead?: true;
}

/** The outcome of a request, in a form that can be sent between processes. */
export interface RelayedOutcome {
  readonly results: Results;
  /** Why the request failed without any effect. */
  readonly fault: Fault | undefined;
  /** The `writeFault` of the store after the request. */
  readonly writeFault: StoreFault | undefined;
}

/** The connection to the process that has the database open. */
export interface StoreWay {
  run(request: RelayedRequest): Promise<RelayedOutcome>;
  checkHealth(): Promise<StoreCondition>;
}

/** Runs a request of another process of the server, in the process that has the database open. */
export async function runRelayed(
  store: StoreBackend,
  { statements, guarded, isRead }: RelayedRequest,
): Promise<RelayedOutcome> {
  try {
    const results = await (isRead ? store.read(statements) : store.send(statements, guarded));
    return { results, fault: undefined, writeFault: store.writeFault };
  } catch (error) {
    return { results: undefined, fault: toWireError(error), writeFault: store.writeFault };
  }
}

/** The database, which another process of the server has open. */
export class RelayedStore implements StoreBackend {
  readonly writers: StatementPort["writers"];
  readonly dialect: Dialect;
  /** The process that has the database open has checked it. */
  readonly isSoleServer = true;
  readonly #way: StoreWay;
  #writeFault: StoreFault | undefined;
  #waitingCount = 0;

  constructor(writers: StatementPort["writers"], way: StoreWay) {
    this.writers = writers;
    this.dialect = writers === "one" ? sqliteDialect(this) : postgresDialect(this);
    this.#way = way;
  }

  get stats(): StorageStats {
    return { requestsWaiting: this.#waitingCount, lastGroupSize: 0, groupsCommitted: 0 };
  }

  get writeFault(): StoreFault | undefined {
    return this.#writeFault;
  }

  send(statements: readonly Statement[], guarded: boolean): Promise<Results> {
    return this.#run({ statements, guarded });
  }

  read(statements: readonly Statement[]): Promise<Results> {
    return this.#run({ statements, guarded: false, isRead: true });
  }

  async checkHealth(): Promise<StoreCondition> {
    const condition = await this.#way.checkHealth();
    this.#writeFault = condition.fault;
    return condition;
  }

  /** The database stays open for the other processes. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  async #run(request: RelayedRequest): Promise<Results> {
    this.#waitingCount += 1;
    try {
      const { results, fault, writeFault } = await this.#way.run(request);
      this.#writeFault = writeFault;
      if (fault !== undefined) throw errorOf(fault);
      return results;
    } finally {
      this.#waitingCount -= 1;
    }
  }
}
