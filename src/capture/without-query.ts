/** An address without its query and fragment, which may say more than where it leads. */
export const withoutQuery = (address: string): string => address.replace(/[?#].*/, '');
