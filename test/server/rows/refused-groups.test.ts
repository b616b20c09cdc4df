import { expect, it } from 'vitest';
import { groupsOf } from '../../../src/server/rows/page/state/refused-groups.js';
import type { Refused } from '../../../src/server/store/port.js';

it('puts refusals together that differ in their time, id and content alone', () => {
  const refused = (seq: number, more: Partial<Refused> = {}): Refused => ({
    ...{ seq, received_at: `t${seq}`, reason: 'field', status: 422, message: 'm', id: `i${seq}` },
    ...{ body: `{"n":${seq}}`, project: 'p', ...more },
  });
  const all = [refused(5), refused(4, { project: 'q' }), refused(3), refused(2, { message: 'n' })];
  const groups = groupsOf([...all, refused(1)]);
  expect(groups.map(({ entries }) => entries.map(({ seq }) => seq))).toEqual([[5, 3, 1], [4], [2]]);
});
