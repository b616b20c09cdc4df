import type { EventBody, IdentifyBody } from '../interface/bodies.js';
import type { Row } from '../server/store/port.js';
import { literal, quoted } from './literal.js';
import { curlCommand, inShellQuotes } from './shell.js';
import { escapeHidden } from './visible.js';

/** What one can take away from a row, as text. */
export interface Copies {
  json: string;
  curl: string;
  call: string;
  assertion: string;
}

export const copiesOf = (row: Row, service: string): Copies => ({
  json: escapeHidden(JSON.stringify(row.body, null, 2)),
  curl: curlOf(row.type, row.body, service),
  call: callOf(row),
  assertion: assertionOf(row, service),
});

/** Reads the token of the command behind it, on the machine that the service runs on. */
export const readToken = (file: string): string => `TOKEN=$(cat ${inShellQuotes(file)})`;

/** Stores the same again, as a new row: no key is sent that would make it a repeat. */
export const curlOf = (type: Row['type'], body: object, service: string): string =>
  curlCommand(
    `${service}/v1/${type}`,
    ['"Authorization: Bearer $TOKEN"'],
    escapeHidden(JSON.stringify(body)),
  );

const isFilled = (value: object | undefined): boolean => !!value && Object.keys(value).length > 0;

/** `analytics.event(…)` or `analytics.identify(…)`, with what was given. The time is left out: a call is made now. */
const callOf = ({ type, body }: Row): string => {
  if (type === 'identify') {
    const { user_id, properties } = body as IdentifyBody;
    const traits = isFilled(properties) ? `, ${literal(properties)}` : '';
    return `analytics.identify(${quoted(user_id)}${traits});`;
  }
  const { event, channel, description, icon, notify, tags, user_id } = body as EventBody;
  const fields = {
    ...{ channel },
    ...(description ? { description } : {}),
    ...(icon ? { icon } : {}),
    ...(notify ? { notify } : {}),
    ...(user_id ? { userId: user_id } : {}),
    ...(isFilled(tags) ? { tags } : {}),
  };
  return `analytics.event(${quoted(event)}, ${literal(fields)});`;
};

/** A test that waits until a row like this one is stored. The time of the call is not compared. */
const assertionOf = ({ type, project, body }: Row, service: string): string => {
  const isEvent = type === 'event';
  const { user_id } = body;
  const query = {
    project,
    type,
    ...(isEvent ? { event: (body as EventBody).event } : {}),
    ...(user_id ? { user: user_id } : {}),
    ...{ newest: '1', limit: '1', format: 'json' },
  };
  const wanted = Object.fromEntries(Object.entries(body).filter(([key]) => key !== 'timestamp'));
  return `const query = new URLSearchParams(${literal(query)});
const stored = async () => {
  const response = await fetch(\`${service}/rows?\${query}\`, {
    headers: { authorization: \`Bearer \${process.env.READ_TOKEN}\` },
  });
  return (await response.json()).rows[0]?.body;
};
await expect.poll(stored).toMatchObject(${literal(wanted)});`;
};
