/** What an instance for tests has in place of `client/life.ts`: a page that is always shown, and never left. */

export const isHidden = (): boolean => false;

export const isLoading = (): boolean => false;

export const isFleeting = (): boolean => false;

export const isPrerendering = (): boolean => false;

export const whenShown = (work: () => void): void => work();

export const turns = 0;

export const isGoing = (): boolean => false;

export const wasLeft = (): Promise<boolean> => Promise.resolve(false);

export const isOnLink = (): unknown => undefined;

export const onNavigation = () => (): void => undefined;

export const followPage = () => (): void => undefined;
