import { useState } from 'preact/hooks';
import type { SetupState, Step } from '../../../setup.js';
import type { Feed, FeedState } from '../state/feed.js';
import { serviceAddress, tagHere } from '../state/place.js';
import { sendTest } from '../state/service.js';
import { stepStates, testOf, type StepState, type TestEvent } from '../state/setup.js';
import { curlOf, readToken } from '../../../../show/copies.js';
import { clockTime } from '../../../../show/times.js';
import { visibleText } from '../../../../show/visible.js';
import { CopyButton } from '../../../../show/copy-button.js';
import { LongText } from '../../../../show/text.js';

interface Words {
  title: string;
  /** What to do so that it comes. */
  hint: string;
  /** Why it may have been passed by. */
  skipped: string;
}

const WORDS: Readonly<Record<Step, Words>> = {
  file: {
    title: 'The page loads the snippet',
    hint: 'Paste the tag into the head of a page, and open that page.',
    skipped: 'Not seen, which is right if your own bundle brings the snippet.',
  },
  preflight: {
    title: 'The browser may ask the service',
    hint: 'The browser asks before it sends. Its question has not come yet: look at the address in the tag, and at blockers.',
    skipped: 'Not seen, which is right if a relay or a server sends.',
  },
  accepted: {
    title: 'The token or the origin is accepted',
    hint: 'The first record goes out about a second after the first call.',
    skipped: 'Not seen.',
  },
  stored: {
    title: 'The first row is stored',
    hint: 'It is shown here at once.',
    skipped: 'Not seen.',
  },
};

const STATE_WORDS: Readonly<Record<StepState, string>> = {
  done: 'done',
  skipped: 'not seen',
  next: 'waiting',
  failing: 'failed',
  later: 'to come',
};
const MARKS: Readonly<Record<StepState, string>> = {
  ...{ done: '✓', skipped: '–', next: '', failing: '!', later: '' },
};

const EXAMPLE = { project: 'PROJECT', channel: 'web', event: 'Hello' };

/** What is shown until the first row is there: all that a newcomer needs, unless the reader has one project only. */
export const WaitingView = ({ feed, state }: { feed: Feed; state: FeedState }) =>
  state.onlyProject === undefined ? (
    <SetupView feed={feed} state={state} />
  ) : (
    <section class="waiting" aria-labelledby="waiting-title">
      <WaitingHead title={`Waiting for the first row of ${visibleText(state.onlyProject)}`} />
    </section>
  );

const WaitingHead = ({ title }: { title: string }) => (
  <div class="waiting-head">
    <h2 id="waiting-title">{title}</h2>
    <p class="soft">This page fills itself as rows arrive. There is nothing to reload.</p>
  </div>
);

const SetupView = ({ feed, state }: { feed: Feed; state: FeedState }) => {
  const setup: SetupState = state.setup ?? { steps: {} };
  const { tokenFile } = setup;
  const states = stepStates(setup);
  const doneCount = states.filter(({ state }) => state === 'done').length;
  const inTag = (name: 'project' | 'channel') =>
    new RegExp(`data-${name}="([^"]+)"`).exec(setup.tag ?? '')?.[1] ?? EXAMPLE[name];
  const example = { ...EXAMPLE, project: inTag('project'), channel: inTag('channel') };
  const test = testOf(setup.tag && tagHere(setup.tag), location.origin);
  const curl = curlOf('event', example, serviceAddress());
  return (
    <section class="waiting" aria-labelledby="waiting-title">
      <WaitingHead title="Waiting for your first event" />
      <div class="waiting-columns columns">
        <div class="card paste">
          {test && <SendTest test={test} />}
          <h3>Paste this into the head of your page</h3>
          {setup.tag ? (
            <Snippet label="Tag" text={tagHere(setup.tag)} />
          ) : (
            <p>
              The service was not told what to show here. Its <code>README</code> has the tag for
              every form.
            </p>
          )}
          <h3>Or try it from a terminal</h3>
          <Snippet label="Command" text={tokenFile ? `${readToken(tokenFile)}\n${curl}` : curl} />
          {!tokenFile && (
            <p class="soft">
              <code>$TOKEN</code> is a write token of the service, such as one of{' '}
              <code>WRITE_TOKENS</code>.
            </p>
          )}
        </div>
        <div class="card steps">
          <h3>
            How far it has come{' '}
            <span class="soft">
              {doneCount} of {states.length}
            </span>
          </h3>
          <ol>
            {states.map(({ name, state: stepState }) => (
              <li class={stepState}>
                <span class="mark" aria-hidden="true">
                  {MARKS[stepState]}
                </span>
                <div>
                  <p>
                    <b>{WORDS[name].title}</b> <span class="sr-only">{STATE_WORDS[stepState]}</span>
                    {setup.steps[name] && (
                      <time class="soft small" dateTime={setup.steps[name]}>
                        {clockTime(Date.parse(setup.steps[name]))}
                      </time>
                    )}
                  </p>
                  {stepState === 'next' && <p class="soft">{WORDS[name].hint}</p>}
                  {stepState === 'skipped' && <p class="soft">{WORDS[name].skipped}</p>}
                  {stepState === 'failing' && (
                    <p class="wash wrong">
                      <LongText of={setup.problem!.message} />
                    </p>
                  )}
                </div>
              </li>
            ))}
          </ol>
          {state.refused.length > 0 && (
            <p>
              <button class="link" onClick={() => feed.choose('refused')}>
                See what was refused
              </button>
            </p>
          )}
        </div>
      </div>
    </section>
  );
};

/** The quickest way to a first row: this page sends it as a page of the site would. */
const SendTest = ({ test }: { test: TestEvent }) => {
  const [told, tell] = useState('');
  const send = async (): Promise<void> => {
    tell('Sending …');
    tell((await sendTest(test)) ?? 'Taken. It is shown here in a moment.');
  };
  return (
    <div class="test-event wrap">
      <button class="primary" onClick={() => void send()}>
        Send a test event
      </button>
      <p class="soft" role="status">
        {told || `As a page with the tag does, into the project ${test.body.project}.`}
      </p>
    </div>
  );
};

const Snippet = ({ label, text }: { label: string; text: string }) => (
  <div class="snippet">
    <pre tabIndex={0} aria-label={label} dir="ltr">
      {text}
    </pre>
    <CopyButton text={() => text} />
  </div>
);
