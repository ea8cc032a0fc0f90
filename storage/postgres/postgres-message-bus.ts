import { Client } from "pg";
import { type BusListener, type BusMessages, MESSAGE_BYTES_MAX } from "../nodes/message-bus.js";
import type { StatementPort } from "../statements/statement-port.js";
import { connectionSettings } from "./postgres-pool.js";

/** A listener sends nothing of its own: keep-alive probes detect a lost connection. */
const KEEP_ALIVE =
  "set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3";

/** LISTEN and NOTIFY: posts over the pool, and listens on a connection of its own. */
export class PostgresMessageBus implements BusMessages {
  readonly #url: string;
  readonly #port: Pick<StatementPort, "send">;

  constructor(url: string, port: Pick<StatementPort, "send">) {
    this.#url = url;
    this.#port = port;
  }

  post(channel: string, text: string): Promise<void> {
    return this.postToAll([channel], text);
  }

  async postToAll(channels: readonly string[], text: string): Promise<void> {
    if (Buffer.byteLength(text) > MESSAGE_BYTES_MAX) {
      throw new RangeError(`a message to another server has at most ${MESSAGE_BYTES_MAX} bytes`);
    }
    const sql = "select pg_notify(channel, $2) from json_array_elements_text($1::json) as channel";
    await this.#port.send([{ sql, parameters: [JSON.stringify(channels), text] }], false);
  }

  async listen(
    channels: readonly string[],
    { onMessages, onLost }: BusListener,
  ): Promise<() => Promise<void>> {
    const connection = new Client(connectionSettings(this.#url));
    const way = { isOpen: false };
    const lose = () => {
      if (!way.isOpen) return;
      way.isOpen = false;
      connection.end().catch(() => undefined);
      onLost();
    };
    // Called whenever the connection ends without a call of `close`.
    connection.on("error", lose);
    connection.on("notification", ({ channel, payload = "" }) => onMessages(channel, payload));
    try {
      await connection.connect();
      await connection.query(KEEP_ALIVE);
      for (const channel of channels) {
        await connection.query(`listen ${connection.escapeIdentifier(channel)}`);
      }
    } catch (error) {
      await connection.end().catch(() => undefined);
      throw error;
    }
    way.isOpen = true;
    return async () => {
      way.isOpen = false;
      await connection.end().catch(() => undefined);
    };
  }
}
