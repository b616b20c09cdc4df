import type { DirectOptions } from '../../src/types.js';
import { byId } from './dom.js';

/** The set-up as the server has written it into the tag of this page. */
export interface Setup {
  service: string;
  /** Tells one database file of the service from another. */
  database: string;
  project: string;
  /** The options of the tag, for `init`. */
  options: () => DirectOptions;
  /** The tag as it stands in the page. */
  tag: string;
}

export const readSetup = (): Setup => {
  const tag = byId('tag');
  const { baseUrl = '', token = '', project = '', channel = '', timeout } = tag.dataset;
  return {
    service: baseUrl,
    database: byId('page').dataset['database'] ?? '',
    project,
    options: () => ({ baseUrl, token, project, channel, timeout: Number(timeout) }),
    tag: tag.outerHTML.replace(/\s+id="tag"/, '').replace(/\s+(?=(data|src)-?)/g, '\n  '),
  };
};
