import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { TestContext } from "node:test";

type Value = string | number | boolean | null;
export type Row = Readonly<Record<string, Value>>;

/** A statement that the server received, and the number of its connection. */
export interface Told {
  readonly sql: string;
  readonly values: readonly (string | null)[];
  readonly connection: number;
}

type Answering = (told: Told) => readonly Row[] | Promise<readonly Row[]>;

const BOOLEAN = 16;
const TEXT = 25;
const DOUBLE = 701;
const CHANGING: Readonly<Record<string, string>> = { INSERT: "INSERT 0 ", UPDATE: "UPDATE " };
const TRUST = message("R", int32(0));
const READY = message("Z", Buffer.from("I"));

/**
 * Speaks PostgreSQL's protocol over a real socket, with responses that the test determines. An error with a `code` is
 * sent as the server's own.
 */
export class ScriptedServer {
  /** All received statements, in order. */
  readonly told: Told[] = [];
  /** The startup parameters of each connection. */
  readonly startups: ReadonlyMap<string, string>[] = [];
  answer: Answering = () => [];
  /** The result of the second statement of `begin; insert`. */
  marks: readonly Row[] = [];
  readonly #server: Server;
  readonly #sockets = new Map<number, Socket>();
  #connectionCount = 0;

  static async start(context: TestContext): Promise<ScriptedServer> {
    const server = createServer();
    const scripted = new ScriptedServer(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    context.after(() => {
      scripted.drop();
      server.close();
    });
    return scripted;
  }

  private constructor(server: Server) {
    this.#server = server;
    server.on("connection", (socket) => this.#serve(socket));
  }

  /** In the format of `URL`: `127.0.0.1:5432/calls`. */
  get address(): string {
    // The server listens on a port of this machine.
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}/calls`;
  }

  get url(): string {
    return `postgres://parley:secret@${this.address}`;
  }

  /** The received statements, without the values. */
  get asked(): readonly string[] {
    return this.told.map(({ sql }) => sql);
  }

  get connectionCount(): number {
    return this.#connectionCount;
  }

  get openCount(): number {
    return this.#sockets.size;
  }

  /** Sends a connection a notification of a channel. */
  notify(connection: number, channel: string, text: string): void {
    const said = Buffer.concat([int32(1), words(channel), words(text)]);
    this.#sockets.get(connection)?.write(message("A", said));
  }

  /** Announces that it closes a connection, without doing so. */
  complain(connection: number): void {
    this.#sockets.get(connection)?.write(errorOf("57P01", "as the server says"));
  }

  /** Closes all connections, as a killed server would. */
  drop(): void {
    for (const socket of this.#sockets.values()) socket.destroy();
  }

  #serve(socket: Socket): void {
    this.#connectionCount += 1;
    const connection = this.#connectionCount;
    this.#sockets.set(connection, socket);
    socket.on("error", () => undefined);
    socket.on("close", () => this.#sockets.delete(connection));
    let rest = Buffer.alloc(0);
    let hasBegun = false;
    let last = Promise.resolve();
    const asked = { sql: "", values: [] as (string | null)[] };
    const reply = (told: Omit<Told, "connection">, head: readonly Buffer[]) => {
      const said = { ...told, connection };
      this.told.push(said);
      last = last.then(async () => {
        const answer = await this.#answered(said);
        socket.write(Buffer.concat([...head, ...answer, READY]));
      });
    };
    socket.on("data", (bytes) => {
      rest = Buffer.concat([rest, bytes]);
      for (;;) {
        const start = hasBegun ? 1 : 0;
        if (rest.length < start + 4) return;
        const end = start + rest.readInt32BE(start);
        if (rest.length < end) return;
        const kind = hasBegun ? String.fromCharCode(rest[0] ?? 0) : "start";
        const body = rest.subarray(start + 4, end);
        rest = rest.subarray(end);
        if (kind === "start") {
          this.startups.push(startupOf(body));
          socket.write(Buffer.concat([TRUST, READY]));
        }
        if (kind === "Q") reply({ sql: text(body, 0).text, values: [] }, []);
        if (kind === "P") asked.sql = text(body, text(body, 0).end).text;
        if (kind === "B") asked.values = boundValues(body);
        if (kind === "S") reply({ ...asked }, [message("1"), message("2")]);
        if (kind === "X") socket.end();
        hasBegun = true;
      }
    });
  }

  async #answered(told: Told): Promise<readonly Buffer[]> {
    try {
      const { sql, connection } = told;
      // Each connection has a session of its own.
      const isPid = sql === "select pg_backend_pid() as pid";
      const rows = isPid ? [{ pid: connection }] : await this.answer(told);
      const begun = message("C", words("BEGIN"));
      if (told.sql.startsWith("begin; insert")) {
        return [begun, ...rowsOf(this.marks), message("C", words(`INSERT 0 ${this.marks.length}`))];
      }
      const verb = /^\s*(\w+)/.exec(told.sql)?.[1]?.toUpperCase() ?? "";
      const tag = `${CHANGING[verb] ?? `${verb} `}${rows.length}`;
      return [...rowsOf(rows), message("C", words(tag))];
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "XX000";
      return [errorOf(code, String(Object(error).message))];
    }
  }
}

function errorOf(code: string, said: string): Buffer {
  const fields = ["SERROR", `C${code}`, `M${said}`].map(words);
  return message("E", Buffer.concat([...fields, Buffer.alloc(1)]));
}

function rowsOf(rows: readonly Row[]): readonly Buffer[] {
  const [first] = rows;
  if (first === undefined) return [];
  const columns = Object.entries(first).map(([name, value]) =>
    Buffer.concat([
      words(name),
      int32(0),
      int16(0),
      int32(typeOf(value)),
      int16(-1),
      int32(-1),
      int16(0),
    ]),
  );
  const head = message("T", Buffer.concat([int16(columns.length), ...columns]));
  return [head, ...rows.map((row) => message("D", rowOf(Object.values(row))))];
}

function rowOf(values: readonly Value[]): Buffer {
  const cells = values.map((value) => {
    if (value === null) return int32(-1);
    const written = typeof value === "boolean" ? (value && "t") || "f" : String(value);
    const bytes = Buffer.from(written);
    return Buffer.concat([int32(bytes.length), bytes]);
  });
  return Buffer.concat([int16(cells.length), ...cells]);
}

function typeOf(value: Value): number {
  if (typeof value === "boolean") return BOOLEAN;
  return typeof value === "number" ? DOUBLE : TEXT;
}

/** Parses the values of a statement, which are sent as texts. */
function boundValues(body: Buffer): (string | null)[] {
  let at = text(body, text(body, 0).end).end;
  at += 2 + 2 * body.readInt16BE(at);
  const count = body.readInt16BE(at);
  at += 2;
  return Array.from({ length: count }, () => {
    const length = body.readInt32BE(at);
    at += 4;
    if (length < 0) return null;
    at += length;
    return body.toString("utf8", at - length, at);
  });
}

/** Names and values alternate after the protocol's number. */
function startupOf(body: Buffer): ReadonlyMap<string, string> {
  const said = body.toString("utf8", 4).split("\0");
  return new Map(said.flatMap((name, at) => (at % 2 === 0 ? [[name, said[at + 1] ?? ""]] : [])));
}

function text(body: Buffer, start: number): { readonly text: string; readonly end: number } {
  const end = body.indexOf(0, start);
  return { text: body.toString("utf8", start, end), end: end + 1 };
}

function message(kind: string, body: Uint8Array = Buffer.alloc(0)): Buffer {
  return Buffer.concat([Buffer.from(kind), int32(body.length + 4), body]);
}

function words(said: string): Buffer {
  return Buffer.from(`${said}\0`);
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
