import type { Page } from '@playwright/test';

/** A page of any engine, as far as helpers need one. */
export type Evaluates = Pick<Page, 'evaluate'>;
