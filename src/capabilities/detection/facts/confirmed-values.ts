import { type CheckedValue, checkAnswer, indexSeen } from '../../provenance/sources/index.ts'
import type { Step, TaskRun } from '../reconstruction/index.ts'
import { readLaterResults } from './course/seen-texts.ts'

/**
 * Returns whether a later result of a tool has a value of an answer, which the agent had not given it: what
 * the tool confirms was not invented. The later results are read for the first value.
 */
export function findConfirmed(run: TaskRun, step: Step): (value: CheckedValue) => boolean {
  let confirmed: ReadonlySet<number> | undefined
  return ({ at: [start] }) => {
    confirmed ??= startsOfConfirmed(run, step)
    return confirmed.has(start)
  }
}

function startsOfConfirmed(run: TaskRun, step: Step): ReadonlySet<number> {
  const { results, asked } = readLaterResults(run, step)
  if (results.length === 0) return new Set()
  const answer = step.text ?? ''
  return startsOfSeen(answer, results).difference(startsOfSeen(answer, asked))
}

function startsOfSeen(answer: string, texts: readonly { source: string; text: string }[]) {
  const checks = checkAnswer(answer, indexSeen(texts, values_max))
  const seen = checks.filter(({ verdict }) => verdict === 'seen')
  return new Set(seen.map(({ at: [start] }) => start))
}

/** Maximum values of the later results. */
const values_max = 25_000
