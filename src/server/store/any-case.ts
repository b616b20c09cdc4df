/**
 * Each character of a text with the forms that it has in other cases, for a search that ignores case. Databases know
 * only the cases of ASCII, or those of their locale.
 *
 * @example
 * anyCase('ü1'); // [['ü', 'Ü'], ['1']]
 */
export const anyCase = (text: string): string[][] =>
  Array.from(text, (character) => {
    const [lower, upper] = [character.toLowerCase(), character.toUpperCase()];
    const forms = [character, lower, upper, upper.toLowerCase()];
    // The only letter that has another form at the end of a word.
    if (upper === 'Σ') forms.push('ς');
    // Some have a form of two letters, such as `SS` for `ß`.
    return [...new Set(forms)].filter((form) => [...form].length === 1);
  });
