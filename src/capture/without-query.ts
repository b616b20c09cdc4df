/**
 * A path, an address, or a text with addresses in it, without their queries and fragments, which may say more than where
 * they lead. Parameters of a path, such as `;jsessionid=…`, are a kind of query. Only white space ends a query: visitors
 * type quotes and brackets, too.
 */
export const withoutQuery = (text: string): string =>
  text.replace(/[?#]\S*|;[^\s/;=?#]*=[^\s/?#]*/g, '');
