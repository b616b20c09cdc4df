import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadSource } from '../scripts/load-source.mjs';

const typeOf = (schema) => {
  if (schema.$ref) {
    const name = schema.$ref.split('/').at(-1);
    return `[${name}](#${name.toLowerCase()})`;
  }
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(', ');
  if (schema.type === 'array') return `list of ${typeOf(schema.items)}`;
  return schema.format === 'date-time' ? 'date-time' : schema.type;
};

const table = (head, rows) =>
  rows.length
    ? [head, head.map(() => '---'), ...rows]
        .map((row) => `| ${row.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`)
        .join('\n')
    : '';

const fieldsOf = ({ properties = {}, required = [], additionalProperties }) =>
  Object.keys(properties).length
    ? table(
        ['field', 'type', 'given'],
        Object.entries(properties).map(([name, schema]) => [
          `\`${name}\``,
          typeOf(schema),
          required.includes(name) ? 'always' : 'optional',
        ]),
      )
    : additionalProperties
      ? 'An object of any fields.'
      : '';

const WHO = { writeToken: 'a write token', readToken: 'the read token, where the service has one' };

const bodyOf = (content) =>
  Object.entries(content)
    .map(([type, { schema }]) =>
      schema.properties ? `\`${type}\`` : `\`${type}\`: ${typeOf(schema)}`,
    )
    .join('; ');

/** What a field holds in an example, by its name. Any other field has a value of its type. */
const SAMPLES = {
  ...{ project: 'shop', channel: 'web', event: 'Signed Up', user_id: 'user_1', user: 'user_1' },
  ...{ id: 'V1StGXR8_Z5jdHi6B-myT', properties: { plan: 'pro' }, tags: { plan: 'pro' } },
  ...{ type: 'event', outcome: 'delivered', message: '…', reason: 'field' },
  ...{ file: 'rows.js', seq: 17, seqs: [3, 4], arrivals: 1, status: 200, next: 17, dry: 1 },
};
const TIME = '2026-03-01T12:00:00.000Z';
/** Not required, and worth showing. */
const SHOWN = ['tags', 'next', 'dry'];

const sampleOf = (schema, schemas, name) => {
  if (schema.$ref) return sampleOf(schemas[schema.$ref.split('/').at(-1)], schemas, name);
  if (schema.const !== undefined) return schema.const;
  if (schema.oneOf) return sampleOf(schema.oneOf[0], schemas, name);
  if (schema.properties) {
    const { properties, required = [] } = schema;
    return Object.fromEntries(
      Object.entries(properties)
        .filter(([key]) => required.includes(key) || SHOWN.includes(key))
        .map(([key, value]) => [key, sampleOf(value, schemas, key)]),
    );
  }
  if (schema.enum) return schema.enum.includes(SAMPLES[name]) ? SAMPLES[name] : schema.enum[0];
  if (schema.format === 'date-time') return TIME;
  // The body of a record, or of a row, is that of its type.
  if (name === 'body' && schema.additionalProperties)
    return sampleOf({ $ref: 'Event' }, schemas, 'event');
  if (name in SAMPLES) return SAMPLES[name];
  if (schema.type === 'array') return [sampleOf(schema.items, schemas, name)];
  return { integer: 1, boolean: true, object: {} }[schema.type] ?? '…';
};

const exampleOf = (method, path, { security, parameters = [], requestBody }, schemas) => {
  const needed = parameters.filter(({ name, required }) => required || SHOWN.includes(name));
  const filled = path.replace(/[{](\w+)[}]/g, (_, name) => SAMPLES[name]);
  const query = needed
    .filter(({ in: where }) => where === 'query')
    .map(({ name, schema }) => `--data-urlencode '${name}=${sampleOf(schema, schemas, name)}'`);
  const [token] = security.flatMap((one) => Object.keys(one));
  const variable = { writeToken: '$WRITE_TOKEN', readToken: '$READ_TOKEN' }[token];
  const sent = requestBody?.content['application/json'].schema;
  const parts = [
    `curl${query.length ? ' -G' : ''}${method === 'get' || sent ? '' : ` -X ${method.toUpperCase()}`} 'http://localhost:8787${filled}'`,
    ...query,
    variable && `-H "Authorization: Bearer ${variable}"`,
    sent && `-H 'Content-Type: application/json'`,
    sent && `-d '${JSON.stringify(sampleOf(sent, schemas))}'`,
  ].filter(Boolean);
  return `\`\`\`sh\n${parts.join(' \\\n  ')}\n\`\`\``;
};

const answerOf = ({ 200: answer }, schemas) => {
  const schema = answer?.content?.['application/json']?.schema;
  const sample = schema && sampleOf(schema, schemas);
  return sample && Object.keys(sample).length
    ? `answers\n\n\`\`\`json\n${JSON.stringify(sample, null, 2)}\n\`\`\``
    : '';
};

const operationOf = (method, path, operation, schemas) => {
  const { summary, security, parameters = [], requestBody, responses } = operation;
  const tokens = security.flatMap((one) => Object.keys(one).map((name) => WHO[name]));
  const answers = Object.entries(responses).map(([status, { description, content, headers }]) => [
    status,
    description + (headers ? ` With \`${Object.keys(headers).join('`, `')}\`.` : ''),
    content ? bodyOf(content) : '',
  ]);
  const inline = Object.values(responses)
    .flatMap(({ content = {} }) => Object.values(content))
    .map(({ schema }) => schema)
    .filter(({ properties }) => properties);
  const sent = requestBody?.content['application/json'].schema;
  return [
    `### ${method.toUpperCase()} \`${path}\``,
    summary,
    tokens.length ? `It asks for ${tokens.join(' or ')}.` : 'It asks for no token.',
    exampleOf(method, path, operation, schemas),
    answerOf(responses, schemas),
    sent &&
      (sent.$ref
        ? `The body is ${typeOf(sent)}, as JSON.`
        : `The body, as JSON:\n\n${fieldsOf(sent)}`),
    table(
      ['parameter', 'in', 'type', 'meaning'],
      parameters.map(({ name, in: where, schema, description = '' }) => [
        `\`${name}\``,
        where,
        typeOf(schema),
        description,
      ]),
    ),
    table(['status', 'meaning', 'body'], answers),
    ...inline.map((schema) => `The JSON of the answer:\n\n${fieldsOf(schema)}`),
  ];
};

/** Writes the page about the service's HTTP interface, and its document beside it, both from the service's source. */
export const writeWire = async (pages) => {
  const { OPENAPI: document } = await loadSource('src/server/openapi.ts');
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      operationOf(method, path, operation, document.components.schemas),
    ),
  );
  const schemas = Object.entries(document.components.schemas).flatMap(([name, schema]) => [
    `### ${name}`,
    schema.properties || schema.additionalProperties
      ? fieldsOf(schema)
      : `One of ${typeOf(schema)}.`,
  ]);
  const text = [
    '# The wire',
    'What goes over HTTP, from the OpenAPI document of [the server](server-answers.md). Each operation has an example, with the fields that it needs. A test calls every path, parameter and status. A service of your own needs only [the first two operations](services.md).',
    'The document itself is <a href="./openapi.json" target="_self">openapi.json</a>; a running service answers it at `/openapi.json`.',
    '## Operations',
    ...operations,
    '## Bodies',
    ...schemas,
  ].filter((part) => part);
  writeFileSync(join(pages, 'wire.md'), `${text.join('\n\n')}\n`);
  mkdirSync(join(pages, 'public'), { recursive: true });
  writeFileSync(join(pages, 'public/openapi.json'), JSON.stringify(document, null, 2));
};
