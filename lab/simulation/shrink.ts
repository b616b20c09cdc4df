import type { Product } from './page.js';
import type { Scenario } from './scenario.js';
import { runScenario } from './run-scenario.js';

/** Removes the actions that the violation does not need: half of all at a time, then a quarter, and so on. */
export const shrink = async (
  scenario: Scenario,
  product: Product,
  invariant: string,
): Promise<Scenario> => {
  let { actions } = scenario;
  const stillBreaks = async (fewer: Scenario['actions']): Promise<boolean> => {
    if (fewer.length === 0) return false;
    const { violation } = await runScenario({ ...scenario, actions: fewer }, product);
    return violation?.invariant === invariant;
  };
  for (let size = Math.ceil(actions.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < actions.length;) {
      const fewer = [...actions.slice(0, at), ...actions.slice(at + size)];
      if (await stillBreaks(fewer)) actions = fewer;
      else at += size;
    }
  }
  return { ...scenario, actions };
};
