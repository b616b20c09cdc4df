import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';

/** What axe finds on a page as it is now, in a part of it, or by these rules alone. */
export const axeFinds = async (
  page: Page,
  { within, rules }: { within?: string; rules?: string[] } = {},
): Promise<string[]> => {
  // It would open a page of its own for each look, for frames of other sites: there are none.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] });
  if (within) axe.include(within);
  if (rules) axe.withRules(rules);
  const { violations } = await axe.analyze();
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
};

/** What differs between light and dark. */
export const COLOURS = ['color-contrast'];
