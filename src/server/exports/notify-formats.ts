import { createHmac } from 'node:crypto';
import type { NotifyAddress } from './notify-address.js';
import { bareOf, cutText, wordsOf, type Message, type Words } from './notify-message.js';

/** What requests to a target are made of. */
export interface NotifyTarget {
  address: NotifyAddress;
  /** The secrets that sign webhooks, each `whsec_` and base64. */
  secrets: readonly string[];
  /** Where people reach the page of the rows. */
  publicUrl: string | undefined;
}

const SECRET = /^whsec_([\w+/-]+=*)$/;
const keyOf = (secret: string): Buffer => Buffer.from(SECRET.exec(secret)?.[1] ?? '', 'base64');
/** Whether a text is a secret of Standard Webhooks, whose key has 24 to 64 bytes. */
export const isWebhookSecret = (secret: string): boolean => {
  const { length } = keyOf(secret);
  return length >= 24 && length <= 64;
};

/**
 * A signature for each secret, so that the receiver may know any of them.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export const signaturesOf = (content: string, secrets: readonly string[]): string =>
  secrets
    .map((secret) => createHmac('sha256', keyOf(secret)).update(content).digest('base64'))
    .map((signature) => `v1,${signature}`)
    .join(' ');

/** The body of a webhook. Nothing in it changes when the message is sent again. */
const webhookBody = ({ groups, count, others, to: timestamp }: Message): object => {
  const events = groups.map(({ project, channel, event, count }) => ({
    ...{ project, channel, event, count },
  }));
  if (events.length > 1)
    return { timestamp, type: 'events.notified', data: { count, events, others } };
  const { first, last } = groups[0];
  return { timestamp, type: 'event.notified', data: { ...events[0], first, last } };
};
const webhookHeaders = (id: string, body: string, secrets: readonly string[], now: number) => {
  const seconds = String(Math.floor(now / 1_000));
  return {
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': signaturesOf(`${id}.${seconds}.${body}`, secrets),
  };
};

/** Characters of a text, and of the same text once it is escaped for Slack. */
const [MAX_TEXT, MAX_ESCAPED] = [1_000, 1_900];

/** ntfy shows plain text. One that is sent again with its `sequence_id` replaces the first, and does not ring again. */
const ntfyBody = (topic: string, sequence_id: string, { title, lines, link }: Words): object => ({
  ...{ topic, title, message: cutText(lines.join('\n'), MAX_TEXT), sequence_id },
  ...(link && { click: link }),
});

/** A space without width, which breaks what an app would make a mention or a link of. */
const GAP = '\u200b';
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
/** https://docs.slack.dev/messaging/formatting-message-text#escaping */
const escapeSlack = (text: string): string =>
  text
    .replace(/[&<>]/g, (sign) => ENTITIES[sign]!)
    .replace(/@(?=\w)|\](?=\()|:(?=\/\/)/g, `$&${GAP}`);

/**
 * The blocks have strangers' texts as plain text, in which Slack makes no links or mentions. The text is for the preview,
 * and for apps that take messages of Slack and know no blocks.
 */
const slackBody = ({ title, lines, link }: Words): object => {
  const text = cutText([title, ...lines].join('\n'), MAX_TEXT);
  const linked = link ? [`<${link}|Show the rows>`] : [];
  const section = (type: string, text: string) => ({ type: 'section', text: { type, text } });
  return {
    text: [cutText(escapeSlack(text), MAX_ESCAPED), ...linked].join('\n'),
    blocks: [section('plain_text', text), ...linked.map((text) => section('mrkdwn', text))],
    ...{ unfurl_links: false, unfurl_media: false },
  };
};

/** The length of the longest text in a value. */
const longestIn = (value: unknown): number =>
  typeof value === 'object' && value
    ? Math.max(0, ...Object.values(value).map(longestIn))
    : String(value).length;
const bytesOf = (value: object): number => Buffer.byteLength(JSON.stringify(value));

/** What receivers take. ntfy makes a file of a longer message, and many servers take webhooks of 16 KiB. */
const BOUNDS: Readonly<Record<NotifyAddress['kind'], (body: object) => boolean>> = {
  webhook: (body) => bytesOf(body) <= 16_384,
  ntfy: (body) => bytesOf(body) <= 4_096,
  // https://docs.slack.dev/reference/block-kit/blocks/section-block
  slack: (body) => longestIn(body) <= 3_000,
};

/** The body of a message, which is bare if it is too long for its receiver otherwise, or if that is wanted. */
const bodyOf = (
  { address: { kind, topic }, publicUrl }: NotifyTarget,
  message: Message,
  { now, isBare }: { now: number; isBare: boolean },
): object => {
  const bodies = {
    webhook: (shown: Message) => webhookBody(shown),
    ntfy: (shown: Message, link?: string) => ntfyBody(topic, message.id, wordsOf(shown, now, link)),
    slack: (shown: Message, link?: string) => slackBody(wordsOf(shown, now, link)),
  };
  const whole = bodies[kind](message, publicUrl);
  return isBare || !BOUNDS[kind](whole) ? bodies[kind](bareOf(message)) : whole;
};

/** The request that brings a message to a target. */
export const notifyRequest = (
  target: NotifyTarget,
  message: Message,
  { now, isBare = false }: { now: number; isBare?: boolean },
): { url: string; headers: Record<string, string>; body: string } => {
  const { secrets, address } = target;
  const { kind, url, authorization } = address;
  const body = JSON.stringify(bodyOf(target, message, { now, isBare }));
  return {
    ...{ url, body },
    headers: {
      ...{ 'content-type': 'application/json', 'user-agent': 'analytics-outbox' },
      ...(kind === 'webhook' && webhookHeaders(message.id, body, secrets, now)),
      ...(authorization && { authorization }),
    },
  };
};
