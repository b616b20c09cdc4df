/** Bytes of the id of a user: a relay keeps it for longer than the record, as a part of keys. */
export const MAX_USER_BYTES = 1_024;
