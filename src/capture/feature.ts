import type { Page } from './page.js';
import type { CapturedEvent, CaptureKind, CaptureOptions, Capturer, Labels } from './types.js';

/** Records an event of a feature. */
export type Tell = (
  tags: object,
  /** What it has beside the labels that the feature was given. */
  own?: Partial<CapturedEvent>,
) => void;

/** One kind of event: looks out for it until the page is let go. */
export type Feature<Labels> = (tell: Tell, labels: Labels, page: Page) => void;

/**
 * Makes events of what a feature has to tell, and records them as `map` wants them.
 * @param livePage nothing if nothing is to be captured any more
 */
export const createTell = (
  analytics: Capturer,
  livePage: () => Page | undefined,
  map: CaptureOptions['map'],
  kind: CaptureKind,
  labels: Labels,
): Tell => {
  const record = analytics.event as (name: string, fields: object) => void;
  return (tags, own = {}) => {
    const page = livePage();
    if (!page) return;
    const event: CapturedEvent = {
      kind,
      ...own,
      name: own.name ?? labels.name!,
      channel: own.channel ?? labels.channel,
      tags: { path: page.path(), ...labels.tags, ...tags },
    };
    try {
      const mapped = map ? map(event) : event;
      if (mapped) record(mapped.name, { ...mapped, name: undefined, kind: undefined });
    } catch (error) {
      // The tracker drops an event that cannot be read, and tells the page's `onDrop` why.
      record(event.name, {
        get tags(): object {
          throw error;
        },
      });
    }
  };
};
