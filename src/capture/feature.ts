import type { CapturedEvent } from './types.js';
import type { Page } from './page.js';

/** Records an event of a feature. */
export type Tell = (
  tags: object,
  /** What it has beside the labels that the feature was given. */
  own?: Partial<CapturedEvent>,
) => void;

/** One kind of event: looks out for it until the page is let go. */
export type Feature<Labels> = (tell: Tell, labels: Labels, page: Page) => void;
