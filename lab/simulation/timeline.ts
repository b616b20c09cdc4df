interface Step {
  at: number;
  order: number;
  run: () => void;
}

/** A queue of everything that is going to happen, by time. Nothing in a world happens outside it. */
export const createTimeline = () => {
  const heap: Step[] = [];
  let order = 0;
  let time = 0;

  const isBefore = (a: Step, b: Step) => a.at < b.at || (a.at === b.at && a.order < b.order);

  const swap = (a: number, b: number) => {
    [heap[a], heap[b]] = [heap[b]!, heap[a]!];
  };

  const rise = (at: number) => {
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(heap[at]!, heap[parent]!)) return;
      swap(at, parent);
      at = parent;
    }
  };

  const sink = () => {
    for (let at = 0; ;) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < heap.length && isBefore(heap[child]!, heap[least]!)) least = child;
      }
      if (least === at) return;
      swap(at, least);
      at = least;
    }
  };

  return {
    /** Milliseconds since the beginning. */
    now: (): number => time,
    /** Runs it this many milliseconds later. */
    after: (ms: number, run: () => void): void => {
      heap.push({ at: time + Math.max(0, ms), order: order++, run });
      rise(heap.length - 1);
    },
    /** Time of the next step; Infinity when there is none. */
    next: (): number => heap[0]?.at ?? Infinity,
    /** Runs the next step. */
    step: (): void => {
      const [first] = heap;
      if (!first) return;
      const last = heap.pop()!;
      if (heap.length > 0) {
        heap[0] = last;
        sink();
      }
      time = first.at;
      first.run();
    },
  };
};

export type Timeline = ReturnType<typeof createTimeline>;
