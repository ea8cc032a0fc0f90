import { createSecureContext, rootCertificates, type SecureContext, TLSSocket } from "node:tls";
import { LRUCache } from "lru-cache";
import type { buildConnector } from "undici";

/** One session for each host in use; clients could name many. */
const SESSIONS_MAX = 256;

/**
 * What all connections of a process trust, made once: for each connection anew it would cost a third of a millisecond, and with
 * authorities of one's own, beside which the public ones are read again, twenty. `authorities` are PEM texts.
 */
export function trust(authorities: readonly string[]): SecureContext {
  return createSecureContext(
    authorities.length === 0 ? {} : { ca: [...rootCertificates, ...authorities] },
  );
}

/**
 * The connector, with its TLS sessions held in memory: undici resumes them, but it holds them so weakly that the next collection
 * takes them all, and each call would begin with a whole handshake.
 */
export function keepSessions(connect: buildConnector.connector): buildConnector.connector {
  const sessions = new LRUCache<string, Buffer>({ max: SESSIONS_MAX });
  return (options, callback) => {
    connect(options, (...result) => {
      const [, socket] = result;
      // The ticket comes after the handshake (RFC 8446, section 4.6.1).
      if (socket instanceof TLSSocket) {
        socket.on("session", (session) => sessions.set(options.hostname, session));
      }
      callback(...result);
    });
  };
}
