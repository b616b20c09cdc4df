/** The request for the service: without its key, where the service is to know no repeats. */
export const forward = async (
  request: Request,
  { ignoreKeys }: { ignoreKeys: boolean },
): Promise<Request> => {
  if (!ignoreKeys || !request.headers.has('idempotency-key')) return request;
  const headers = new Headers(request.headers);
  headers.delete('idempotency-key');
  return new Request(request.url, {
    method: request.method,
    headers,
    body: await request.arrayBuffer(),
  });
};
