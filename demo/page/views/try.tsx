import type { TargetedSubmitEvent } from 'preact';
import { useState } from 'preact/hooks';
import type { Consent } from '../../../src/client/types.js';
import { CopyButton } from '../../../src/show/copy-button.js';
import type { Demo } from '../demo.js';

/** What a visitor does by hand. */
export const Try = ({ demo }: { demo: Demo }) => (
  <section class="card folds" aria-label="By hand">
    <details name="try" open>
      <summary>Event</summary>
      <CallForm
        {...{ id: 'event', label: 'Name', first: 'Signed Up', json: 'Tags', button: 'Send event' }}
        codeOf={(name, tags) => `analytics.event('${name}', { tags: ${tags} })`}
        make={demo.event}
        demo={demo}
      />
    </details>
    <details name="try">
      <summary>Identify</summary>
      <CallForm
        {...{ id: 'identify', label: 'User id', first: 'user_1', json: 'Properties' }}
        button="Identify"
        codeOf={(user, properties) => `analytics.identify('${user}', ${properties})`}
        make={demo.identify}
        demo={demo}
      />
    </details>
    <details name="try">
      <summary>Consent</summary>
      <ConsentForm demo={demo} />
    </details>
    <details name="try">
      <summary>Options</summary>
      <OptionsForm demo={demo} />
    </details>
    <details name="try">
      <summary>Tag to copy</summary>
      <p>
        Paste it into a page of your own on this machine. What it sends appears under{' '}
        <a href={`${demo.setup.service}/rows`}>Rows</a>.
      </p>
      <div class="snippet">
        <pre tabIndex={0}>{demo.setup.tag}</pre>
        <CopyButton text={() => demo.setup.tag} />
      </div>
    </details>
  </section>
);

/** The object in a JSON text; undefined if there is none. */
const readObject = (text: string): object | undefined => {
  try {
    const value: unknown = JSON.parse(text || '{}');
    return typeof value === 'object' && !Array.isArray(value) ? (value ?? undefined) : undefined;
  } catch {
    return undefined;
  }
};

interface CallProps {
  demo: Demo;
  id: string;
  label: string;
  /** What stands in the first field at first. */
  first: string;
  json: string;
  button: string;
  codeOf: (name: string, object: string) => string;
  make: (name: string, object: object) => void;
}

/** A call with a name and an object. */
const CallForm = ({ demo, id, label, first, json, button, codeOf, make }: CallProps) => {
  const [name, setName] = useState(first);
  const [text, setText] = useState('{ "plan": "pro" }');
  const [isTried, setTried] = useState(false);
  const object = readObject(text);
  const problems = [
    !name && `Fill in the ${label.toLowerCase()}.`,
    !object && 'Write a JSON object, such as { "plan": "pro" }.',
  ].map((problem) => (isTried ? problem : false));
  const field = (at: number, title: string, value: string, set: (value: string) => void) => {
    const problem = problems[at];
    const key = `${id}-${at}`;
    return (
      <div class="field">
        <label class="soft small" for={key}>
          {title}
        </label>
        <input
          {...{ type: 'text', id: key, value, autocomplete: 'off', spellcheck: false }}
          {...(problem && { 'aria-invalid': true, 'aria-describedby': `${key}-problem` })}
          onInput={({ currentTarget }) => set(currentTarget.value)}
        />
        {problem && (
          <p class="wrong" id={`${key}-problem`}>
            {problem}
          </p>
        )}
      </div>
    );
  };
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    setTried(true);
    if (name && object) {
      await demo.tabs.ensure();
      make(name, object);
    } else setTimeout(() => form.querySelector<HTMLElement>('[aria-invalid]')?.focus());
  };
  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      {field(0, label, name, setName)}
      {field(1, json, text, setText)}
      <pre tabIndex={0}>{codeOf(name, text || '{}')}</pre>
      <button class="primary">{button}</button>
    </form>
  );
};

const CONSENTS: Readonly<Record<Consent, string>> = {
  granted: 'Clicks are stored and sent.',
  pending: 'Clicks are held in memory; nothing is stored or sent.',
  denied: 'Everything is forgotten, and further clicks are dropped.',
};

const ConsentForm = ({ demo }: { demo: Demo }) => (
  <fieldset class="choices">
    <legend class="sr-only">Consent</legend>
    {(Object.keys(CONSENTS) as Consent[]).map((consent) => (
      <label>
        <input
          type="radio"
          name="consent"
          checked={consent === demo.status()?.consent}
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

const OptionsForm = ({ demo }: { demo: Demo }) => {
  const isRelay = demo.setup.options.relay !== undefined;
  return (
    <div class="choices">
      {!isRelay && (
        <label>
          <input
            type="checkbox"
            checked={demo.hasKeys()}
            onChange={({ currentTarget }) => demo.setKeys(currentTarget.checked)}
          />
          <span>
            <code>idempotencyKey</code>
            <small class="soft">A repeat is stored once.</small>
          </span>
        </label>
      )}
      <p>
        {isRelay ? (
          <a href="/">Send straight to the server</a>
        ) : (
          <a href="/relay">Send through a relay on this site, which keeps the token</a>
        )}
      </p>
    </div>
  );
};
