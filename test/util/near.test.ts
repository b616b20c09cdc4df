import { describe, expect, it } from 'vitest';
import { nearest } from '../../src/util/near.js';

const NAMES = ['token', 'consent', 'flushAt', 'maxRecords'];

describe('the nearest name', () => {
  it.each([
    ['a letter is missing', 'consnt', 'consent'],
    ['a letter is missing in a short name', 'tokn', 'token'],
    ['a letter is too many', 'connsent', 'consent'],
    ['a letter is too many at the end', 'tokens', 'token'],
    ['a letter is wrong', 'concent', 'consent'],
    ['the first letter is wrong', 'konsent', 'consent'],
    ['two letters are swapped', 'consnet', 'consent'],
    ['only the case is another', 'FLUSHAT', 'flushAt'],
    ['only dashes and underscores are others', 'max_rec-ords', 'maxRecords'],
  ])('is found where %s', (_, given, name) => {
    expect(nearest(given, NAMES)).toBe(name);
  });

  it.each([
    ['nothing', ''],
    ['the name itself', 'token'],
    ['a word that a name is part of', 'cookieconsent'],
    ['two letters more', 'consentid'],
    ['two letters fewer', 'conse'],
    ['a wrong letter in a short name', 'taken'],
    ['two swapped letters in a short name', 'toekn'],
    ['two wrong letters', 'konzent'],
    ['letters of another alphabet', '同意'],
  ])('is none for %s', (_, given) => {
    expect(nearest(given, NAMES)).toBeUndefined();
  });

  it('is found soon, however long the word is', () => {
    expect(nearest('consent'.repeat(10_000), NAMES)).toBeUndefined();
  });
});
