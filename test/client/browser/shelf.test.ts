// @vitest-environment happy-dom
import { afterEach, describe, expect, it, vi } from 'vitest';
import { shelf } from '../../../src/client/browser/shelf.js';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  localStorage.clear();
});

describe('the shelf', () => {
  it('keeps, lists and removes', () => {
    expect(shelf.set('a', '1')).toBe(true);
    expect(shelf.get('a')).toBe('1');
    expect(shelf.keys()).toEqual(['a']);
    expect(shelf.set('a', undefined)).toBe(true);
    expect(shelf.get('a')).toBeUndefined();
    expect(shelf.keys()).toEqual([]);
  });

  it('tells an empty value from none', () => {
    shelf.set('a', '');
    expect(shelf.get('a')).toBe('');
  });

  it('does not throw where there is no localStorage', () => {
    vi.stubGlobal('localStorage', undefined);
    expect(shelf.set('a', '1')).toBe(false);
    expect(shelf.get('a')).toBeUndefined();
    expect(shelf.keys()).toEqual([]);
    vi.unstubAllGlobals();
  });

  it('goes on with what it had, where the page closes itself and WebKit gives none any more', () => {
    shelf.set('a', '1');
    vi.stubGlobal('localStorage', null);
    expect(shelf.set('note', 'left')).toBe(true);
    expect(shelf.keys().sort()).toEqual(['a', 'note']);
    vi.unstubAllGlobals();
    expect(localStorage.getItem('note')).toBe('left');
  });

  it('does not throw where reading `localStorage` does', () => {
    const before = Object.getOwnPropertyDescriptor(globalThis, 'localStorage')!;
    Object.defineProperty(globalThis, 'localStorage', {
      configurable: true,
      get: () => {
        throw new DOMException('denied', 'SecurityError');
      },
    });
    try {
      expect(shelf.set('a', '1')).toBe(false);
      expect(shelf.get('a')).toBeUndefined();
      expect(shelf.keys()).toEqual([]);
    } finally {
      Object.defineProperty(globalThis, 'localStorage', before);
    }
  });

  it('says when it is full', () => {
    vi.stubGlobal('localStorage', {
      setItem: () => {
        throw new DOMException('full', 'QuotaExceededError');
      },
      removeItem: () => undefined,
    });
    expect(shelf.set('a', '1')).toBe(false);
    expect(shelf.set('a', undefined)).toBe(true);
    vi.unstubAllGlobals();
  });

  it('leaves no former value where a new one does not fit', () => {
    const values = new Map([['a', 'former']]);
    vi.stubGlobal('localStorage', {
      setItem: (key: string, value: string) => {
        if (values.size > 0 || value.length > 6) throw new DOMException('', 'QuotaExceededError');
        values.set(key, value);
      },
      removeItem: (key: string) => values.delete(key),
    });
    expect(shelf.replace('a', 'next')).toBe(true);
    expect(values.get('a')).toBe('next');
    expect(shelf.replace('a', 'too long')).toBe(false);
    expect(values.has('a')).toBe(false);
    vi.unstubAllGlobals();
  });
});
