/** The operations of a relay. */
export type Route = 'batch' | 'identify' | 'event' | 'health';

const ROUTE = /\/(?:v1\/(batch|identify|event)|(health))$/;

/** By the end of the path, so that a relay can be mounted anywhere. */
export const routeOf = ({ url }: Request): Route | undefined => {
  const [, operation, health] = ROUTE.exec(new URL(url).pathname) ?? [];
  return (operation ?? health) as Route | undefined;
};
