import { AGENT_HEAD, createAgentHub, createAgentTab } from './agent.js';
import type { Tab } from './engine.js';
import type { Stage } from '../stage.js';

/**
 * A browser beside that of the stage which no protocol drives: a driven one neither prerenders nor discards.
 * Its pages carry a script that asks what to do, and the names of their tabs in their addresses.
 */
export const undriven = (stage: Stage) => {
  const hub = createAgentHub(stage.site);
  const place = (name: string, html: string) => `${stage.page(`/${name}`, html)}#${name}`;
  const page = (name: string, body = ''): string =>
    place(
      name,
      `<!doctype html><html lang="en"><head>${AGENT_HEAD}<title>${name}</title></head><body>${body}</body></html>`,
    );
  const home = page('home');

  const tab = async (address: string): Promise<Tab> => {
    const name = new URL(address).hash.slice(1);
    await hub.arrival(name, '', address);
    const known = createAgentTab(hub, name, home, () => false);
    const popup = async (address: string) => {
      await known.evaluate((address) => void window.open(address), address);
      return tab(address);
    };
    return { ...known, popup };
  };

  return {
    /** Address of a page without the tag. */
    page,
    /** Address of a page with it. */
    tagged: (name: string, options: Record<string, unknown> = {}, head = ''): string =>
      place(name, stage.tagged(options, { head: `${AGENT_HEAD}${head}` })),
    /** The tab that this page has come about in. */
    tab,
    /** Starts the browser on a page. */
    open: (address: string): Promise<Tab> => {
      stage.browser.openUndriven!(address);
      return tab(address);
    },
  };
};
