/** Prints one line of counts, for the reader of a test run. */
export function printCounts(title: string, counts: Readonly<Record<string, number>>): void {
  const parts = Object.entries(counts).map(([name, value]) => `${name} ${value}`)
  process.stdout.write(`${title}: ${parts.join(', ')}\n`)
}
