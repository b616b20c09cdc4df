import { create } from './dom.js';

/** Follows a link that is in no document, so that no script of the page takes it for a click of a visitor. */
export const follow = (href: string, more: Partial<HTMLAnchorElement>): void =>
  Object.assign(create('a'), { href, ...more }).click();

/** The page frees the file's memory as it ends. */
export const saveFile = (download: string, text: string): void =>
  follow(URL.createObjectURL(new Blob([text])), { download });
