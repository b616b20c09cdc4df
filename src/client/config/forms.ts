import type { Complaints } from './complain.js';
import { TOKEN_WORDS } from '../../interface/is-token.js';

/** Options with their defaults, checked one by one. */
type Given = Record<string, unknown>;

/** Which options name the destination: checks them together, and completes them. */
export type Form = (given: Given, pageAddress: string, complaints: Complaints) => void;

/** Straight to the service: the page holds the token. */
const directForm: Form = (given, _, { missing }) => {
  if (!('baseUrl' in given)) missing('baseUrl', 'an absolute http(s) URL, or `relay` in its place');
  if (!('token' in given)) missing('token', `${TOKEN_WORDS}, or a function`);
};

/** Why an option that belongs to the direct form does not go with a relay. */
const OF_THE_RELAY: Readonly<Record<string, string>> = {
  baseUrl: 'the relay knows the service',
  token: 'the relay holds the token, and nobody can read it there',
  idempotencyKey: 'the relay tells repeats by the ids of the records',
};

/** Through a relay: no token is in the page. */
export const relayForm: Form = (given, pageAddress, { wrong, missing }) => {
  for (const [name, why] of Object.entries(OF_THE_RELAY)) {
    if (name in given) wrong(name, `does not go with \`relay\`: ${why}; leave it out`);
  }
  if (!('relay' in given))
    return missing('relay', 'a path such as "/a", or an absolute http(s) URL');
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
export const anyForm: Form = (given, pageAddress, complaints) =>
  ('relay' in given ? relayForm : directForm)(given, pageAddress, complaints);
