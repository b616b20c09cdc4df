import type { Options } from '../../src/client/types.js';
import { byId } from './dom.js';

/** The set-up as the server has written it into the tag of this page. */
export interface Setup {
  service: string;
  /** Tells one database file of the service from another. */
  database: string;
  project: string;
  /** True where the page sends through the relay of its own site. */
  isRelay: boolean;
  /** Address of the page to leave for. */
  away: string;
  /** The options of the tag, for `init`. */
  options: () => Options;
  /** The tag as it stands in the page. */
  tag: string;
}

export const readSetup = (): Setup => {
  const tag = byId('tag');
  const { baseUrl = '', token = '', project = '', channel = '', timeout, relay } = tag.dataset;
  const { service = '', database = '' } = byId('page').dataset;
  const common = { project, channel, timeout: Number(timeout) };
  const isRelay = relay !== undefined;
  return {
    service,
    database,
    project,
    isRelay,
    away: isRelay ? '/relay/away' : '/away',
    options: () => (isRelay ? { ...common, relay } : { ...common, baseUrl, token }),
    tag: tag.outerHTML.replace(/\s+id="tag"/, '').replace(/\s+(?=(data|src)-?)/g, '\n  '),
  };
};
