/**
 * Limits how many tasks run at a time. Clients take turns, so that one with many tasks does not hold up the
 * others. The tasks of one client start in order.
 */
export const createSlots = (
  allows: (underWay: number, client: string, ofClient: number) => boolean,
) => {
  let underWay = 0;
  const underWayOf = new Map<string, number>();
  /** Waiting tasks by client. The client whose turn it is comes first. */
  const waiting = new Map<string, (() => void)[]>();

  const change = (client: string, by: number): void => {
    const count = (underWayOf.get(client) ?? 0) + by;
    underWay += by;
    if (count) underWayOf.set(client, count);
    else underWayOf.delete(client);
  };
  /** Starts a task of the next client that may have one more. Answers whether there was one. */
  const startNext = (): boolean => {
    for (const [client, starts] of waiting) {
      if (!allows(underWay, client, underWayOf.get(client) ?? 0)) continue;
      const start = starts.shift()!;
      waiting.delete(client);
      if (starts.length) waiting.set(client, starts);
      change(client, 1);
      start();
      return true;
    }
    return false;
  };
  const fill = (): void => {
    while (allows(underWay, '', 0) && startNext());
  };

  return async <Result>(client: string, work: () => Promise<Result>): Promise<Result> => {
    await new Promise<void>((start) => {
      const starts = waiting.get(client);
      if (starts) starts.push(start);
      else waiting.set(client, [start]);
      fill();
    });
    try {
      return await work();
    } finally {
      change(client, -1);
      fill();
    }
  };
};
