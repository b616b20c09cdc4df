/** A random id: 52 bits of chance, and its time. */
export const newId = (): string => (Math.random().toString(36) + Date.now().toString(36)).slice(2);
