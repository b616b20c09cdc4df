const MIB = 1_048_576;

interface Limits {
  /** Bytes of bodies that are held at a time, of all clients. */
  ofAll?: number;
  /** The same of one client. Clients that cannot be told apart are not limited by it. */
  ofClient?: number;
}

/**
 * Counts the bytes of bodies that are read or worked on. There is room for a bounded number of them, and one client
 * can take up only a part of it.
 */
export const createHeldBodies = ({ ofAll = 64 * MIB, ofClient = 8 * MIB }: Limits = {}) => {
  let held = 0;
  const clients = new Map<string, number>();

  const change = (client: string, bytes: number): void => {
    const left = (clients.get(client) ?? 0) + bytes;
    held += bytes;
    if (left) clients.set(client, left);
    else clients.delete(client);
  };

  /** One more body of a client. */
  return (client: string) => {
    let size = 0;
    return {
      /** Adds bytes that have come, or answers why there is no room for them. */
      add: (bytes: number): 429 | 503 | undefined => {
        if (client && (clients.get(client) ?? 0) + bytes > ofClient) return 429;
        if (held + bytes > ofAll) return 503;
        size += bytes;
        change(client, bytes);
        return undefined;
      },
      /** Bytes that have come. */
      size: (): number => size,
      /** The body is not held any more. */
      release: (): void => change(client, -size),
    };
  };
};
