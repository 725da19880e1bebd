import { parseArgs } from 'node:util'
import { type AlteredCounts, measureServiceRuns, readServiceRuns } from './service-runs.ts'

/**
 * Prints the figures of the check of values on conversations of customer-service agents: `npm run
 * bench:values -- FILE.jsonl…`. A line has `outcome`, `fault`, `tools` and `messages`. With `-v`, each
 * flagged value of a clean run, and each altered value that is not listed, is printed: do not look at
 * those of blind files.
 */
const { values, positionals } = parseArgs({
  options: { verbose: { type: 'boolean', short: 'v', default: false } },
  allowPositionals: true,
})
if (positionals.length === 0) throw new Error('Name one JSONL file or more.')
const runs = positionals.flatMap(readServiceRuns)
const started_ms = performance.now()
const figures = measureServiceRuns(runs, (line) => {
  if (values.verbose) console.log(line)
})
const flagged = Object.entries(figures.flagged).map(([severity, count]) => `${count} ${severity}`)
const serious =
  (figures.flagged.medium ?? 0) + (figures.flagged.high ?? 0) + (figures.flagged.critical ?? 0)
console.log(
  `clean runs flagged, worst severity: ${flagged.join(', ') || 'none'} of ${figures.clean}`,
)
console.log(`clean runs flagged at medium or above: ${percent(serious, figures.clean)}`)
console.log(`values of clean answers that are listed: ${percent(figures.listed, figures.values)}`)
show('values with one altered digit', figures.altered)
show('replaced values', figures.replaced)
show('runs labelled as an altered value', figures.faults)
console.log(`${((performance.now() - started_ms) / 1000).toFixed(1)} s`)

function show(what: string, { of, listed, medium }: AlteredCounts): void {
  console.log(`${what}, listed: ${percent(listed, of)}; at medium or above: ${percent(medium, of)}`)
}

function percent(part: number, all: number): string {
  return all === 0 ? '–' : `${((100 * part) / all).toFixed(1)} % (${part}/${all})`
}
