import { withoutQuery } from '../capture/without-query.js';
import { pageTags, pathOf } from './browser/page-tags.js';
import { callBack } from './call-back.js';
import { refuse } from './refuse.js';
import type { ConsentTarget } from './target.js';

/** Google's function: `gtag('event', 'login', { method: 'Google' })`. It does not throw. */
export type Gtag = (command: string, ...args: unknown[]) => void;

type Fields = Record<string, unknown>;

/**
 * The documented commands of gtag.js, over an instance: `event`, `config`, `set` and `consent`.
 * @example createGtag(analytics)('event', 'login', { method: 'Google' });
 */
export const createGtag = (analytics: ConsentTarget): Gtag => {
  const usual: Fields = {};
  /** What `user_properties` said before a user was known. */
  let waiting: object | undefined;

  /** The fields without the user, who is taken from them. */
  const withoutUser = ({ user_id, user_properties, ...fields }: Fields): Fields => {
    const user = user_id ?? analytics.status().userId;
    if (user_properties) waiting = { ...waiting, ...(user_properties as object) };
    if (user_id === null) analytics.reset();
    else if (user && (user_id || waiting)) analytics.identify(user as string, waiting);
    else return fields;
    waiting = undefined;
    return fields;
  };

  const send = (name: string, given: Fields) => {
    const {
      eventCallback,
      event_callback: callback = eventCallback, // as it is pushed into the data layer
      eventTimeout: _,
      event_timeout: __,
      page_path,
      page_location = page_path,
      page_title: title,
      page_referrer: referrer,
      ...tags
    } = withoutUser({ ...usual, ...given });
    const isView = name === 'page_view';
    if (page_location) tags['path'] = pathOf(page_location);
    if (title !== undefined) tags['title'] = title;
    if (referrer !== undefined) tags['referrer'] = withoutQuery(String(referrer));
    analytics.event(isView ? 'Page Viewed' : name, {
      tags: { ...(isView && pageTags()), ...tags },
    });
    callBack(callback);
  };

  return (command, name, given, ...more) => {
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
    } else if (command !== 'js') {
      refuse(analytics, command);
      // A page that waits for the value of `get` goes on without.
      callBack(more[0]);
    }
  };
};
