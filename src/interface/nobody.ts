/**
 * Texts that code and templates print for a user who is not there: `undefined`, `None`, `(null)`, `<nil>`,
 * `[object Object]`, or white space. They would make one user of all these visitors.
 */
export const NOBODY = /^\s*[(<[]?(undefined|null|nil|none|nan|object \w+)?[)>\]]?\s*$/i;
