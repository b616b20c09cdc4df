/**
 * A text with addresses in it, or an address, without their credentials, queries and fragments, which may say more
 * than where they lead. Only white space ends a query: visitors type quotes and brackets, too.
 */
export const withoutQuery = (text: string): string =>
  text.replace(/(\/\/|:)[^\s/]*@/g, '$1').replace(/[?#]\S*/g, '');
