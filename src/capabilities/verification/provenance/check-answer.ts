import { readQuotes } from '../values/read-codes.ts'
import { readValues } from '../values/read-values.ts'
import type { Evidence, Value } from '../values/value.ts'
import { findDay, findTime } from './derive-day.ts'
import type { Derivation } from './derive-number.ts'
import { derive } from './derive-value.ts'
import { type Exemption, findExemption } from './exemptions.ts'
import { findCode } from './find-code.ts'
import { findNumber } from './find-number.ts'
import { type Context, collectOperands } from './operands.ts'
import type { Seen, SeenIndex } from './seen.ts'

/** Where a value of an answer comes from. */
export type CheckedValue = {
  value: string
  kind: Value['kind']
  at: Value['at']
  verdict: 'seen' | 'derived' | 'exempt' | 'unsupported'
  evidence: readonly Evidence[]
  derivation?: Derivation
  /** Why the value needs no evidence. */
  exemption?: Exemption
}

/** Maximum characters checked of an answer. */
const answer_chars_max = 100_000
/** Maximum values of an answer that are derived. */
const derived_max = 300

/**
 * Checks where each value of an answer comes from: seen, derived by one operation from seen values
 * or from values of the answer that are supported themselves, exempt, or unsupported.
 */
export function checkAnswer(answer: string, index: SeenIndex): CheckedValue[] {
  const text = answer.slice(0, answer_chars_max)
  const context: Context = { text, index, supported: [], hasZone: timeZone.test(text) }
  const values = [...readValues(text), ...readQuotes(text)].sort((a, b) => a.at[0] - b.at[0])
  const checked = values.map((value) => lookUp(value, context))
  // Derived values support others, also before them: a total may precede its parts.
  deriveRest(values, checked, context)
  deriveRest(values, checked, context)
  return values.map((value, at) => checked[at] ?? unsupported(value))
}

function deriveRest(
  values: readonly Value[],
  checked: (CheckedValue | undefined)[],
  context: Context,
): void {
  let operands = collectOperands(context)
  let derived = 0
  for (const [at, value] of values.entries()) {
    if (checked[at] !== undefined || derived >= derived_max) continue
    const derivation = derive(value, context, operands)
    if (derivation === undefined) continue
    derived += 1
    context.supported.push(seenInAnswer(value))
    checked[at] = { ...shape(value), verdict: 'derived', evidence: derivation.operands, derivation }
    const isShort = context.supported.length <= refreshed_values_max
    if (isShort && derived <= refreshes_max) operands = collectOperands(context)
  }
}

/** Number of derived values that are at once operands of the next ones. */
const refreshes_max = 16
const refreshed_values_max = 100

const timeZone = /\b(?:UTC|GMT|CES?T|[ECMP][SD]T|JST|ET|PT|local time|Swiss time)\b/

function shape({ text, kind, at }: Value): Pick<CheckedValue, 'value' | 'kind' | 'at'> {
  return { value: text, kind, at }
}

function unsupported(value: Value): CheckedValue {
  return { ...shape(value), verdict: 'unsupported', evidence: [] }
}

function seenInAnswer(value: Value): Seen {
  return { value, evidence: { source: 'answer', quote: value.text, at: value.at } }
}

function lookUp(value: Value, context: Context): CheckedValue | undefined {
  const exemption = findExemption(value, context.text)
  const seen = exemption === 'list_number' ? undefined : find(value, context)
  if (seen !== undefined) {
    context.supported.push(seenInAnswer(value))
    return { ...shape(value), verdict: 'seen', evidence: [seen] }
  }
  if (exemption === undefined) return undefined
  if (value.amount !== undefined && exemption !== 'list_number')
    context.supported.push(seenInAnswer(value))
  return { ...shape(value), verdict: 'exempt', evidence: [], exemption }
}

function find(value: Value, { index, hasZone }: Context): Evidence | undefined {
  if (value.amount !== undefined) return findNumber(value, index)
  if (value.kind === 'date') return findDay(index, value)?.evidence
  if (value.kind === 'time') return findTime(value, index, hasZone)?.evidence
  return findCode(value, index)
}
