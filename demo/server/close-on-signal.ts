/** Closes a program that is told to end. The second signal ends the process at once, as usual. */
export function closeOnSignal(program: { close: () => Promise<void> }): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void program.close());
  }
}
