import type { Status, TagAnalytics } from '../client/types.js';

/** What a feature is called: as an option, and as a word of `data-auto`. */
export type CaptureKind =
  'pageviews' | 'clicks' | 'outbound' | 'downloads' | 'forms' | 'vitals' | 'engagement' | 'errors';

/** An event that is about to be recorded, as `map` sees it. */
export interface CapturedEvent {
  /** The feature that made it. */
  kind: CaptureKind;
  name: string;
  channel?: string | undefined;
  description?: string | undefined;
  icon?: string | undefined;
  notify?: boolean | undefined;
  /** `null` for nobody. @default the identified user */
  userId?: string | null | undefined;
  /** When it happened, if not now. */
  timestamp?: Date | undefined;
  tags: Record<string, unknown>;
}

/** What each feature can be given. */
export interface Labels {
  /** Name of the event. */
  name?: string;
  /** Channel of the event. @default the `channel` option of `init` */
  channel?: string;
  /** More tags for each event. What the feature itself has to tell wins. */
  tags?: object;
}

export interface PageViewLabels extends Labels {
  /** Count `#/path` and `#!/path` as parts of the path, for routers that use them. @default false */
  hash?: boolean;
}

export interface TextLabels extends Labels {
  /** Add the text of the element, at most 100 characters. @default false */
  text?: boolean;
}

/** Events of `data-event`, which have their own names. */
export type ClickLabels = Omit<TextLabels, 'name'>;

export interface DownloadLabels extends TextLabels {
  /** Endings of files that are downloads, in lower case. @default ['7z', 'apk', 'csv', 'dmg', 'doc', …] */
  extensions?: readonly string[];
}

export interface ErrorLabels extends Labels {
  /** Different errors that are recorded on one page at the most. @default 10 */
  limit?: number;
}

/** A function of `web-vitals`: it calls back with a metric, once or more often. */
export type OnMetric = (report: (metric: { name: string; value: number }) => void) => void;

/** The functions of the package `web-vitals`, all or some. */
export interface VitalsLabels extends Labels {
  onCLS?: OnMetric;
  onFCP?: OnMetric;
  onINP?: OnMetric;
  onLCP?: OnMetric;
  onTTFB?: OnMetric;
}

/** Which features to switch on: each with `true`, or with names and tags of its own. */
export interface CaptureOptions {
  /** Each page that is shown, and each route of a single-page app. */
  pageviews?: boolean | PageViewLabels;
  /** Elements with `data-event`: clicks, submits of forms, and first sights. */
  clicks?: boolean | ClickLabels;
  /** Clicks on links to other hosts. */
  outbound?: boolean | TextLabels;
  /** Clicks on links to files. */
  downloads?: boolean | DownloadLabels;
  /** Submits of forms: names of fields, never values. */
  forms?: boolean | Labels;
  /** The package `web-vitals`; with names and tags: `{ ...webVitals, name: 'Speed' }`. */
  vitals?: false | VitalsLabels;
  /** Scroll depth and engaged time, as the page is left. */
  engagement?: boolean | Labels;
  /** Uncaught errors and rejections. */
  errors?: boolean | ErrorLabels;
  /** Capture in automated browsers, such as those of tests and of most crawlers. @default false */
  automated?: boolean;
  /** Capture on local hosts, such as `localhost`. @default false */
  local?: boolean;
  /** Sees every event; may change it, or return null to drop it. Synchronous. */
  map?: (event: CapturedEvent) => CapturedEvent | null;
}

/** What is asked of a tracker. Any instance fits, whatever its types of events. */
export interface Capturer {
  event: (...args: never) => void;
  status: () => Pick<Status, 'consent' | 'paused' | 'userId'>;
  on: TagAnalytics['on'];
}
