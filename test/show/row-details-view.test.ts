// @vitest-environment happy-dom
import { h, render } from 'preact';
import { beforeEach, expect, it, vi } from 'vitest';
import type { Row } from '../../src/server/store/port.js';
import { RowDetails } from '../../src/show/row-details.js';

const open = (tags: object, type: Row['type'] = 'event') => {
  const at = new Date().toISOString();
  const body = type === 'event' ? { event: 'e', tags } : { user_id: 'u', properties: tags };
  const row = {
    ...{ seq: 1, id: 'r', type, project: 'p', body: { project: 'p', ...body } },
    ...{ called_at: at, received_at: at, arrivals: 1 },
  } as unknown as Row;
  render(null, document.body);
  render(h(RowDetails, { row, service: 'http://localhost' }), document.body);
  return {
    names: () => [...document.querySelectorAll('.tags-of dt')].map((dt) => dt.textContent),
    more: () =>
      [...document.querySelectorAll<HTMLElement>('.facts button')].find((button) =>
        button.textContent?.startsWith('show all'),
      ),
  };
};
const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`t${n}`, n]));

beforeEach(() => render(null, document.body));

it.each(['event', 'identify'] as const)(
  'shows the first hundred tags of an %s, and all of them on demand',
  async (type) => {
    const { names, more } = open(many(1_200), type);
    expect(names()).toEqual(Object.keys(many(100)));
    const button = more();
    expect(button?.textContent).toMatch(/^show all \(1,200 (tags|properties)\)$/);
    button!.click();
    await vi.waitFor(() => expect(names()).toHaveLength(1_200));
    expect(more()).toBeUndefined();
  },
);

it.each([0, 1, 100])('shows all of %i tags at once', (count) => {
  const { names, more } = open(many(count));
  expect(names()).toHaveLength(count);
  expect(more()).toBeUndefined();
});
