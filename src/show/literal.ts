import { escapeHidden } from './visible.js';

const IS_NAME = /^[A-Za-z_$][\w$]*$/;

/** A text in single quotes, as JavaScript reads it. */
export const quoted = (text: string): string => {
  const inside = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${escapeHidden(inside)}'`;
};

const keyOf = (key: string): string => {
  // Written plainly it would set the prototype and be no key.
  if (key === '__proto__') return "['__proto__']";
  return IS_NAME.test(key) ? key : quoted(key);
};

/** A value of JSON as JavaScript is written by hand. What is short stands on one line. */
export const literal = (value: unknown, indent = ''): string => {
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const deeper = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((entry) => literal(entry, deeper))
    : Object.entries(value).map(([key, entry]) => `${keyOf(key)}: ${literal(entry, deeper)}`);
  const [open, close, gap] = Array.isArray(value) ? ['[', ']', ''] : ['{', '}', ' '];
  if (!parts.length) return open + close;
  const line = `${open}${gap}${parts.join(', ')}${gap}${close}`;
  if (indent.length + line.length <= 72 && !line.includes('\n')) return line;
  return `${open}\n${parts.map((part) => `${deeper}${part},\n`).join('')}${indent}${close}`;
};
