import type { Draft } from '../client/types.js';
import { kept } from './kept.js';
import { newId } from './new-id.js';
import type { Keep, Part } from './types.js';

interface Visitor {
  id: string;
  /** Who the visitor turned out to be. */
  user: string | undefined;
}

/**
 * An id of the visitor, as the tag `anonymous_id`. `identify` ties it to the user, by one event `Identified`;
 * `reset` and another user get a new one.
 */
export const anonymousId =
  (keep: Exclude<Keep, 'memory'>): Part =>
  (analytics) => {
    const update = kept<Visitor>(analytics, 'visitor', keep);
    const event = analytics.event as (name: string, fields: object) => unknown;
    void analytics.on('record', ({ type, user }) => {
      if (type === 'event') return;
      // Of this moment. `beforeSend`, which is called with the event, too, makes no other id of it.
      const { userId } = analytics.status();
      update((visitor) => {
        if (visitor.user === user) return visitor;
        const id = (!visitor.user && visitor.id) || newId();
        // In a microtask: by then the new id is kept, which the event's own context reads.
        queueMicrotask(() => event('Identified', { userId, tags: { anonymous_id: id } }));
        return { id, user };
      });
    });
    return () => ({
      anonymous_id: update((visitor) => ({ id: newId(), ...visitor })).id,
    });
  };

/**
 * For `beforeSend`: sends the anonymous id as the user of an event that has none, and not as a tag.
 * @example analytics.init({ ...options, beforeSend: anonymousUser })
 */
export const anonymousUser = (draft: Draft): Draft => {
  const { type, body } = draft;
  if (type === 'event' && body.user_id === undefined) {
    const { anonymous_id, ...tags } = (body.tags ?? {}) as { anonymous_id?: string };
    if (anonymous_id) Object.assign(body, { user_id: anonymous_id, tags });
  }
  return draft;
};
