import type { OptionCheck } from '../../interface/check-options.js';

/** The options, each of them checked, with the defaults of those that were left out. */
type Given = Record<string, unknown>;

/** Checks together the options that name the destination, and completes them. */
export type Form = (given: Given, pageAddress: string, check: OptionCheck) => void;

/** The form for sending straight to the service. */
const directForm: Form = (given, _, { missing }) => {
  if (!('baseUrl' in given)) missing('baseUrl', 'an absolute http(s) URL, or `relay` in its place');
  if (!('token' in given)) missing('token');
};

/** The options that are refused together with `relay`, each with the reason that the developer is told. */
const OF_THE_RELAY: Readonly<Record<string, string>> = {
  baseUrl: 'the relay knows it',
  token: 'the relay holds it',
  idempotencyKey: 'the relay tells repeats by the ids of the records',
};

/** The form for sending through a relay. */
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

/** The relay's whole address. Undefined for a path on a page without an address, such as about:blank. */
const resolved = (relay: string, pageAddress: string): string | undefined => {
  try {
    const { protocol, href } = new globalThis.URL(relay, pageAddress);
    return /^https?:$/.test(protocol) ? href.replace(/\/+$/, '') : undefined;
  } catch {
    return undefined;
  }
};

/** Either of the two forms, by whether `relay` is given. */
export const anyForm: Form = (given, pageAddress, check) =>
  ('relay' in given ? relayForm : directForm)(given, pageAddress, check);
