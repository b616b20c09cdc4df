import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parseNotifyAddress } from '../../../src/server/exports/notify-address.js';
import {
  isWebhookSecret,
  notifyRequest,
  signaturesOf,
} from '../../../src/server/exports/notify-formats.js';
import { createMessage, shownRow, type Group } from '../../../src/server/exports/notify-message.js';
import type { Row } from '../../../src/service.js';

const NOW = Date.UTC(2026, 2, 1, 12, 0, 30);
const [ONE, OTHER] = [1, 2].map((fill) => `whsec_${Buffer.alloc(32, fill).toString('base64')}`) as [
  string,
  string,
];

const rowOf = (body: object, id = 'first'): Row => ({
  ...{ seq: 7, id, type: 'event', project: 'shop', arrivals: 1 },
  ...{ called_at: '2026-03-01T12:00:00.000Z', received_at: '2026-03-01T12:00:01.000Z' },
  body: { project: 'shop', channel: 'orders', event: 'Paid', timestamp: '', ...body },
});
const groupOf = (more: Partial<Group> = {}, body: object = {}): Group => ({
  ...{ project: 'shop', channel: 'orders', event: 'Paid', place: 7, count: 1 },
  ...{ first: shownRow(rowOf(body)), last: shownRow(rowOf(body, 'last')), ...more },
});

const requestOf = (
  address: string,
  groups: [Group, ...Group[]],
  { publicUrl, secrets = [ONE] }: { publicUrl?: string; secrets?: string[] } = {},
) => {
  const target = { address: parseNotifyAddress(address)!, secrets, publicUrl };
  const { body, headers } = notifyRequest(target, createMessage(groups), { now: NOW });
  return { text: body, headers, body: JSON.parse(body) as Record<string, unknown> };
};
const [WEBHOOK, NTFY, SLACK] = [
  ...['https://hooks.example/a', 'ntfy://ntfy.sh/orders', 'slack+https://hooks.slack.com/x'],
] as [string, string, string];

it('signs a webhook with each secret, so that a receiver with either takes it', () => {
  const { text, headers } = requestOf(WEBHOOK, [groupOf()], { secrets: [ONE, OTHER] });
  expect(headers['webhook-timestamp']).toBe('1772366430');
  const content = `${headers['webhook-id']}.1772366430.${text}`;
  const byHand = [ONE, OTHER].map((secret) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
  });
  expect(headers['webhook-signature']).toBe(byHand.join(' '));
});

it('signs as the example of the specification does', () => {
  // https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
  const content = 'msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}';
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  expect(isWebhookSecret(secret)).toBe(true);
  expect(signaturesOf(content, [secret])).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});

it.each([
  '',
  'whsec_',
  'whsec_c2hvcnQ=',
  'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  `whsec_${'A'.repeat(100)}`,
])('refuses the secret "%s"', (secret) => {
  expect(isWebhookSecret(secret)).toBe(false);
});

it('says in a webhook what the rows were, the same whenever it is sent', () => {
  const group = groupOf({ count: 52 }, { description: 'order 7', tags: { sum: 3 }, user_id: 'u' });
  const { body } = requestOf(WEBHOOK, [group]);
  expect(body).toEqual({
    type: 'event.notified',
    timestamp: '2026-03-01T12:00:01.000Z',
    data: {
      ...{ project: 'shop', channel: 'orders', event: 'Paid', count: 52 },
      first: expect.objectContaining({ id: 'first' }) as unknown,
      last: expect.objectContaining({
        id: 'last',
        description: 'order 7',
        tags: { sum: 3 },
      }) as unknown,
    },
  });
});

it('has an id that differs where two projects have the same ids, and fits a header', () => {
  const ids = ['shop', 'blog'].map(
    (project) =>
      requestOf(WEBHOOK, [groupOf({ project, first: shownRow(rowOf({}, '\u{1F600}\n')) })]).headers[
        'webhook-id'
      ],
  );
  for (const id of ids) expect(id).toMatch(/^msg_[\da-f]{32}$/);
  expect(ids[0]).not.toBe(ids[1]);
});

it('names the groups with the most rows, and counts those of all others', () => {
  const groups = Array.from({ length: 14 }, (_, n) =>
    groupOf({ event: `Event ${n}`, count: n + 1 }),
  );
  const { body } = requestOf(NTFY, groups as [Group]);
  expect(body['title']).toBe('105 notifications in the last minute');
  const lines = (body['message'] as string).split('\n');
  expect(lines[0]).toBe('14 × Event 13 (shop/orders)');
  expect(lines).toHaveLength(11);
  expect(lines.at(-1)).toBe('and 10 others');
});

it('writes for people: an icon, how many since when, and the newest description', () => {
  const group = groupOf({ count: 52 }, { icon: '🛒', description: 'order 7' });
  const { body } = requestOf(NTFY, [group], { publicUrl: 'https://in.example/base/' });
  expect(body).toMatchObject({
    topic: 'orders',
    title: '🛒 52 × Paid in the last minute',
    message: 'order 7\nshop/orders',
    click: 'https://in.example/base/rows?project=shop&channel=orders&event=Paid',
  });
  expect(body).not.toHaveProperty('markdown');
});

const HOSTILE =
  '<!channel> @here [free](https://evil.example) *x* & "\u202etxt.exe\u0000\nsecond line';

it('gives Slack texts of strangers as plain text, and mentions nobody', () => {
  const group = groupOf({ event: HOSTILE }, { description: HOSTILE, icon: '<!here>' });
  const { body } = requestOf(SLACK, [group], { publicUrl: 'https://in.example' });
  const [words, link] = body['blocks'] as { text: { type: string; text: string } }[];
  expect(words!.text.type).toBe('plain_text');
  expect(link!.text).toEqual({
    type: 'mrkdwn',
    text: expect.stringMatching(
      /^<https:\/\/in\.example\/rows\?[\w=&%+.*-]+\|Show the rows>$/,
    ) as unknown,
  });
  const text = body['text'] as string;
  const ofStranger = text.slice(0, text.lastIndexOf('\n'));
  expect(ofStranger).toContain('&lt;!channel&gt;');
  expect(ofStranger).not.toMatch(/[<>]|@here|\]\(|https:\/\/|\u202e|\u0000/);
  expect(text.split('\n')).toHaveLength(4); // event, description, project and channel, link
});

it('gives ntfy texts of strangers on a line each', () => {
  const group = groupOf({ event: HOSTILE, channel: HOSTILE }, { description: HOSTILE });
  const { title, message, ...more } = requestOf(NTFY, [group]).body as Record<string, string>;
  expect(title).not.toMatch(/[\u0000-\u001f\u202e]/);
  expect(message!.split('\n')).toHaveLength(2);
  expect(more).not.toHaveProperty('click');
});

const bytesOf = (text: string) => new TextEncoder().encode(text).length;
/** The texts of a message to Slack, each of which may have 3,000 characters. */
const textsOf = (text: string): string[] => {
  const { text: preview, blocks } = JSON.parse(text) as {
    text: string;
    blocks: { text: { text: string } }[];
  };
  return [preview, ...blocks.map((block) => block.text.text)];
};
const longest = (texts: string[]) => Math.max(...texts.map(({ length }) => length));

describe.each(['字', '"', '&', '\u0001', '\ud800', '\u{1F600}', 'x'])(
  'however many %j there are,',
  (sign) => {
    const long = sign.repeat(20_000);
    const most = (length: number) => sign.repeat(length).slice(0, length);
    const names = { project: most(200), channel: most(200), event: most(200) };
    const body = { description: long, icon: long, tags: { a: long } };
    const group = (n: number) => groupOf({ ...names, count: 14 - n, place: n }, body);
    const all = Array.from({ length: 14 }, (_, n) => group(n)) as [Group];
    const link = { publicUrl: 'https://in.example' };

    it.each([
      ['one event', [group(1)] as [Group]],
      ['many events', all],
    ])('a message about %s is no longer than its receiver takes', (_, groups) => {
      expect(bytesOf(requestOf(WEBHOOK, groups, link).text)).toBeLessThanOrEqual(16_384);
      expect(bytesOf(requestOf(NTFY, groups, link).text)).toBeLessThanOrEqual(4_096);
      expect(longest(textsOf(requestOf(SLACK, groups, link).text))).toBeLessThanOrEqual(3_000);
    });
  },
);

it('leaves the filters out of a link that they would make too long', () => {
  const names = { project: 'shop', channel: '字'.repeat(200), event: '字'.repeat(200) };
  const { body } = requestOf(NTFY, [groupOf(names)], { publicUrl: 'https://in.example' });
  expect(body).toMatchObject({ title: names.event, click: 'https://in.example/rows' });
});
