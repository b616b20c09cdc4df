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
export const createGtag = (analytics: ConsentTarget): Gtag => {
  const usual: Fields = {};

  /** The fields without the user, who is taken from them. */
  const withoutUser = ({ user_id, user_properties, ...fields }: Fields): Fields => {
    if (user_id === null) analytics.reset();
    else if (user_id || user_properties)
      analytics.identify(
        (user_id as string) ?? analytics.status().userId,
        user_properties as object,
      );
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
    analytics.event(isView ? 'Page Viewed' : name, {
      tags: { ...(isView && pageTags()), ...tags },
    });
    // In a task of its own, so that what the page's function throws is the page's error.
    if (callback) setTimeout(callback as () => void);
  };

  return (command, name, given) => {
    const fields = { ...(given as Fields) };
    if (command === 'event') send(name as string, fields);
    else if (command === 'config') {
      // Other products than Analytics are set up by the same command.
      if (/^G/.test(name as string) && fields['send_page_view'] !== false)
        send('page_view', fields);
      else withoutUser(fields);
    } else if (command === 'set')
      Object.assign(
        usual,
        withoutUser(Object(name) === name ? (name as Fields) : { [name as string]: given }),
      );
    else if (command === 'consent') {
      const consent = fields['analytics_storage'];
      // A default that denies means that the visitor has not answered yet. A default never grants: the visitor may have
      // denied before, or be in the `region` of another default that denies.
      const next =
        name === 'default'
          ? consent === 'denied' && analytics.status().consent === 'granted' && 'pending'
          : (consent as 'granted');
      if (next) analytics.setConsent(next);
    } else if (command !== 'js') analytics.event(command, { toJSON: unsupported(command) });
  };
};
