import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type Server, WebSocketServer } from "ws";
import { JSON_TYPE } from "../answer/answer.js";
import { addressBytes } from "../request/client-address.js";
import {
  CLOSED_DOOR_BODY,
  CLOSED_DOOR_STATUS,
  firstProtocol,
  type HttpRequest,
  type SocketDoor,
} from "./front.js";
import { AnsweringSocket, NodeSocket } from "./node-socket.js";

/** A request for a WebSocket, with the bytes that came behind it. */
export interface UpgradeRequest {
  readonly message: IncomingMessage;
  readonly request: HttpRequest;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** The sockets of one path, whatever is remembered of their clients. */
export interface OpenDoor {
  welcome(upgrade: UpgradeRequest): void;
  /** Breaks off who was silent for too long. To be called every `passedSec`. */
  check(passedSec: number): void;
  breakAll(): void;
}

const CLOSED = [
  `HTTP/1.1 ${CLOSED_DOOR_STATUS}`,
  "connection: close",
  `content-type: ${JSON_TYPE}`,
  `content-length: ${CLOSED_DOOR_BODY.length}`,
  "",
  CLOSED_DOOR_BODY,
].join("\r\n");

/** A door of the port on the library `ws`. */
export class NodeDoor<Visitor extends object> implements OpenDoor {
  readonly #door: SocketDoor<Visitor>;
  readonly #sockets = new Set<NodeSocket<Visitor>>();
  readonly #server: Server<typeof AnsweringSocket>;

  constructor(door: SocketDoor<Visitor>) {
    this.#door = door;
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: door.messageBytesMax,
      WebSocket: AnsweringSocket,
      handleProtocols: (offered) => firstProtocol([...offered].join()),
    });
  }

  welcome({ message, request, socket, head }: UpgradeRequest): void {
    if (this.#door.isClosed?.() === true) return void socket.end(CLOSED);
    const connection = message.socket;
    const visitor = this.#door.admit(request, {
      getRemoteAddress: () => addressBytes(connection.remoteAddress ?? ""),
    });
    this.#server.handleUpgrade(message, socket, head, (raw) => {
      const opened = new NodeSocket({ raw, connection, visitor, door: this.#door });
      this.#sockets.add(opened);
      raw.once("close", () => this.#sockets.delete(opened));
      this.#door.open(opened);
    });
  }

  check(passedSec: number): void {
    for (const socket of this.#sockets) socket.check(passedSec);
  }

  breakAll(): void {
    for (const socket of this.#sockets) socket.breakOff("");
  }
}
