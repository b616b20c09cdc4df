import { useState } from 'preact/hooks';
import type { TargetedSubmitEvent } from 'preact';
import type { Connection } from '../state/connection.js';
import { unlock } from '../state/service.js';

/** What the service said of the token that was typed in. */
type Answer = 'wrong' | 'none';
const WORDS: Readonly<Record<Answer, string>> = {
  wrong: 'The service does not know this token.',
  none: 'The service does not answer. Try again.',
};

/** The service shows its rows to those who have the read token. */
export const LockedView = ({
  connection,
}: {
  connection: Extract<Connection, { kind: 'locked' }>;
}) => {
  const [answer, setAnswer] = useState<Answer>();
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const token = String(new FormData(event.currentTarget).get('token'));
    const isKnown = await unlock(token).catch(() => undefined);
    if (isKnown) location.reload();
    else setAnswer(isKnown === undefined ? 'none' : 'wrong');
  };
  return (
    <main class="locked">
      <h1>These rows are locked</h1>
      {connection.status === 401 ? (
        <>
          <p>
            The service asks for its read token. It stands in <code>READ_TOKEN</code>, or in the
            data folder of the service. The browser keeps it in a cookie that no script can read.
          </p>
          <form onSubmit={(event) => void submit(event)}>
            {/* Password managers keep a password under a name. */}
            <input hidden readOnly autocomplete="username" value="rows" />
            <label for="token">Read token</label>
            <input
              id="token"
              name="token"
              type="password"
              autocomplete="current-password"
              required
            />
            <button class="primary">Show the rows</button>
          </form>
          <p role="alert">{answer && WORDS[answer]}</p>
        </>
      ) : (
        <p>Open the page at the address that the service printed when it started.</p>
      )}
      {connection.status !== 401 && <p class="soft">{connection.why}</p>}
    </main>
  );
};
