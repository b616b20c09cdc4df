import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Requests of one connection that may wait for their answers at a time. Browsers and proxies send one request after the
 * other. Without this bound, Node would work on thousands of requests in one packet before it looks at another
 * connection.
 */
const MOST_AT_ONCE = 16;
/**
 * A connection that sends more is no longer read, and closed only after `HOLD_MS`, since its client would open another
 * one at once. If `MOST_HELD` connections are held, further ones are closed at once.
 */
const [HOLD_MS, MOST_HELD] = [5_000, 1_000];
/** Node's parser of a connection. It parses all requests of a packet, unless it is paused. */
type Parsed = Socket & { parser?: { pause?: () => void } | null };

/**
 * Closes connections that send many requests without waiting for an answer. If more than `most` are open, it also closes
 * the one that has been idle for the longest.
 */
export const createConnections = (most: number) => {
  const waiting = new WeakMap<Socket, number>();
  const held = new Set<Socket>();
  const open = new Set<Socket>();
  /** Connections without a request, in the order in which they became idle. */
  const idle = new Set<Socket>();

  const forget = (socket: Socket): void => {
    open.delete(socket);
    idle.delete(socket);
  };
  const hold = (socket: Parsed): void => {
    if (!socket.parser?.pause || held.size >= MOST_HELD) return void socket.destroy();
    socket.parser.pause();
    held.add(socket);
    const timer = setTimeout(() => socket.destroy(), HOLD_MS);
    socket.once('close', () => {
      clearTimeout(timer);
      held.delete(socket);
    });
  };

  return {
    /** Called with each connection as it comes. */
    opened: (socket: Socket): void => {
      const [idlest] = idle;
      if (open.add(socket).size > most && idlest) {
        forget(idlest);
        idlest.destroy();
      }
      idle.add(socket);
      socket.once('close', () => forget(socket));
    },
    isHeld: (socket: Socket): boolean => held.has(socket),
    /** Whether the request may be answered. */
    mayAnswer: ({ socket }: IncomingMessage, outgoing: ServerResponse): boolean => {
      if (socket.destroyed || held.has(socket)) return false;
      const count = (waiting.get(socket) ?? 0) + 1;
      waiting.set(socket, count);
      idle.delete(socket);
      outgoing.once('close', () => {
        const left = waiting.get(socket)! - 1;
        waiting.set(socket, left);
        if (!left && open.has(socket)) idle.add(socket);
      });
      if (count > MOST_AT_ONCE) hold(socket);
      return count <= MOST_AT_ONCE;
    },
    closeHeld: (): void => held.forEach((socket) => socket.destroy()),
  };
};
