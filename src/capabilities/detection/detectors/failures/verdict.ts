import { dollarsFrom } from '../../../../kernel/dollars.ts'
import { severityRank } from '../../evidence/severity.ts'
import { wasteOfCalls } from '../../evidence/waste.ts'
import type { TaskRun } from '../../reconstruction/contract.ts'
import type { FindingFacts } from './finding-position.ts'
import { type RootCause, rootCauseOf } from './root-cause.ts'

/** What the task's record says of it. */
export type TaskState = 'running' | 'completed' | 'failed'

const verdict_chars_max = 400

/** One sentence that says how a task went, made of what was found alone. */
export function verdictOf(
  findings: readonly FindingFacts[],
  run: TaskRun,
  state: TaskState,
): string {
  const cause = rootCauseOf(findings, run)
  const told = cause === null ? withoutCause(findings, run, state) : withCause(cause, state)
  const sentence = [told, ...othersOf(findings, cause), ...wasteOf(findings, run)].join('; ')
  return `${cutAt(sentence, verdict_chars_max)}.`
}

function withCause(cause: RootCause, state: TaskState): string {
  const step = cause.step === null ? 'before a step was reached' : `at step ${cause.step + 1}`
  const opening = {
    running: `The task runs and went wrong ${step}`,
    completed: `The task was completed but went wrong ${step}`,
    failed: `The task failed; it went wrong ${step}`,
  }[state]
  return `${opening}: ${clause(cause.summary)}`
}

function withoutCause(findings: readonly FindingFacts[], run: TaskRun, state: TaskState): string {
  const opening = {
    running: 'The task runs',
    completed: 'The task was completed',
    failed: 'The task failed',
  }[state]
  const size = `${opening} after ${counted(run.steps.length, 'step')} and ${counted(run.tools.length, 'tool call')}`
  if (findings.some(({ recovered }) => recovered)) return `${size} and got over what went wrong`
  if (state === 'failed') return `${size}, and nothing found in it tells why`
  return `${size} with nothing wrong found`
}

function othersOf(findings: readonly FindingFacts[], cause: RootCause | null): string[] {
  const medium = severityRank('medium')
  const serious = findings.filter(
    ({ severity, summary }) => severityRank(severity) >= medium && summary !== cause?.summary,
  )
  if (serious.length === 0) return []
  const byType = new Map<string, number>()
  for (const { type } of serious) byType.set(type, (byType.get(type) ?? 0) + 1)
  const named = [...byType]
    .slice(0, types_max)
    .map(([type, n]) => (n === 1 ? type : `${type} × ${n}`))
  const more = byType.size > types_max ? ' and more' : ''
  return [`also found: ${named.join(', ')}${more}`]
}

const types_max = 3

/** Findings may call the same calls wasted; a task never wastes more than it took. */
function wasteOf(findings: readonly FindingFacts[], run: TaskRun): string[] {
  const wasted = findings.reduce((sum, { wasted_tokens }) => sum + wasted_tokens, 0)
  const lost = findings.reduce((sum, { wasted_nano_dollars }) => sum + wasted_nano_dollars, 0n)
  const taken = wasteOfCalls(run, new Set(run.calls.keys()))
  const tokens = Math.min(wasted, taken.wasted_tokens)
  let dollars = lost
  if (dollars > taken.wasted_nano_dollars) dollars = taken.wasted_nano_dollars
  if (tokens === 0 && dollars === 0n) return []
  const cost = dollars === 0n ? '' : ` ($${dollarsFrom(dollars)})`
  return [`about ${counted(tokens, 'token')}${cost} wasted`]
}

function counted(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? '' : 's'}`
}

/** A sentence as part of another one. */
function clause(sentence: string): string {
  return sentence.endsWith('.') ? sentence.slice(0, -1) : sentence
}

function cutAt(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 1)}…`
}
