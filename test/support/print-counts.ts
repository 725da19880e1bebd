/** Prints one line of counts, for the reader of a test run. */
export function printCounts(title: string, counts: Readonly<Record<string, number>>): void {
  const told = Object.entries(counts).map(([name, value]) => `${name} ${value}`)
  process.stdout.write(`${title}: ${told.join(', ')}\n`)
}
