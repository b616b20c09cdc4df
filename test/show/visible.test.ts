import { describe, expect, it } from 'vitest';
import { cut, escapeHidden, visibleParts, visibleText } from '../../src/show/visible.js';

describe('what a stranger wrote', () => {
  it.each([
    ['\u200b', 'U+200B'],
    ['\u202eevil\u202c', 'U+202EevilU+202C'],
    ['a\u0000b\u001b[2J', 'aU+0000bU+001B[2J'],
    ['\ud800', 'U+D800'],
    ['line\nbreak\ttab', 'line↵break⇥tab'],
    ['\u3164\u2800\u00ad', 'U+3164U+2800U+00AD'],
    ['\u2003wide', 'U+2003wide'],
    ['\u{E0041}hidden tag', 'U+E0041hidden tag'],
    ['lonely \u200d joiner', 'lonely U+200D joiner'],
    ['\ufeff', 'U+FEFF'],
  ])('shows a sign that nobody would see: %j', (text, shown) => {
    expect(visibleText(text)).toBe(shown);
  });

  it.each([
    'Order Placed',
    'two words\u00a0here',
    'Straße, naïve, 東京, שלום',
    '👩‍💻',
    '👩🏽‍🚀',
    '❤️‍🔥',
    '🏴󠁧󠁢󠁥󠁮󠁧󠁿',
    'می‌خواهم',
    'क्‍ष',
  ])('leaves what is written like that: %s', (text) => {
    expect(visibleParts(text)).toEqual([text]);
  });

  it('escapes hidden signs in code, which reads as the same value', () => {
    const value = { '\u202e': '\u200b\ud800\u{E0041}\u0000 👩‍💻', plain: 'ü' };
    const code = escapeHidden(JSON.stringify(value, null, 2));
    expect(code).toContain('"\\u202e": "\\u200b\\ud800\\udb40\\udc41\\u0000 👩‍💻"');
    expect(visibleText(code.replaceAll('\n', ''))).toBe(code.replaceAll('\n', ''));
    expect(JSON.parse(code)).toEqual(value);
  });

  it('is cut at a length, and never inside a sign', () => {
    expect(cut('short', 5)).toEqual({ text: 'short', left: 0 });
    expect(cut('longer', 4)).toEqual({ text: 'long', left: 2 });
    expect(cut('abc📚', 4)).toEqual({ text: 'abc', left: 2 });
  });
});
