import { isLocalHost } from './browser/is-local-host.js';
import { warn } from './console.js';

/** Time for which calls may wait for `init` before a developer is told. */
const LATE_MS = 10_000;

/** Tells a developer, once, that calls wait and `init` does not come. */
export const createAwaitInit = () => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    /** A call waits. */
    begin: (): void => {
      if (!isLocalHost()) return;
      timer ??= setTimeout(
        warn,
        LATE_MS,
        'calls wait, and nothing is sent: `init` has not been called, or the tag has no options',
      );
    },
    end: (): void => clearTimeout(timer),
  };
};
