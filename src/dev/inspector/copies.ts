import type { Status } from '../../client/types.js';
import { curlCommand } from '../../show/shell.js';
import { endpointOf, formOf, type Destination } from './destination.js';
import { attemptsOf, bodyOf, type Line } from './lines.js';
import type { OptionRow } from './options-table.js';
import { VERSION } from './version.js';

const pretty = (value: unknown): string => JSON.stringify(value, undefined, 2);
export const prettyBody = (line: Line): string => pretty(bodyOf(line));

/** The request of a record for a terminal. Of the token it has a variable's name alone. */
export const curlOf = ({ id, type, body, calledAt }: Line, destination: Destination): string => {
  const { isRelay, resends } = destination;
  const batch = `{"sent_at":"${new Date().toISOString()}","records":[{"id":"${id}","type":"${type}","called_at":${calledAt},"body":${body}}]}`;
  const direct = [
    '"Authorization: Bearer $TOKEN"',
    ...(resends ? [`'Idempotency-Key: ${id}'`] : []),
  ];
  const headers = isRelay ? [`'Origin: ${location.origin}'`] : direct;
  return curlCommand(endpointOf(destination, type), headers, isRelay ? batch : body);
};

/** The call that makes such a record. */
export const callOf = (line: Line, name: string): string => {
  const { event, user_id: userId, properties, ...fields } = bodyOf(line);
  // The project is an option, so it is left out.
  const [subject, given] = event
    ? [event, { ...fields, project: undefined, userId }]
    : [userId, properties];
  return `${name}.${line.type}(${pretty(subject)}, ${pretty(given)});`;
};

/** All that the inspector shows of records, as a file to keep. */
export const exportOf = (lines: readonly Line[]): string =>
  pretty(lines.map((line) => ({ ...line, body: bodyOf(line) })));

/** How many records are told of in a report. */
const TOLD = 20;

export const REPORT_HOLDS =
  'It holds version, browser, status, names of options, and the fate of the last records; no token, address, name, user or content.';

interface Report {
  status: Status;
  options: () => readonly OptionRow[];
  destination: Destination | undefined;
  lines: readonly Line[];
}

/** What an issue needs, and nothing that is the site's or the visitor's own. */
export const reportOf = ({ status, options, destination, lines }: Report): string =>
  [
    `analytics-outbox ${VERSION} ${formOf(destination)}`,
    navigator.userAgent,
    JSON.stringify({ ...status, userId: undefined }),
    ...options().map(({ name, origin }) => `${name}: ${origin}`),
    ...lines.slice(0, TOLD).map((line) => {
      const { type, end, tries } = line;
      // The words of a refusal may hold an address: the reason alone is told.
      const what =
        end?.what === 'dropped' ? end.message.replace(/:[^]*/, '') : (end?.what ?? 'waits');
      const answers = tries.map(({ status }) => status ?? '…').join(', ');
      return `- ${type}, attempts ${attemptsOf(line)} (${answers}): ${what}`;
    }),
  ].join('\n');
