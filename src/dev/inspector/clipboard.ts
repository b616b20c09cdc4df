import { mayFail } from '../../util/may-fail.js';
import { memberOf } from '../../client/page.js';
import { create } from './dom.js';

/** Copies a text. Resolves with whether it is in the clipboard. */
export const copyText = async (text: string, root: Node): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // A page on http, or a frame without the permission: the older way copies what is selected.
    const field = create('textarea');
    field.value = text;
    root.appendChild(field);
    field.select();
    const isDone = mayFail(() => memberOf(document, 'execCommand').call(document, 'copy'));
    field.remove();
    return !!isDone;
  }
};

/** Follows a link that is in no document, so that no script of the page takes it for a click of a visitor. */
export const follow = (href: string, more: Partial<HTMLAnchorElement>): void =>
  Object.assign(create('a'), { href, ...more }).click();

/** The page frees the file's memory as it ends. */
export const saveFile = (download: string, text: string): void =>
  follow(URL.createObjectURL(new Blob([text])), { download });
