import { createHash } from 'node:crypto';
import { mayFail } from '../../util/may-fail.js';
import { isLocalName } from '../../util/is-local-name.js';

/** An address that messages go to. */
export interface NotifyAddress {
  kind: 'webhook' | 'ntfy' | 'slack';
  /** The address of requests, without user and password. */
  url: string;
  /** The topic of ntfy; empty for the others. */
  topic: string;
  /** The value of the header, if the address has a user or a password. */
  authorization: string | undefined;
  /**
   * The name of the target in the store and for people: its host, the first characters of a topic, and a few letters
   * that tell apart addresses of one host. An ntfy topic and the path of a webhook are passwords, so they are not in it.
   */
  name: string;
  /** Parts of the address that may not be shown. */
  secrets: readonly string[];
}

const ADDRESS = /^(?:(ntfy|slack)\+)?(https?|ntfy):\/\/(\S+)$/;
/** https://docs.ntfy.sh/publish/ */
const TOPIC = /^[-\w]{1,64}$/;
const decoded = (text: string): string => mayFail(() => decodeURIComponent(text)) ?? text;
/** How much of a topic is shown: four characters, and no more than a third. */
const startOf = (topic: string): string =>
  topic.slice(0, Math.min(4, Math.floor(topic.length / 3)));

/**
 * Reads an address: `https://…` is a webhook, `ntfy://host/topic` is ntfy, `slack+https://…` is Slack. Plain http
 * (`http://`, `ntfy+http://`, `slack+http://`) is only for this machine. Undefined if it is none of these.
 */
export const parseNotifyAddress = (text: string): NotifyAddress | undefined => {
  const [, prefix, scheme, rest] = ADDRESS.exec(text) ?? [];
  const isNtfy = prefix === 'ntfy' || (scheme === 'ntfy' && !prefix);
  if (scheme === 'ntfy' && prefix) return undefined;
  const given = `${scheme === 'http' ? 'http' : 'https'}://${rest}`;
  if (!rest || !URL.canParse(given)) return undefined;
  const url = new URL(given);
  const { username, password, host, hostname, pathname, search, hash } = url;
  const topic = isNtfy ? pathname.slice(1) : '';
  const isFine = isNtfy ? TOPIC.test(topic) && !search : !prefix || pathname.length > 1;
  if (hash || !isFine || (url.protocol === 'http:' && !isLocalName(hostname))) return undefined;

  const [user, word] = [decoded(username), decoded(password)];
  url.username = url.password = '';
  if (isNtfy) url.pathname = '/';
  const kind = isNtfy ? 'ntfy' : prefix === 'slack' ? 'slack' : 'webhook';
  const mark = createHash('sha256').update(`${kind} ${url.href} ${topic}`).digest('hex');
  return {
    ...{ kind, url: url.href, topic },
    authorization:
      user || word ? `Basic ${Buffer.from(`${user}:${word}`).toString('base64')}` : undefined,
    name: `${host}/${startOf(topic)}…${mark.slice(0, 6)}`,
    secrets: [word, topic, pathname + search, ...pathname.split('/'), ...search.split(/[?&=]/)]
      .filter((part) => part.length > 3)
      .sort((one, other) => other.length - one.length),
  };
};
