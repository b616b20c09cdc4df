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

const operationOf = (method, path, operation) => {
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
    Object.entries(methods).flatMap(([method, operation]) => operationOf(method, path, operation)),
  );
  const schemas = Object.entries(document.components.schemas).flatMap(([name, schema]) => [
    `### ${name}`,
    schema.properties || schema.additionalProperties
      ? fieldsOf(schema)
      : `One of ${typeOf(schema)}.`,
  ]);
  const text = [
    '# The wire',
    'What goes over HTTP, from the OpenAPI document of [the server](server-answers.md). A test calls every path, parameter and status that it names. A service of your own needs only [the first two operations](services.md).',
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
