import type { EventFields } from '../../../src/client/types.js';
import type { Caller } from '../calls/caller.js';
import { byId, setText } from '../dom.js';
import { callCode } from './call-code.js';
import { showError, showErrors } from './field-error.js';
import { readJsonObject } from './read-json-object.js';
import type { Toast } from './toast.js';

interface Effects {
  caller: Caller;
  toast: Toast;
}

/** The form with every field of an event. A field left empty is not given. */
export const bindEventForm = ({ caller, toast }: Effects): void => {
  const form = byId<HTMLFormElement>('event-form');
  const name = byId<HTMLInputElement>('event-name');
  const tags = byId<HTMLTextAreaElement>('event-tags');
  const other = byId<HTMLInputElement>('event-other');
  const code = byId('event-code');

  const user = (data: FormData): Pick<EventFields, 'userId'> => {
    const choice = data.get('user');
    if (choice === 'none') return { userId: null };
    return choice === 'other' ? { userId: other.value } : {};
  };

  const read = (): EventFields => {
    const data = new FormData(form);
    const text = (field: string) => String(data.get(field) ?? '');
    const given = readJsonObject(tags.value);
    return {
      ...(text('channel') && { channel: text('channel') }),
      ...(text('description') && { description: text('description') }),
      ...(text('icon') && { icon: text('icon') }),
      ...(data.get('notify') && { notify: true }),
      ...(given.ok && Object.keys(given.value).length > 0 && { tags: given.value }),
      ...user(data),
      ...(text('timestamp') && { timestamp: new Date(text('timestamp')) }),
    };
  };

  const problems = (): Map<HTMLElement, string | undefined> => {
    const json = readJsonObject(tags.value);
    return new Map<HTMLElement, string | undefined>([
      [name, name.value ? undefined : 'Give the event a name.'],
      [tags, json.ok ? undefined : json.problem],
      [other, other.disabled || other.value ? undefined : 'Write the id of the other user.'],
    ]);
  };

  const preview = (): void => {
    const isOther = new FormData(form).get('user') === 'other';
    if (other.disabled === isOther) other.disabled = !isOther;
    const fields = read();
    const given = Object.keys(fields).length > 0 ? [name.value, fields] : [name.value];
    setText(code, callCode('event', given));
  };

  form.addEventListener('input', () => {
    preview();
    // What has been put right is no longer wrong; what is not finished is not wrong yet.
    for (const [field, problem] of problems()) if (!problem) showError(field, undefined);
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (!showErrors(problems(), toast.giveWay)) return;
    const { id, droppedFor } = caller.event(name.value, read());
    toast.say(
      droppedFor
        ? `Event “${name.value}” was dropped: ${droppedFor}.`
        : `Called event “${name.value}” as ${id}.`,
    );
  });
  preview();
};
