import type { HttpBindings } from '@hono/node-server';

export type HeldRequests = ReturnType<typeof createHeldRequests>;

/** The requests that a fault keeps waiting, so that all of them can be ended at once. */
export function createHeldRequests() {
  const cuts = new Set<() => void>();

  /**
   * Waits the given time, or for ever, and says whether to go on. A client that leaves ends only an
   * endless wait: a slow server still handles what it has received.
   */
  function hold({ incoming, outgoing }: HttpBindings, ms?: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (goOn: boolean) => {
        clearTimeout(timer);
        cuts.delete(cut);
        outgoing.off('close', leave);
        resolve(goOn);
      };
      const leave = () => end(false);
      const cut = () => {
        incoming.socket.destroy();
        end(false);
      };
      const timer = ms === undefined ? undefined : setTimeout(end, ms, true);
      cuts.add(cut);
      if (ms === undefined) outgoing.on('close', leave);
    });
  }

  /** Ends every wait and its connection; nothing of these requests is handled any more. */
  function cutAll(): void {
    for (const cut of [...cuts]) cut();
  }

  return { hold, cutAll };
}
