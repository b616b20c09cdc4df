import type { Tell } from '../../../src/client/analytics.js';
import type { Analytics } from '../../../src/client/types.js';

/** The page's own global, whatever a mistake calls on it. */
export type Global = { [Method in keyof Analytics]: (...args: unknown[]) => unknown } & Record<
  string,
  (...args: unknown[]) => unknown
>;

export interface Mistake {
  /** What the tag says beside its file: its attributes, as the page has them. @default a right set-up */
  tag?: string;
  /** The tag's file. @default outbox.js */
  file?: string;
  /** Other elements of the page. */
  html?: string;
  /** What the page has done before the tag's file came. */
  before?: (page: Record<string, unknown>) => void;
  /** What the page does then. */
  make?: (analytics: Global, tell: Tell) => unknown;
  /** What is called with options that take the place of right ones, without a tag. */
  init?: object | string | undefined;
  /** The service's answer. */
  answer?: readonly [status: number, body?: string];
  /** So long after all of this the developer is told. */
  lateMs?: number;
  /** What the developer reads, once. */
  told: string;
}

export const SETUP = { baseUrl: 'https://in.example', token: 't', project: 'shop', channel: 'web' };
export const RELAY = { relay: '/a', project: 'shop', channel: 'web' };
export const TAG =
  'data-base-url="https://in.example" data-token="t" data-project="shop" data-channel="web"';
export const RELAY_TAG = 'data-relay="/a" data-project="shop" data-channel="web"';

/** What a browser says of a developers' file that it cannot import. */
export const MISSING = 'no such file';
