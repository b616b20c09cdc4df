import { Hono } from 'hono';
import { checkEvent, checkIdentify } from '../../src/record/check-body';
import { allowMethods } from './allow-methods';
import { refuse, succeed } from './answer';
import { authorize } from './authorize';
import type { GroupCommit } from '../../src/relay/libsql/group-commit';
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
  check: (value: unknown) => string | undefined;
  write: (body: Body, key: IdempotencyKey) => boolean;
  /** The same for the first request and a repeat of its key, so the repeat gets the first answer. */
  message: string;
}

/** The two operations of the interface. */
export function recordRoutes({ tokens, group, writer, ignoreKeys }: Parts): Hono<ServiceEnv> {
  const handle =
    <Body>({ check, write, message }: Operation<Body>) =>
    async (c: ServiceContext): Promise<Response> => {
      const json = await readJson(c);
      if (!json.ok) return json.response;
      if (check(json.value) !== undefined) return refuse(c, 400);
      const key = (!ignoreKeys && c.req.header('idempotency-key')) || null;
      await group.run(() => write(json.value as Body, key));
      return succeed(c, message);
    };

  const identify = handle<IdentifyBody>({
    check: checkIdentify,
    write: writer.writeIdentify,
    message: 'Profile stored',
  });
  const event = handle<EventBody>({
    check: checkEvent,
    write: writer.writeEvent,
    message: 'Event stored',
  });

  return new Hono<ServiceEnv>()
    .post('/identify', authorize(tokens), identify)
    .all('/identify', allowMethods('POST'))
    .post('/event', authorize(tokens), event)
    .all('/event', allowMethods('POST'));
}
