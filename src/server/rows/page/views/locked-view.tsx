import { useState } from 'preact/hooks';
import type { TargetedSubmitEvent } from 'preact';
import type { Connection } from '../state/connection.js';
import { unlock } from '../state/service.js';
import { Message } from './message.js';
import { Brand } from './top-bar.js';

/** The service shows its rows to those who have the read token. */
export const LockedView = ({
  connection,
}: {
  connection: Extract<Connection, { kind: 'locked' }>;
}) => {
  const [problem, setProblem] = useState<string>();
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const token = String(new FormData(event.currentTarget).get('token'));
    const wrong = await unlock(token);
    if (wrong) setProblem(wrong);
    else location.reload();
  };
  return (
    <>
      <header class="top">
        <Brand name="Locked" />
      </header>
      <main>
        <section class="locked card">
          <h2>These rows are locked</h2>
          {connection.status === 401 ? (
            <>
              <p class="soft">
                The service asks for its read token, or for one of a project. It stands in{' '}
                <code>READ_TOKEN</code> or <code>READ_TOKENS</code>, or in the data folder of the
                service. The browser keeps it in a cookie that no script can read.
              </p>
              <form class="wrap" onSubmit={(event) => void submit(event)}>
                {/* Password managers keep a password under a name. */}
                <input hidden readOnly autocomplete="username" value="rows" />
                <label class="field">
                  <span>Read token</span>
                  <input name="token" type="password" autocomplete="current-password" required />
                </label>
                <button class="primary">Show the rows</button>
              </form>
              <p class="wrong" role="alert">
                {problem}
              </p>
            </>
          ) : (
            <>
              <p>
                <Message of={connection.why} />
              </p>
              <p class="soft">
                Open the page at the address that the service printed when it started, or{' '}
                <a href={location.pathname}>without filters</a>.
              </p>
            </>
          )}
        </section>
      </main>
    </>
  );
};
