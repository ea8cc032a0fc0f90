/** What the listeners of a channel receive. */
export interface BusListener {
  readonly onMessages: (channel: string, text: string) => void;
  /** The way has broken: nothing more comes this way, and what is said from now on is lost. */
  readonly onLost: () => void;
}

/** Short messages between the servers of one database, to those that listen at that moment. */
export interface BusMessages {
  /** Rejects with a RangeError for a text of more than `MAIL_BYTES_MAX`, and as any request where the database is away. */
  post(channel: string, text: string): Promise<void>;
  /** As `post`, by one request. */
  postToAll(channels: readonly string[], text: string): Promise<void>;
  /** Resolves when the channels are listened to; what it gives ends that. */
  listen(channels: readonly string[], listener: BusListener): Promise<() => Promise<void>>;
}

/** Where a server that has changed what others keep in memory names itself. */
export const RECORDS_CHANGED = "parley records";

/** PostgreSQL takes 7,999. */
export const MESSAGE_BYTES_MAX = 7_900;
