/** What addresses of this page are relative to. */
export const pageAddress = (): string => document.baseURI;
