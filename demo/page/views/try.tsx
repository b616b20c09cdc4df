import type { TargetedSubmitEvent } from 'preact';
import { useState } from 'preact/hooks';
import type { Consent, EventFields } from '../../../src/client/types.js';
import { CopyButton } from '../../../src/show/copy-button.js';
import type { Call } from '../calls.js';
import type { Choices, Demo } from '../demo.js';
import { callCode } from '../words.js';
import { TabList } from './tab-list.js';

/** What a visitor does by hand. */
export const Try = ({ demo }: { demo: Demo }) => (
  <TabList
    label="Try it"
    panels={[
      { id: 'event', title: 'Event', show: () => <EventForm demo={demo} /> },
      { id: 'identify', title: 'Identify', show: () => <IdentifyForm demo={demo} /> },
      { id: 'consent', title: 'Consent', show: () => <ConsentForm demo={demo} /> },
      { id: 'options', title: 'Options', show: () => <OptionsForm demo={demo} /> },
      { id: 'tag', title: 'Tag to copy', show: () => <TagView demo={demo} /> },
    ]}
  />
);

/** The object in a JSON text, or what is wrong with it. */
const readObject = (text: string): { value?: Record<string, unknown>; problem?: string } => {
  if (!text.trim()) return { value: {} };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { value: value as Record<string, unknown> };
  } catch {
    // told below
  }
  return { problem: 'Write a JSON object, such as { "plan": "pro" }.' };
};

interface FieldProps {
  id: string;
  label: string;
  value: string;
  onChange: (value: string) => void;
  problem?: string | undefined;
  type?: 'text' | 'json' | 'number' | 'datetime-local';
  hint?: string;
}

const Field = ({ id, label, value, onChange, problem, type = 'text', hint }: FieldProps) => {
  const props = {
    ...{ id, value, autocomplete: 'off', spellcheck: false, placeholder: hint ?? '' },
    ...(problem && { 'aria-invalid': true, 'aria-describedby': `${id}-error` }),
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
      onChange(currentTarget.value),
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {type === 'json' && <textarea rows={2} {...props} />}
      {type === 'text' && <input type="text" {...props} />}
      {type === 'number' && <input type="number" min="1" {...props} />}
      {type === 'datetime-local' && <input type="datetime-local" step="1" {...props} />}
      {problem && (
        <p class="wrong" id={`${id}-error`}>
          {problem}
        </p>
      )}
    </div>
  );
};

/** Says what a button has done. */
const Told = ({ words }: { words: string }) => (
  <p class="told soft" role="status">
    {words}
  </p>
);

const toldOf = (what: string, { id, fate }: Call): string =>
  fate.kind === 'dropped' ? `${what} was dropped: ${fate.detail}.` : `Called ${what} as ${id}.`;

const focusWrong = ({ currentTarget }: TargetedSubmitEvent<HTMLFormElement>): void =>
  void setTimeout(() => currentTarget?.querySelector<HTMLElement>('[aria-invalid]')?.focus());

const EventForm = ({ demo }: { demo: Demo }) => {
  const [given, set] = useState({
    ...{ name: 'Signed Up', tags: '{ "plan": "pro" }', channel: '', icon: '🎉' },
    ...{ description: '', user: '', timestamp: '', notify: false, isAnonymous: false },
  });
  const [isTried, setTried] = useState(false);
  const [told, tell] = useState('');
  const field = (name: keyof typeof given, label: string, more: Partial<FieldProps> = {}) => (
    <Field
      {...{ id: `event-${name}`, label, value: given[name] as string, ...more }}
      onChange={(value) => set({ ...given, [name]: value })}
    />
  );
  const tags = readObject(given.tags);
  const { name, channel, icon, description, user, timestamp, notify, isAnonymous } = given;
  const fields: EventFields = {
    ...(channel && { channel }),
    ...(description && { description }),
    ...(icon && { icon }),
    ...(notify && { notify }),
    ...(tags.value && Object.keys(tags.value).length > 0 && { tags: tags.value }),
    ...(isAnonymous ? { userId: null } : user && { userId: user }),
    ...(timestamp && { timestamp: new Date(timestamp) }),
  };
  const send = async (event: TargetedSubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    setTried(true);
    if (!name || tags.problem) return focusWrong(event);
    await demo.tabs.ensure();
    tell(toldOf(`“${name}”`, demo.event(name, fields)));
  };
  return (
    <form onSubmit={(event) => void send(event)} noValidate>
      {field('name', 'Name', { problem: isTried && !name ? 'Give the event a name.' : undefined })}
      {field('tags', 'Tags', { type: 'json', problem: isTried ? tags.problem : undefined })}
      <details>
        <summary>More fields</summary>
        <div class="pair">
          {field('channel', 'Channel', { hint: 'web' })}
          {field('icon', 'Icon')}
        </div>
        {field('description', 'Description')}
        <div class="pair">
          {field('user', 'Another user', { hint: 'the identified one' })}
          {field('timestamp', 'Time, if not now', { type: 'datetime-local' })}
        </div>
        <Check label="Notify" isOn={notify} onChange={(on) => set({ ...given, notify: on })} />
        <Check
          {...{ label: 'Without a user', isOn: isAnonymous }}
          onChange={(on) => set({ ...given, isAnonymous: on })}
        />
      </details>
      <pre tabIndex={0}>
        {callCode('event', Object.keys(fields).length ? [name, fields] : [name])}
      </pre>
      <div class="buttons">
        <button class="primary">Send event</button>
        <Told words={told} />
      </div>
    </form>
  );
};

interface CheckProps {
  label: string;
  isOn: boolean;
  onChange: (on: boolean) => void;
}

const Check = ({ label, isOn, onChange }: CheckProps) => (
  <label class="check">
    <input
      type="checkbox"
      checked={isOn}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
    {label}
  </label>
);

const IdentifyForm = ({ demo }: { demo: Demo }) => {
  const [user, setUser] = useState('user_1');
  const [text, setText] = useState('{ "name": "Ada", "plan": "pro" }');
  const [isTried, setTried] = useState(false);
  const [told, tell] = useState('');
  const properties = readObject(text);
  const send = async (event: TargetedSubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    setTried(true);
    if (!user || !properties.value) return focusWrong(event);
    await demo.tabs.ensure();
    tell(toldOf(`identify “${user}”`, demo.identify(user, properties.value)));
  };
  const reset = (): void => {
    demo.tabs.current()?.analytics.reset();
    tell('The user is forgotten. Later events carry none.');
  };
  return (
    <form onSubmit={(event) => void send(event)} noValidate>
      <Field
        {...{ id: 'identify-user', label: 'User id', value: user, onChange: setUser }}
        problem={isTried && !user ? 'Give the user an id.' : undefined}
      />
      <Field
        {...{ id: 'identify-properties', label: 'Properties', type: 'json', value: text }}
        onChange={setText}
        problem={isTried ? properties.problem : undefined}
      />
      <pre tabIndex={0}>{callCode('identify', [user, properties.value ?? {}])}</pre>
      <div class="buttons">
        <button class="primary">Identify</button>
        <button type="button" onClick={reset}>
          Reset identity
        </button>
        <Told words={told} />
      </div>
    </form>
  );
};

const CONSENTS: Readonly<Record<Consent, string>> = {
  granted: 'Calls are stored and sent.',
  pending: 'Calls are held in memory; nothing is stored or sent.',
  denied: 'Everything is forgotten, and further calls are dropped.',
};

const ConsentForm = ({ demo }: { demo: Demo }) => {
  const now = demo.status()?.consent;
  return (
    <fieldset class="choices">
      <legend class="sr-only">Consent</legend>
      {(Object.keys(CONSENTS) as Consent[]).map((consent) => (
        <label>
          <input
            type="radio"
            name="consent"
            checked={consent === now}
            onChange={() => {
              demo.tabs.current()?.analytics.setConsent(consent);
              demo.onChange();
            }}
          />
          <span>
            <code>{`setConsent('${consent}')`}</code>
            <small class="soft">{CONSENTS[consent]}</small>
          </span>
        </label>
      ))}
    </fieldset>
  );
};

const NUMBERS = [
  ['flushAt', 'Records to a flush', '20'],
  ['flushInterval', 'ms to a flush', '1000'],
  ['concurrency', 'Requests at once', '6'],
] as const;

const OptionsForm = ({ demo }: { demo: Demo }) => {
  const [told, tell] = useState('');
  const choices = demo.choices();
  const { isRelay } = demo.setup;
  const { idempotencyKey, isAuto, flushAt, flushInterval, concurrency } = choices;
  const shown = {
    ...(isRelay ? { relay: demo.options().relay } : { baseUrl: demo.setup.service, token: '…' }),
    ...{ project: demo.setup.project, channel: 'web' },
    ...(!isRelay && idempotencyKey && { idempotencyKey }),
    ...(flushAt && { flushAt }),
    ...(flushInterval && { flushInterval }),
    ...(concurrency && { concurrency }),
  };
  const choose = (changed: Partial<Choices>): void => {
    demo.choose(changed);
    tell('');
  };
  const flush = async (): Promise<void> => {
    const tab = await demo.tabs.ensure();
    tell('Flushing …');
    const { delivered, retried, waiting } = await tab.analytics.flush();
    tell(`${delivered} delivered, ${retried} to be sent again, ${waiting} waiting.`);
  };
  return (
    <div>
      {!isRelay && (
        <Check
          {...{ label: 'Idempotency keys: a repeat is stored once', isOn: idempotencyKey }}
          onChange={(on) => choose({ idempotencyKey: on })}
        />
      )}
      <Check
        {...{ label: 'Auto-capture: page views and clicks', isOn: isAuto }}
        onChange={(on) => choose({ isAuto: on })}
      />
      <div class="pair">
        {NUMBERS.map(([name, label, hint]) => (
          <Field
            {...{ id: `option-${name}`, label, hint, type: 'number' }}
            value={`${choices[name] ?? ''}`}
            onChange={(value) => choose({ [name]: Number(value) || undefined })}
          />
        ))}
      </div>
      <pre tabIndex={0}>{callCode('init', [shown])}</pre>
      <div class="buttons">
        <button type="button" onClick={() => void flush()}>
          Flush now
        </button>
        <button type="button" onClick={() => demo.tabs.configure()}>
          {isRelay ? 'New options, go on' : 'New token, go on'}
        </button>
        <Told words={told} />
      </div>
    </div>
  );
};

const TagView = ({ demo }: { demo: Demo }) => (
  <div>
    <p>
      Paste it into a page of your own on this machine. What it sends appears under{' '}
      <a href={`${demo.setup.service}/rows`}>Rows</a>.
    </p>
    <pre tabIndex={0}>{demo.setup.tag}</pre>
    <div class="buttons">
      <CopyButton text={() => demo.setup.tag} />
    </div>
  </div>
);
