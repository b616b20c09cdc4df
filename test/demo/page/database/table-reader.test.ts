import { expect, it } from 'vitest';
import { createTableReader } from '../../../../demo/page/database/table-reader';

interface Row {
  id: number;
  name: string;
}

const setUp = () => {
  const table: Row[] = [];
  let nextId = 1;
  const asked: number[] = [];
  const reader = createTableReader<Row>({
    page: async (after) => {
      asked.push(after);
      const rows = table.filter(({ id }) => id > after).slice(0, 2);
      return { rows, total: table.length };
    },
    demoId: ({ name }) => name,
    keep: 3,
  });
  const store = (...names: string[]) => names.forEach((name) => table.push({ id: nextId++, name }));
  const clear = () => void table.splice(0);
  return { reader, store, clear, asked };
};

it('reads all pages, and later only what is new', async () => {
  const { reader, store, asked } = setUp();
  store('a', 'b', 'c');
  expect(await reader.read()).toBe(true);
  expect(asked).toEqual([0, 2]);
  store('d', 'a');
  await reader.read();
  expect(asked).toEqual([0, 2, 3]);
  expect(reader.count('a')).toBe(2);
  expect(reader.count('x')).toBe(0);
  expect(reader.latest().map(({ name }) => name)).toEqual(['c', 'd', 'a']);
});

it('begins anew when rows were deleted', async () => {
  const { reader, store, clear } = setUp();
  store('a', 'b');
  await reader.read();
  clear();
  store('c');
  await reader.read();
  expect(reader.count('a')).toBe(0);
  expect(reader.count('c')).toBe(1);
  expect(reader.total()).toBe(1);
  clear();
  await reader.read();
  expect(reader.latest()).toEqual([]);
});

it('says when nothing has changed', async () => {
  const { reader, store } = setUp();
  store('a');
  await reader.read();
  expect(await reader.read()).toBe(false);
});
