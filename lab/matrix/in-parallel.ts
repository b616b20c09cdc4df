/** Does something so many times, so many at a time, and answers with all results in order. */
export const inParallel = async <Result>(
  times: number,
  atATime: number,
  run: (i: number) => Promise<Result>,
): Promise<Result[]> => {
  const results: Result[] = [];
  let next = 0;
  const work = async () => {
    while (next < times) {
      const i = next++;
      results[i] = await run(i);
    }
  };
  await Promise.all(Array.from({ length: Math.min(times, atATime) }, work));
  return results;
};
