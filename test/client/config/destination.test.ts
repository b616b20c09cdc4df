import { describe, expect, it } from 'vitest';
import { destinationName } from '../../../src/client/config/destination.js';

describe('the name of a destination', () => {
  it('holds endpoint and project', () => {
    expect(destinationName('https://in.test', 'shop')).toContain('https://in.test');
    expect(destinationName('https://in.test', 'shop')).toContain('shop');
  });

  it('is the same with and without a slash at the end', () => {
    expect(destinationName('https://in.test/', 'shop')).toBe(
      destinationName('https://in.test', 'shop'),
    );
  });

  it('differs by endpoint and by project', () => {
    const names = [
      destinationName('https://in.test', 'a'),
      destinationName('https://in.test', 'b'),
      destinationName('http://in.test', 'a'),
      destinationName('https://in.test/a', 'a'),
      destinationName('https://in.test/x y', 'z'),
      destinationName('https://in.test/x', 'y z'),
    ];
    expect(new Set(names).size).toBe(names.length);
  });

  it('takes no token', () => {
    expect(destinationName).toHaveLength(2);
  });
});
