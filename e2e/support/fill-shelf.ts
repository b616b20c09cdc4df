import type { Evaluates } from './evaluates.js';

/** The site fills its own localStorage, to the last character. */
export const fillShelf = (page: Evaluates): Promise<void> =>
  page.evaluate(() => {
    let count = 0;
    for (let size = 1 << 20; size > 0; size >>= 1) {
      try {
        for (;;) localStorage.setItem(`site ${count}`, 'x'.repeat(size) + count++);
      } catch {
        // full, for so many at a time
      }
    }
    try {
      for (;;) localStorage.setItem(`${count++}`, '');
    } catch {
      // full
    }
  });
