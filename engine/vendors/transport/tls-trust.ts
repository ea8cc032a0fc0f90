import { createSecureContext, rootCertificates, type SecureContext, TLSSocket } from "node:tls";
import { LRUCache } from "lru-cache";
import type { buildConnector } from "undici";

/** One session for each host in use; clients could configure many. */
const SESSIONS_MAX = 256;

/**
 * The trust store of all connections of a process, created once: creating it per connection would cost a third of
 * a millisecond, and with additional authorities, which re-read the public ones, twenty. `authorities` are PEM
 * texts.
 */
export function trust(authorities: readonly string[]): SecureContext {
  return createSecureContext(
    authorities.length === 0 ? {} : { ca: [...rootCertificates, ...authorities] },
  );
}

/**
 * The connector with its TLS sessions kept in memory: undici resumes sessions, but holds them so weakly that the
 * next garbage collection drops them all, and each call would begin with a full handshake.
 */
export function keepSessions(connect: buildConnector.connector): buildConnector.connector {
  const sessions = new LRUCache<string, Buffer>({ max: SESSIONS_MAX });
  return (options, callback) => {
    connect(options, (...result) => {
      const [, socket] = result;
      // The ticket arrives after the handshake (RFC 8446, section 4.6.1).
      if (socket instanceof TLSSocket) {
        socket.on("session", (session) => sessions.set(options.hostname, session));
      }
      callback(...result);
    });
  };
}
