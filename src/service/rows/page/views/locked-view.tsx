import type { TargetedSubmitEvent } from 'preact';
import type { Connection } from '../state/connection.js';

/** A form of its own would need a policy that lets it go anywhere. The service takes the token out of the address. */
const unlock = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
  event.preventDefault();
  const token = String(new FormData(event.currentTarget).get('token'));
  location.assign(`/rows?${new URLSearchParams({ token })}`);
};

/** The service shows its rows to those who have the read token. */
export const LockedView = ({
  connection,
}: {
  connection: Extract<Connection, { kind: 'locked' }>;
}) => (
  <main class="locked">
    <h1>These rows are locked</h1>
    {connection.status === 401 ? (
      <>
        <p>
          The service asks for its read token. It stands in <code>READ_TOKEN</code>, or in the data
          folder of the service. The browser keeps it in a cookie that no script can read.
        </p>
        <form onSubmit={unlock}>
          <label for="token">Read token</label>
          <input id="token" name="token" type="password" autocomplete="current-password" required />
          <button class="primary">Show the rows</button>
        </form>
      </>
    ) : (
      <p>Open the page at the address that the service printed when it started.</p>
    )}
    <p class="soft">{connection.why}</p>
  </main>
);
