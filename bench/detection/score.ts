import { type RunScore, type ScoredRun, scoreRuns, sumScores } from './score-runs.ts'
import { readServiceRuns } from './service-runs.ts'

/**
 * Scores the detectors on labelled runs of customer-service agents:
 * `npm run bench:service-runs -- [--errors] <file.jsonl or file.jsonl.gz>…`.
 * `--errors` lists the findings of healthy runs and the faults that were not found.
 */
const words = process.argv.slice(2)
const files = words.filter((word) => !word.startsWith('--'))
if (files.length === 0) throw new Error('got no file, expected files of labelled runs (JSON lines)')
const scored = scoreRuns(files.flatMap(readServiceRuns))
print(sumScores(scored))
if (words.includes('--errors')) printErrors(scored)

function print({ healthy, false_alarms, recall }: RunScore): void {
  console.log('healthy runs with a finding, at least')
  for (const [severity, share] of Object.entries(healthy))
    console.log(`  ${severity}: ${tell(share)}`)
  console.log('findings of healthy runs')
  for (const [key, count] of Object.entries(false_alarms)) console.log(`  ${key}: ${count}`)
  console.log('faults found, at any severity and at medium or higher')
  for (const [kind, { any, medium }] of Object.entries(recall)) {
    console.log(`  ${kind}: ${tell(any)}; ${tell(medium)}`)
  }
}

function printErrors(runs: readonly ScoredRun[]): void {
  for (const { run, findings, found } of runs) {
    if (found !== undefined) continue
    if (run.fault !== null) {
      const { kind, at_message, why = '' } = run.fault
      console.log(`missed ${run.id} ${kind} at message ${at_message}: ${why}`)
    }
    for (const { type, severity, start_step, summary } of findings) {
      console.log(`  ${run.id} ${type} ${severity} step ${start_step}: ${summary}`)
    }
  }
}

function tell({ part, of }: { part: number; of: number }): string {
  const percent = of === 0 ? '–' : `${((100 * part) / of).toFixed(1)} %`
  return `${part} of ${of} (${percent})`
}
