import { Hono } from 'hono';
import type { RecordType } from '../../src/interface/bodies';
import { wrongField } from '../../src/interface/validate';
import { allowMethods } from './allow-methods';
import { refuse, succeed } from './answer';
import { authorize } from './authorize';
import type { GroupCommit } from '../../src/relay/queue/libsql/group-commit';
import { readJson } from './read-json';
import type { EventBody, IdentifyBody } from './records';
import type { ServiceContext, ServiceEnv } from './service-context';
import type { createRecordWriter, IdempotencyKey } from './write-records';

interface Parts {
  tokens: readonly string[];
  group: GroupCommit;
  writer: ReturnType<typeof createRecordWriter>;
  ignoreKeys: boolean;
}

interface Operation<Body> {
  type: RecordType;
  write: (body: Body, key: IdempotencyKey) => boolean;
  /** The same for the first request and a repeat of its key, so the repeat gets the first answer. */
  message: string;
}

/** The two operations of the interface. */
export function recordRoutes({ tokens, group, writer, ignoreKeys }: Parts): Hono<ServiceEnv> {
  const handle =
    <Body>({ type, write, message }: Operation<Body>) =>
    async (c: ServiceContext): Promise<Response> => {
      const json = await readJson(c);
      if (!json.ok) return json.response;
      if (wrongField(type, json.value)) return refuse(c, 400);
      const key = (!ignoreKeys && c.req.header('idempotency-key')) || null;
      await group.run(() => write(json.value as Body, key));
      return succeed(c, message);
    };

  const identify = handle<IdentifyBody>({
    type: 'identify',
    write: writer.writeIdentify,
    message: 'Profile stored',
  });
  const event = handle<EventBody>({
    type: 'event',
    write: writer.writeEvent,
    message: 'Event stored',
  });

  return new Hono<ServiceEnv>()
    .post('/identify', authorize(tokens), identify)
    .all('/identify', allowMethods('POST'))
    .post('/event', authorize(tokens), event)
    .all('/event', allowMethods('POST'));
}
