import { pageTags, pathOf } from './browser/page-tags.js';
import type { ConsentTarget } from './target.js';
import { unsupported } from './unsupported.js';

/** Google's function: `gtag('event', 'login', { method: 'Google' })`. It does not throw. */
export type Gtag = (command: string, ...args: unknown[]) => void;

type Fields = Record<string, unknown>;

/**
 * The documented commands of gtag.js, over an instance: `event`, `config`, `set` and `consent`.
 * @example createGtag(analytics)('event', 'login', { method: 'Google' });
 */
export const createGtag = ({ identify, event, reset, status, setConsent }: ConsentTarget): Gtag => {
  const usual: Fields = {};

  /** The fields without the user, who is taken from them. */
  const withoutUser = ({ user_id, user_properties, ...fields }: Fields): Fields => {
    if (user_id === null) reset();
    else if (user_id || user_properties)
      identify((user_id as string) ?? status().userId, user_properties as object);
    return fields;
  };

  const send = (name: string, given: Fields) => {
    const {
      event_callback: callback,
      page_location,
      ...tags
    } = withoutUser({ ...usual, ...given });
    const isView = name === 'page_view';
    if (page_location) tags['path'] = pathOf(page_location);
    event(isView ? 'Page Viewed' : name, { tags: { ...(isView && pageTags()), ...tags } });
    // In a task of its own, so that what the page's function throws is the page's error.
    if (callback) setTimeout(callback as () => void);
  };

  return (command, name, fields) => {
    const given = (fields ?? {}) as Fields;
    if (command === 'event') send(name as string, given);
    else if (command === 'config') {
      // Other products than Analytics are set up by the same command.
      const isView = /^G/.test(name as string) && given['send_page_view'] !== false;
      if (isView) send('page_view', given);
      else withoutUser(given);
    } else if (command === 'set')
      Object.assign(
        usual,
        withoutUser(Object(name) === name ? (name as Fields) : { [name as string]: fields }),
      );
    else if (command === 'consent') {
      const { analytics_storage: consent } = given;
      // What is denied by default is asked for next.
      const isAsked = name === 'default' && consent !== 'granted';
      if (consent) setConsent(isAsked ? 'pending' : (consent as 'granted'));
    } else if (command !== 'js') event(command, { toJSON: unsupported(command) });
  };
};
