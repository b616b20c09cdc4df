import { vi } from 'vitest';
import { createTracker } from '../../src/client/analytics.js';
import { createDirectSend } from '../../src/client/delivery/send/direct.js';
import { readAttributes } from '../../src/client/options.js';
import { installTag } from '../../src/client/tag.js';
import type { Analytics, Options } from '../../src/client/types.js';
import { openShop } from './shop.js';
import { DIRECT } from './site.js';

export type Frame = EventTarget & { top?: EventTarget; analytics?: Analytics };

/** Makes a window of the tab the current one, and runs the stub in it. */
export const runStub = async (win: Frame, top: Frame = win): Promise<Analytics> => {
  win.top = top;
  vi.stubGlobal('window', win);
  vi.stubGlobal('addEventListener', win.addEventListener.bind(win));
  vi.resetModules();
  const stub = '../../src/stub.js';
  await import(stub);
  return win.analytics!;
};

type Attributes = Record<string, string | undefined>;

/** A tab of the shop, in which pages with the tag and the stub are opened. */
export const openTab = () => {
  const shop = openShop();
  const { site } = shop;
  const { win } = site as { win: Frame };
  const kept: Record<string, string> = {};
  vi.stubGlobal('sessionStorage', kept);

  let installed: Analytics | undefined;

  /** Opens a page whose tag has these attributes beside the required ones. Its script has not come yet. */
  const open = async (
    attributes: Attributes = {},
    { hasStub = true, globals = {}, tagsAbove = [] as object[] } = {},
  ) => {
    await shop.leave();
    installed?.stop();
    installed = undefined;
    Reflect.deleteProperty(win, 'analytics');
    Object.assign(win, globals);
    const all = Object.entries({ ...DIRECT, ...attributes });
    const dataset = Object.fromEntries(all.filter(([, text]) => text !== undefined));
    Object.assign(site.doc, {
      ...{ title: 'A page', readyState: 'loading', referrer: '' },
      currentScript: { src: '', dataset },
      scripts: [...tagsAbove, { dataset }],
      querySelector: () => ({ dataset }),
    });
    vi.stubGlobal('window', win);
    if (hasStub) await runStub(win);
    return win.analytics!;
  };

  /** The tag's file comes. */
  const install = (): Analytics => {
    const tracker = installTag(
      (tell) => createTracker(createDirectSend, tell),
      (dataset, globals) => readAttributes(dataset, globals) as Partial<Options>,
    );
    installed = tracker?.analytics;
    return win.analytics!;
  };

  return { ...shop, win, kept, open, install };
};
