import { describe, expect, it } from 'vitest';
import { createWidth } from '../../../src/relay/delivery/width.js';

type Width = ReturnType<typeof createWidth>;

/** How many it lets go when so many are under way already. */
const fill = (width: Width, underWay = 0): number => {
  let sent = underWay;
  while (width.allows(sent)) sent++;
  return sent;
};

describe('the width toward the service', () => {
  it('doubles with each round of answers, up to the most', () => {
    const width = createWidth(20);
    const rounds = [fill(width)];
    for (let round = 0; round < 4; round++) {
      let underWay = rounds.at(-1)!;
      // As each answer comes, its place is filled again.
      for (let answers = rounds.at(-1)!; answers > 0; answers--) {
        width.passed();
        underWay = fill(width, underWay - 1);
      }
      rounds.push(underWay);
    }
    expect(rounds).toEqual([4, 8, 16, 20, 20]);
  });

  it('never goes above the most', () => {
    expect(fill(createWidth(2))).toBe(2);
    expect(fill(createWidth(1))).toBe(1);
  });

  it('lets nothing take the place of what fails', () => {
    const width = createWidth(32);
    let underWay = fill(width);
    while (underWay > 0) {
      width.failed();
      underWay--;
      if (underWay > 0) expect(width.allows(underWay)).toBe(false);
    }
  });

  it('goes on with one at a time after failures, and grows again from a success on', () => {
    const width = createWidth(32);
    for (let failures = 0; failures < 100; failures++) width.failed();
    expect(fill(width)).toBe(1);
    width.passed();
    expect(fill(width)).toBe(4);
  });

  it('goes back to where it began with a failure', () => {
    const width = createWidth(32);
    for (let passed = 0; passed < 28; passed++) width.passed();
    expect(fill(width, 1)).toBe(32);
    width.failed();
    expect(width.allows(3)).toBe(false);
    expect(width.allows(2)).toBe(true);
  });

  it('starts small again when nothing was under way', () => {
    const width = createWidth(32);
    for (let passed = 0; passed < 28; passed++) width.passed();
    expect(fill(width)).toBe(4);
  });
});
