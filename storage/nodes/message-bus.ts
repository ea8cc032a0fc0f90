/** What the listeners of a channel receive. */
export interface BusListener {
  readonly onMessages: (channel: string, text: string) => void;
  /** The connection has broken: no more messages arrive, and messages sent from now on are lost. */
  readonly onLost: () => void;
}

/** Short messages between the servers of one database, to the current listeners. */
export interface BusMessages {
  /**
   * Rejects with a RangeError if the text has more than `MESSAGE_BYTES_MAX` bytes, and like any request if the database
   * is unreachable.
   */
  post(channel: string, text: string): Promise<void>;
  /** Posts the text to several channels in one request. */
  postToAll(channels: readonly string[], text: string): Promise<void>;
  /** Resolves when listening has started, with a function that stops it. */
  listen(channels: readonly string[], listener: BusListener): Promise<() => Promise<void>>;
}

/** The channel on which a server announces that it has changed records that others may cache. */
export const RECORDS_CHANGED = "parley records";

/** PostgreSQL accepts 7,999. */
export const MESSAGE_BYTES_MAX = 7_900;
