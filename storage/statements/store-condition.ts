/** Why nothing can be stored. */
export interface StoreFault {
  /** For whoever asks whether the server is ready: no path, no name. */
  readonly reason: string;
  /** For the operator's log: which database, and what to do. */
  readonly advice: string;
}

export interface StoreCondition {
  /** Undefined while everything is stored. */
  readonly fault: StoreFault | undefined;
  /** What an operator should know, though calls go on. */
  readonly warning: string | undefined;
}
