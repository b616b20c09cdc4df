import { describe, expect, it } from 'vitest';
import { withoutCredentials, withoutQuery } from '../../src/capture/without-query.js';

describe('an address that is told', () => {
  it.each([
    ['/cart;jsessionid=ABC123.node1', '/cart'],
    ['/cart;jsessionid=ABC123/items;v=1;sid=x?page=2#top', '/cart/items'],
    ['https://a.example/a;JSESSIONID=ABC at all', 'https://a.example/a at all'],
    ['/a;b/c', '/a;b/c'],
    ['/a;b?c=1/d', '/a;b'],
    ['/a?next=/b;jsessionid=1', '/a'],
    ['/#/a;jsessionid=1', '/'],
  ])('has neither query nor parameters: %s', (text, told) => {
    expect(withoutQuery(text)).toBe(told);
  });

  it.each([
    ['https://user:pass@a.example/b', 'https://a.example/b'],
    ['https://user:pass#w?rd@a.example/f at all', 'https://a.example/f at all'],
    ['https://secret@a.example/g@1.2/h', 'https://a.example/g@1.2/h'],
    ['user:secret@a.example', 'user:a.example'],
    ['a@b:secret@a.example', 'a@b:a.example'],
    ['at 12:30 by @ada//', 'at 12:30 by @ada//'],
    ['https://a:b@c@d/e//f:g@h', 'https://d/e//h'],
  ])('has no credentials: %s', (text, told) => {
    expect(withoutCredentials(text)).toBe(told);
  });
});
