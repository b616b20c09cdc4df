/** Lets one loop wait until something has happened. Rings that come before the wait are not lost; many count as one. */
export const createBell = () => {
  let isRung = false;
  let failure: { error: unknown } | undefined;
  let wake = (): void => {};
  const ring = (): void => {
    isRung = true;
    wake();
  };
  return {
    ring,
    /** From now on `rung` rejects with this error. */
    fail: (error: unknown): void => {
      failure = { error };
      ring();
    },
    rung: async (): Promise<void> => {
      if (!isRung) await new Promise<void>((resolve) => (wake = resolve));
      if (failure) throw failure.error;
      isRung = false;
    },
  };
};

export type Bell = ReturnType<typeof createBell>;
