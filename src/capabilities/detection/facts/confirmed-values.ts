import { type CheckedValue, checkAnswer, indexSeen } from '../../provenance/sources/index.ts'
import type { Step, TaskRun } from '../reconstruction/index.ts'
import { readLaterResults, readSeenTexts } from './course/seen-texts.ts'

type Text = { source: string; text: string }

/**
 * Returns whether a value of an answer was not simply invented: a later result of a tool has it, which the
 * agent had not given it; or it is an amount that an earlier answer has, or that follows from one. The
 * texts are read for the first value.
 */
export function findConfirmed(run: TaskRun, step: Step): (value: CheckedValue) => boolean {
  let confirmed: ReadonlySet<number> | undefined
  let workedOut: ReadonlySet<number> | undefined
  return ({ kind, at: [start], instead, verdict }) => {
    confirmed ??= startsOfConfirmed(run, step)
    if (confirmed.has(start)) return true
    // Codes, slips and values of another subject stay what they are, however often they are said.
    if (kind !== 'money' || instead !== undefined || verdict !== 'unsupported') return false
    workedOut ??= startsOfWorkedOut(run, step)
    return workedOut.has(start)
  }
}

function startsOfConfirmed(run: TaskRun, step: Step): ReadonlySet<number> {
  const { results, asked } = readLaterResults(run, step)
  if (results.length === 0) return new Set()
  return startsOf(step, results, isSeen).difference(startsOf(step, asked, isSeen))
}

/** Returns where an answer has what earlier answers worked out, or what follows from that. */
function startsOfWorkedOut(run: TaskRun, step: Step): ReadonlySet<number> {
  const earlier = run.steps.flatMap(({ index, thread, text }) =>
    thread === step.thread && index < step.index && text !== null && text !== ''
      ? [{ source: 'earlier answer', text }]
      : [],
  )
  if (earlier.length === 0) return new Set()
  const { texts } = readSeenTexts(run, step)
  return startsOf(step, [...texts, ...earlier], canFollow)
}

function isSeen({ verdict }: CheckedValue): boolean {
  return verdict === 'seen'
}

function canFollow({ verdict, doubt }: CheckedValue): boolean {
  return verdict === 'seen' || verdict === 'derived' || doubt === 'calculable'
}

function startsOf(
  { text }: Step,
  texts: readonly Text[],
  isKnown: (value: CheckedValue) => boolean,
): Set<number> {
  const checks = checkAnswer(text ?? '', indexSeen(texts, values_max))
  return new Set(checks.filter(isKnown).map(({ at: [start] }) => start))
}

/** Maximum values of the texts. */
const values_max = 25_000
