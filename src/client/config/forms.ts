import type { OptionCheck } from '../../interface/check-options.js';

/** Options with their defaults, checked one by one. */
type Given = Record<string, unknown>;

/** Checks together the options that name the destination, and completes them. */
export type Form = (given: Given, pageAddress: string, check: OptionCheck) => void;

/** Straight to the service: the page holds the token. */
const directForm: Form = (given, _, { missing }) => {
  if (!('baseUrl' in given)) missing('baseUrl', 'an absolute http(s) URL, or `relay` in its place');
  if (!('token' in given)) missing('token');
};

/** Why an option that belongs to the direct form does not go with a relay. */
const OF_THE_RELAY: Readonly<Record<string, string>> = {
  baseUrl: 'the relay knows it',
  token: 'the relay holds it',
  idempotencyKey: 'the relay tells repeats by the ids of the records',
};

/** Through a relay: no token is in the page. */
export const relayForm: Form = (given, pageAddress, { wrong, missing }) => {
  for (const [name, why] of Object.entries(OF_THE_RELAY)) {
    if (name in given) wrong(name, `does not go with \`relay\`: ${why}; leave it out`);
  }
  if (!('relay' in given)) return missing('relay');
  given.relay = resolved(given.relay as string, pageAddress);
  if (!given.relay) {
    wrong('relay', 'needs a page with an http(s) address: give an absolute http(s) URL');
  }
};

/** The whole address, or undefined on a page that has none, such as about:blank. */
const resolved = (relay: string, pageAddress: string): string | undefined => {
  try {
    const { protocol, href } = new globalThis.URL(relay, pageAddress);
    return /^https?:$/.test(protocol) ? href.replace(/\/+$/, '') : undefined;
  } catch {
    return undefined;
  }
};

/** Either of the two. */
export const anyForm: Form = (given, pageAddress, check) =>
  ('relay' in given ? relayForm : directForm)(given, pageAddress, check);
