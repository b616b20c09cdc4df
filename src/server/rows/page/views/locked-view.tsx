import { useState } from 'preact/hooks';
import type { TargetedSubmitEvent } from 'preact';
import type { Connection } from '../state/connection.js';
import { unlock } from '../state/service.js';

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
    <main class="locked">
      <h1>These rows are locked</h1>
      {connection.status === 401 ? (
        <>
          <p>
            The service asks for its read token, or for one of a project. It stands in{' '}
            <code>READ_TOKEN</code> or <code>READ_TOKENS</code>, or in the data folder of the
            service. The browser keeps it in a cookie that no script can read.
          </p>
          <form class="wrap" onSubmit={(event) => void submit(event)}>
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
          <p role="alert">{problem}</p>
        </>
      ) : (
        <>
          <p>{connection.why}</p>
          <p>
            Open the page at the address that the service printed when it started, or{' '}
            <a href={location.pathname}>without filters</a>.
          </p>
        </>
      )}
    </main>
  );
};
