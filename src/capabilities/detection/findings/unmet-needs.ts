import { unmetReasons } from '../analyse/run-detectors.ts'
import { historyDroppedReason, type Need } from '../contract.ts'
import type { NotChecked } from './finding.ts'

/** The detectors of an analysis, and those that could not check the run, or a part of it. */
export type Checks = {
  /** Number of detectors that are switched on. */
  checks: number
  not_checked: readonly NotChecked[]
}

const recorded: readonly (readonly [Need, string])[] = [
  ['texts', 'texts'],
  ['arguments', 'arguments of tool calls'],
  ['results', 'results of tool calls'],
  ['tool_outcomes', 'outcomes of tool calls'],
]

/**
 * Says how many detectors lacked what they need, why, and how to send it; undefined if none did.
 * `not_checked` of the task's findings names each detector.
 */
export function describeUnmetNeeds({ checks, not_checked }: Checks): string | undefined {
  const reasons = not_checked.map(({ reason }) => reason)
  const lacks = (need: Need) => reasons.includes(unmetReasons[need])
  const unmet = reasons.filter((reason) => allReasons.has(reason)).length
  if (unmet === 0) return undefined
  const missing = recorded.filter(([need]) => lacks(need)).map(([, what]) => what)
  const causes = [
    ...(missing.length > 0 ? [`no ${listOf(missing)} were recorded`] : []),
    ...(lacks('history') ? [unmetReasons.history] : []),
    ...(reasons.includes(historyDroppedReason) ? [historyDroppedReason] : []),
  ]
  const count = `${unmet} of ${checks} checks did not run`
  const remedy = missing.length > 0 ? `; ${howToSend}` : ''
  return `${count}, because ${causes.join(' and ')}${remedy}`
}

function listOf(words: readonly string[]): string {
  const [last = '', ...before] = words.toReversed()
  return before.length === 0 ? last : `${before.toReversed().join(', ')} or ${last}`
}

const allReasons: ReadonlySet<string> = new Set([
  ...Object.values(unmetReasons),
  historyDroppedReason,
])
const howToSend =
  'let the instrumentation and the project capture content, or send the calls through the proxy'
