export const INTERNAL: readonly string[];
