import type { Evidence, Value } from '../values/index.ts'
import { readQuotes, readValues } from '../values/index.ts'
import { findDay, findTime } from './derive-day.ts'
import type { Derivation } from './derive-number.ts'
import { derive } from './derive-value.ts'
import type { Doubt } from './doubt.ts'
import { type Exemption, findExemption } from './exemptions.ts'
import { findCode } from './find-code.ts'
import { findDoubt } from './find-doubt.ts'
import { findNumber } from './find-number.ts'
import { NearCalculations } from './near-calculations.ts'
import { type Context, collectOperands, type Operands } from './operands.ts'
import type { Seen, SeenIndex } from './seen.ts'
import { findTurned, isDirected, negate } from './signs.ts'
import { explainWeekday, readWeekdays, type Weekday } from './weekdays.ts'

/** Where a value of an answer comes from. */
export type CheckedValue = {
  value: string
  kind: Value['kind']
  at: Value['at']
  verdict: 'seen' | 'derived' | 'exempt' | 'unsupported' | 'not_checked'
  evidence: readonly Evidence[]
  derivation?: Derivation
  /** Why the value needs no evidence. */
  exemption?: Exemption
  /** Why the value is not checked. */
  doubt?: Doubt
}

/** Maximum characters checked of an answer. */
const answer_chars_max = 100_000
/** Maximum values of an answer that are looked up; more are not checked. */
const values_max = 2_000
/** Maximum values of an answer whose derivation is searched; more are not checked. */
const attempts_max = 300

/**
 * Checks where each value of an answer comes from: seen, derived by one operation from seen values
 * or from values of the answer that are supported themselves, exempt, or unsupported. A value is
 * not checked if a part of what the agent saw is missing, or if the answer has too many values.
 */
export function checkAnswer(answer: string, index: SeenIndex): CheckedValue[] {
  const text = answer.slice(0, answer_chars_max)
  const context: Context = { text, index, supported: [], hasZone: timeZone.test(text) }
  const all = [...readValues(text), ...readQuotes(text)].sort((a, b) => a.at[0] - b.at[0])
  const values = all.slice(0, values_max)
  const checked = values.map((value) => lookUp(value, context))
  const open = values.flatMap((_, at) => (checked[at] === undefined ? [at] : []))
  const tried = open.slice(0, attempts_max)
  // Derived values support others, also before them: a total may precede its parts.
  if (deriveRest(values, { checked, tried }, context) > 0)
    deriveRest(values, { checked, tried }, context)
  decideRest(values, { checked, tried }, context)
  const decided = all.map((value, at) => checked[at] ?? undecided(value, 'incomplete'))
  const supported = values.filter((_, at) => /^(?:seen|derived)$/.test(decided[at]?.verdict ?? ''))
  const weekdays = readWeekdays(text, supported).map((one) => checkWeekday(one, index))
  return [...decided, ...weekdays].sort((a, b) => a.at[0] - b.at[0])
}

/** Checks a weekday beside a date that is supported itself. */
function checkWeekday(weekday: Weekday, index: SeenIndex): CheckedValue {
  const { text: value, at } = weekday
  const shape = { value, kind: 'weekday' as const, at }
  const derivation = explainWeekday(weekday, index)
  if (derivation === undefined) return { ...shape, verdict: 'not_checked', evidence: [] }
  if (derivation !== 'contradicted')
    return { ...shape, verdict: 'derived', evidence: derivation.operands, derivation }
  return { ...shape, verdict: index.isComplete ? 'unsupported' : 'not_checked', evidence: [] }
}

type Progress = { checked: (CheckedValue | undefined)[]; tried: readonly number[] }

/** Derives values and returns how many. */
function deriveRest(
  values: readonly Value[],
  { checked, tried }: Progress,
  context: Context,
): number {
  let operands = collectOperands(context)
  let derived = 0
  for (const at of tried) {
    const value = values[at]
    if (value === undefined || checked[at] !== undefined) continue
    const derivation = deriveWithSign(value, context, operands)
    if (derivation === undefined) continue
    derived += 1
    context.supported.push(seenInAnswer(value))
    checked[at] = { ...shape(value), verdict: 'derived', evidence: derivation.operands, derivation }
    const isShort = context.supported.length <= refreshed_values_max
    if (isShort && derived <= refreshes_max) operands = collectOperands(context)
  }
  return derived
}

/** Derives a value, or its opposite if its sentence says the sign in words. */
function deriveWithSign(value: Value, context: Context, operands: Operands) {
  const derivation = derive(value, context, operands)
  if (derivation !== undefined || !isDirected(value, context.text)) return derivation
  return value.amount === undefined ? undefined : derive(negate(value), context, operands)
}

/** Number of derived values that are at once operands of the next ones. */
const refreshes_max = 16
const refreshed_values_max = 100

const timeZone = /\b(?:UTC|GMT|CES?T|[ECMP][SD]T|JST|ET|PT|local time|Swiss time)\b/

function shape({ text, kind, at }: Value): Pick<CheckedValue, 'value' | 'kind' | 'at'> {
  return { value: text, kind, at }
}

/** Steps of a calculation that is shown: parts, and small figures that were read elsewhere. */
function isOperand(doubt: Doubt): boolean {
  return doubt === 'calculable' || doubt === 'coarse'
}

/** Rounds in which values that may be calculated explain others: parts, their total, its share. */
const rounds_max = 3

/** Decides the values that were neither found nor derived. */
function decideRest(
  values: readonly Value[],
  { checked, tried }: Progress,
  context: Context,
): void {
  const supported = [...context.supported]
  let open = tried.filter((at) => checked[at] === undefined)
  for (let round = 0; round < rounds_max; round += 1) {
    const near = new NearCalculations({ ...context, supported })
    const left = open.filter((at) => {
      const value = values[at]
      const doubt = value && findDoubt(value, context, near)
      if (value === undefined || doubt === undefined) return true
      checked[at] = undecided(value, doubt)
      if (value.amount !== undefined && isOperand(doubt)) supported.push(seenInAnswer(value))
      return false
    })
    if (left.length === open.length) break
    open = left
  }
  for (const at of open) {
    const value = values[at]
    if (value !== undefined) checked[at] = { ...shape(value), verdict: 'unsupported', evidence: [] }
  }
}

function undecided(value: Value, doubt: Doubt): CheckedValue {
  return { ...shape(value), verdict: 'not_checked', evidence: [], doubt }
}

function seenInAnswer(value: Value): Seen {
  return { value, evidence: { source: 'answer', quote: value.text, at: value.at }, scopes: [] }
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

function find(value: Value, context: Context): Evidence | undefined {
  const { index, hasZone } = context
  if (value.amount !== undefined) return findNumber(value, index) ?? findTurned(value, context)
  if (value.kind === 'date') return findDay(index, value)?.evidence
  if (value.kind === 'time') return findTime(value, index, hasZone)?.evidence
  return findCode(value, index)
}
