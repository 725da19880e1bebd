import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { readRecords } from '../verification/packed-records.ts'
import { judgeTextAgent, type TextAgentRecord, type TextAgentVerdict } from './text-agents.ts'

/**
 * Prints how well steps and faults of text agents are read, by dialect:
 * `npm run bench:detection:texts -- [--errors] [file]`. The file has a labelled run a line, packed
 * by gzip or not; default: the tuning half. Do not print the errors of a blind half.
 */
const { values, positionals } = parseArgs({
  options: { errors: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const file = positionals[0] ?? 'bench/detection/corpus/text-agents/tuning.jsonl.gz'
const verdicts = (await readRuns(file)).map(judgeTextAgent)

console.log(`${verdicts.length} runs of ${file}\n`)
const dialects = [...new Set(verdicts.map(({ record }) => record.dialect))].sort()
console.table(
  Object.fromEntries([
    ...dialects.map((dialect) => [
      dialect,
      sum(verdicts.filter(({ record }) => record.dialect === dialect)),
    ]),
    ['all', sum(verdicts)],
  ]),
)
const faults = Map.groupBy(
  verdicts.filter(({ record }) => record.fault !== null),
  ({ record }) => record.fault?.kind ?? '',
)
console.table(
  Object.fromEntries(
    [...faults].map(([kind, runs]) => [
      kind,
      { runs: runs.length, found: runs.filter((one) => one.is_fault_found === true).length },
    ]),
  ),
)
if (values.errors) for (const verdict of verdicts) printErrors(verdict)

async function readRuns(path: string): Promise<TextAgentRecord[]> {
  if (path.endsWith('.gz')) return readRecords<TextAgentRecord>(path)
  const text = await readFile(path, 'utf8')
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line): TextAgentRecord => JSON.parse(line))
}

/** The figures of some runs; shares are of 1. */
function sum(runs: readonly TextAgentVerdict[]) {
  const add = (count: (one: TextAgentVerdict) => number) =>
    runs.reduce((total, one) => total + count(one), 0)
  const labelled = add(({ record }) => record.steps.length)
  const found = add((one) => one.found)
  const extra = add((one) => one.extra.length)
  const healthy = runs.filter(({ record }) => record.outcome === 'healthy')
  const flagged = healthy.filter(({ flags }) => flags.length > 0)
  const loops = runs.filter(({ record }) => isLoop(record.fault?.kind))
  return {
    runs: runs.length,
    steps: labelled,
    recall: share(found, labelled),
    precision: share(found, found + extra),
    arguments: share(
      add((one) => one.same_arguments),
      found,
    ),
    results: share(
      add((one) => one.same_result),
      found,
    ),
    healthy: healthy.length,
    flagged: flagged.length,
    loops: loops.length,
    loops_found: loops.filter((one) => one.is_fault_found === true).length,
  }
}

function isLoop(kind: string | undefined): boolean {
  return kind === 'loop' || kind === 'cycle' || kind === 'repeated_error'
}

function share(part: number, whole: number): string {
  return whole === 0 ? '–' : (part / whole).toFixed(3)
}

function printErrors({ record, ...verdict }: TextAgentVerdict): void {
  const { missed, extra, wrong_parts, flags, findings, is_fault_found } = verdict
  const isHealthy = record.outcome === 'healthy'
  const isFine = missed.length + extra.length + wrong_parts.length === 0
  if (isFine && (isHealthy ? flags.length === 0 : is_fault_found === true)) return
  console.log(`\n${record.id} ${record.dialect} ${record.outcome} ${record.fault?.kind ?? ''}`)
  for (const step of missed) console.log('  missed', JSON.stringify(step))
  for (const step of extra) console.log('  extra ', JSON.stringify(step))
  for (const pair of wrong_parts) console.log('  differs', JSON.stringify(pair))
  const said = findings.map(({ type, severity, summary }) => `${type} ${severity}: ${summary}`)
  if (is_fault_found === false || (isHealthy && flags.length > 0)) console.log('  found  ', said)
}
