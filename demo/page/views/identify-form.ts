import type { Caller } from '../calls/caller.js';
import { byId, setText } from '../dom.js';
import { tracker } from '../tracker.js';
import { callCode } from './call-code.js';
import { showError, showErrors } from './field-error.js';
import { readJsonObject } from './read-json-object.js';
import type { Toast } from './toast.js';

interface Effects {
  caller: Caller;
  toast: Toast;
}

export const bindIdentifyForm = ({ caller, toast }: Effects): void => {
  const form = byId<HTMLFormElement>('identify-form');
  const user = byId<HTMLInputElement>('identify-user');
  const properties = byId<HTMLTextAreaElement>('identify-properties');
  const code = byId('identify-code');

  const read = (): Record<string, unknown> => {
    const given = readJsonObject(properties.value);
    return given.ok ? given.value : {};
  };

  const problems = (): Map<HTMLElement, string | undefined> => {
    const json = readJsonObject(properties.value);
    return new Map<HTMLElement, string | undefined>([
      [user, user.value ? undefined : 'Give the user an id.'],
      [properties, json.ok ? undefined : json.problem],
    ]);
  };

  const preview = (): void => setText(code, callCode('identify', [user.value, read()]));

  form.addEventListener('input', () => {
    preview();
    for (const [field, problem] of problems()) if (!problem) showError(field, undefined);
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (!showErrors(problems(), toast.giveWay)) return;
    const { id, droppedFor } = caller.identify(user.value, read());
    toast.say(
      droppedFor
        ? `Identify “${user.value}” was dropped: ${droppedFor}.`
        : `Called identify “${user.value}” as ${id}. Later events carry this user.`,
    );
  });
  byId('reset').addEventListener('click', () => {
    tracker().reset();
    toast.say('The user is forgotten. What is waiting keeps the user it was stamped with.');
  });
  preview();
};
