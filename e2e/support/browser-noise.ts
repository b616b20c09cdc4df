import type { ConsoleMessage } from '@playwright/test';

/**
 * Lines the browser itself prints and no page can avoid: a request that failed, was refused by CORS
 * or answered with an error, and what a Content Security Policy blocked.
 */
const PATTERNS = [
  /^Failed to load resource/,
  /^Access to .+ has been blocked by CORS policy/,
  /violates the following (report-only )?Content Security Policy directive/,
  /violates the document's Content Security Policy/,
  /^Refused to .+ because it violates/,
  /^\[Report Only\]/,
  // Chromium, of its own lines.
  /^\d+ log entries are not shown/,
  /^Content-Security-Policy:/,
  /^Cross-Origin Request Blocked/,
];

/** What Firefox reports as an error of the page, since version 153, where a request failed. No script threw it. */
const FIREFOX_ERROR = /^The Same Origin Policy disallows reading the remote resource at /;

/** Whether an error that a page has reported is the browser's own. */
export const isBrowserError = (error: Error): boolean => FIREFOX_ERROR.test(error.message);

/** Whether the line is the browser's own. A page's lines carry arguments, so it cannot pose as it. */
export const isBrowserNoise = (message: ConsoleMessage): boolean =>
  message.args().length === 0 && PATTERNS.some((pattern) => pattern.test(message.text()));

/** The line that tells, once a page, where warnings are explained. */
export const isHelp = (message: ConsoleMessage): boolean =>
  message.text().startsWith('analytics-outbox: what each message means: ');

/**
 * A warning of ours on a local host, as all test pages are on: one for each kind of trouble. What it says, and
 * that there is none elsewhere, stands in `developer.spec.ts`.
 */
export const isForDeveloper = (message: ConsoleMessage): boolean =>
  (message.type() === 'warning' && /^analytics-outbox: (?!window\.)/.test(message.text())) ||
  isUnloaded(message.text());

/** The developers' file had not come as the page was left, or something keeps it from the page. */
const isUnloaded = (line: string): boolean => /^TypeError: .+\/outbox-dev\.js/.test(line);
