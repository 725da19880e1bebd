import { type CheckedValue, checkAnswer, indexSeen } from '../../provenance/sources/index.ts'
import type { Step, TaskRun } from '../reconstruction/index.ts'
import { readLaterResults } from './course/seen-texts.ts'

/**
 * Returns whether a later result of a tool has a value, which the agent had not given it: what the
 * tool confirms was not invented.
 */
export function findConfirmed(run: TaskRun, step: Step): (value: CheckedValue) => boolean {
  const later = readLaterResults(run, step)
  if (later.results.length === 0) return () => false
  const answer = step.text ?? ''
  const asked = startsOfSeen(answer, later.asked)
  const starts = startsOfSeen(answer, later.results)
  return ({ at: [start] }) => starts.has(start) && !asked.has(start)
}

function startsOfSeen(answer: string, texts: readonly { source: string; text: string }[]) {
  const checks = checkAnswer(answer, indexSeen(texts, values_max))
  const seen = checks.filter(({ verdict }) => verdict === 'seen')
  return new Set(seen.map(({ at: [start] }) => start))
}

/** Maximum values of the later results. */
const values_max = 25_000
