/**
 * Limits how many tasks run at a time. Clients take turns, so that one with many tasks does not hold up the
 * others. The tasks of one client start in order.
 */
export const createSlots = (allows: (underWay: number) => boolean) => {
  let underWay = 0;
  /** Waiting tasks by client. The client whose turn it is comes first. */
  const waiting = new Map<string, (() => void)[]>();

  const startNext = (): void => {
    const [client, starts] = waiting.entries().next().value!;
    const start = starts.shift()!;
    waiting.delete(client);
    if (starts.length) waiting.set(client, starts);
    start();
  };
  const fill = (): void => {
    while (waiting.size > 0 && allows(underWay)) {
      underWay++;
      startNext();
    }
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
      underWay--;
      fill();
    }
  };
};
