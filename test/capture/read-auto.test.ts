import { describe, expect, it } from 'vitest';
import { readAuto } from '../../src/capture/read-auto.js';

const webVitals = { onLCP: () => undefined };
const read = (words?: string, name?: string, globals: Record<string, unknown> = {}) =>
  readAuto({ auto: words, autoOptions: name }, globals, webVitals);

describe('the attributes for auto-capture', () => {
  it('ask for nothing where there is none', () => {
    expect(read()).toBeUndefined();
    expect(read('')).toEqual({});
  });

  it('name features, and what they are given', () => {
    expect(read(' pageviews\n vitals ')).toEqual({ pageviews: true, vitals: webVitals });
    const mine = { clicks: { channel: 'ui' }, vitals: { name: 'Speed' }, pageviews: false };
    expect(read('pageviews forms', 'mine', { mine })).toEqual({
      forms: true,
      clicks: { channel: 'ui' },
      vitals: { ...webVitals, name: 'Speed' },
      pageviews: false,
    });
    expect(read('clicks', '')).toEqual({ clicks: true });
  });

  it('refuse the name of what is no global object', () => {
    for (const globals of [{}, { mine: 'text' }, { mine: null }]) {
      expect(() => read('clicks', 'mine', globals)).toThrow('data-auto-options: no object');
    }
    expect(() => read('clicks', 'toString')).toThrow('data-auto-options: no object');
  });
});
