import type { Analytics, Options } from '../../src/client/types.js';
import type { Evaluates } from './evaluates.js';
import type { Guest } from './guest.js';

const NAME = 'second';

type Second = Record<string, Analytics> & { create: (options?: Options) => Analytics };

/**
 * HTML for the head of a page that imports the package beside the tag: another script, which shares no module
 * with the tag's.
 */
export const importsPackage = (guest: Guest): string => {
  guest.allowGlobals(NAME);
  return `<script type="module">
  import { createAnalytics } from '/dist/index.js';
  window.${NAME} = { create: createAnalytics };
</script>`;
};

/** Makes an instance by the imported package, under a name of its own. */
export const createSecond = async (
  page: Evaluates,
  options: Record<string, unknown>,
  name = 'first',
): Promise<void> => {
  await page.evaluate(
    async ([options, name]) => {
      const global = window as unknown as { second?: Second };
      while (!global.second) await new Promise((done) => setTimeout(done, 10));
      global.second[name] = global.second.create(options as unknown as Options);
    },
    [options, name] as const,
  );
};

/** What such an instance answers to a call of one of its methods. */
export const callSecond = <Method extends keyof Analytics>(
  page: Evaluates,
  method: Method,
  args: readonly unknown[] = [],
  name = 'first',
): Promise<Awaited<ReturnType<Analytics[Method]>>> =>
  page.evaluate(
    ([method, args, name]) => {
      const { second } = window as unknown as { second: Second };
      return (second[name]![method as 'event'] as (...args: unknown[]) => unknown)(...args);
    },
    [method, args, name] as const,
  ) as Promise<Awaited<ReturnType<Analytics[Method]>>>;
