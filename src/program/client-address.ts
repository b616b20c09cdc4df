/** The last of a list: a proxy that adds to a header writes behind what the client has sent. */
const lastOf = (list: string | null): string | undefined => list?.split(',').at(-1);

/** Tells the client of a request: by the header that a proxy sets, or by the connection's other end. */
export const createClientAddress = (header: string | undefined) => {
  const addresses = new WeakMap<Request, string | undefined>();
  return {
    /** Called with each request as it comes. */
    note: (request: Request, address: string | undefined): void =>
      void addresses.set(request, address),
    of: (request: Request): string | undefined =>
      header ? lastOf(request.headers.get(header)) : addresses.get(request),
  };
};
