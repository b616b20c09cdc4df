import { AGENT_HEAD, createAgentHub, createAgentTab } from './agent.js';
import type { Tab } from './engine.js';
import type { Stage } from './stage.js';
import { waitFor } from './steps.js';

const isPrerendering = (tab: Tab): Promise<boolean> =>
  tab.evaluate(() => !!(document as { prerendering?: boolean }).prerendering);

/**
 * A page with the tag that is prerendered, and what shows it. The browser is one that no protocol drives: its
 * pages carry a script that asks what to do.
 */
export const openPrerendered = async (stage: Stage) => {
  const { site, browser, tabs } = stage;
  const address = `${stage.page('/to-come', stage.tagged({}, { head: AGENT_HEAD }))}#to-come`;
  const rules = { prerender: [{ urls: [address], eagerness: 'immediate' }] };
  const home = stage.page(
    '/shown',
    `<!doctype html><html lang="en"><head>${AGENT_HEAD}<title>shown</title></head><body>
    <script type="speculationrules">${JSON.stringify(rules)}</script></body></html>`,
  );
  const hub = createAgentHub(site);
  const tabOf = (name: string): Tab => ({
    ...createAgentTab(hub, name, home, () => false),
    popup: () => Promise.reject(new Error('It opens no tabs')),
  });
  browser.openUndriven!(`${home}#shown`);
  await hub.arrival('to-come', '', address);
  const toCome = tabOf('to-come');
  await waitFor('a prerendered page', () => isPrerendering(toCome));
  return {
    toCome,
    show: async (): Promise<void> => {
      await tabOf('shown').leave((address: string) => void (location.href = address), address);
      await waitFor('its being shown', async () => !(await isPrerendering(toCome)));
      tabs.push(toCome);
    },
  };
};
