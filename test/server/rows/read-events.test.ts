import { expect, it } from 'vitest';
import {
  createEventReader,
  type ServerEvent,
} from '../../../src/server/rows/page/state/read-events.js';

const STREAM =
  ': hello\n\nevent: row\nid: 7.2\ndata: {"a":\ndata: 1}\n\ndata:plain\r\n\r\n' +
  'event: nothing\n\nid: 8.2\nevent:ready\ndata: {}\n\ndata: unfinished';
const EVENTS: ServerEvent[] = [
  { name: 'row', data: '{"a":\n1}', id: '7.2' },
  { name: 'message', data: 'plain', id: '7.2' },
  { name: 'ready', data: '{}', id: '8.2' },
];

it('reads the same events, wherever the stream is cut', () => {
  for (let size = 1; size <= STREAM.length; size++) {
    const found: ServerEvent[] = [];
    const read = createEventReader((event) => found.push(event));
    for (let at = 0; at < STREAM.length; at += size) read(STREAM.slice(at, at + size));
    expect(found).toEqual(EVENTS);
  }
});
