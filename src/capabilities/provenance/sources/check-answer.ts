import type { Evidence, Value } from '../values/index.ts'
import { readQuotes, readValues } from '../values/index.ts'
import { findDay, findTime } from './derivations/derive-day.ts'
import type { Derivation } from './derivations/derive-number.ts'
import { derive } from './derivations/derive-value.ts'
import { type Named, readOperations } from './derivations/read-operations.ts'
import { explainWeekday, readWeekdays, type Weekday } from './derivations/weekdays.ts'
import type { Doubt } from './doubts/doubt.ts'
import { findDoubt } from './doubts/find-doubt.ts'
import { findSlip } from './doubts/slips.ts'
import { type Exemption, findExemption } from './exemptions.ts'
import { findCode, findEnding } from './lookup/find-code.ts'
import { findNumber } from './lookup/find-number.ts'
import { type Context, collectOperands, type Operands } from './lookup/operands.ts'
import { findOtherSubject } from './lookup/other-subject.ts'
import { findTurned, isDirected, negate } from './lookup/signs.ts'
import { isRate } from './seen/read-source.ts'
import type { Seen, SeenIndex } from './seen/seen.ts'

/** Where a value of an answer comes from. */
export type CheckedValue = {
  value: string
  kind: Value['kind']
  at: Value['at']
  /** `other_subject`: seen, but not of the subject that the answer names beside it. */
  verdict: 'seen' | 'derived' | 'exempt' | 'other_subject' | 'unsupported' | 'not_checked'
  evidence: readonly Evidence[]
  derivation?: Derivation
  /** Why the value needs no evidence. */
  exemption?: Exemption
  /** Why a value without a source may still be right. */
  doubt?: Doubt | 'incomplete'
  /** Evidence of the value of the named subject, or of the number that was mistyped. */
  instead?: Evidence
  /** The subject that the answer names beside a value of another one. */
  subject?: string
}

/** Maximum characters checked of an answer. */
const answer_chars_max = 100_000
/** Maximum values of an answer that are looked up; more are not checked. */
const values_max = 2_000
/** Maximum values of an answer whose derivation is searched; more are not checked. */
const attempts_max = 300

/**
 * Checks where each value of an answer comes from: seen, derived by one operation that its sentence
 * names, exempt, or unsupported. A value is not checked if a part of what the agent saw is missing,
 * or if the answer has too many values.
 */
export function checkAnswer(answer: string, index: SeenIndex): CheckedValue[] {
  const text = answer.slice(0, answer_chars_max)
  const context: Context = { text, index, supported: [] }
  const all = [...readValues(text), ...readQuotes(text)].sort((a, b) => a.at[0] - b.at[0])
  const values = all.slice(0, values_max)
  const checked = values.map((value) => lookUp(value, context))
  const open = values.flatMap((_, at) => (checked[at] === undefined ? [at] : []))
  const tried = open.slice(0, attempts_max).flatMap((at) => {
    const value = values[at]
    return value === undefined ? [] : [{ at, value, ...readOperations(text, value) }]
  })
  // Derived values support others, also before them: a total may precede its parts.
  if (deriveRest({ checked, tried }, context) > 0) deriveRest({ checked, tried }, context)
  checkSubjects(values, checked, context)
  decideRest({ checked, tried }, context)
  const decided = all.map((value, at) => checked[at] ?? unchecked(value))
  const supported = values.filter((_, at) => /^(?:seen|derived)$/.test(decided[at]?.verdict ?? ''))
  const weekdays = readWeekdays(text, supported).map((one) => checkWeekday(one, index))
  return [...decided, ...weekdays].sort((a, b) => a.at[0] - b.at[0])
}

/** Checks a weekday beside a date that is supported itself. */
function checkWeekday(weekday: Weekday, index: SeenIndex): CheckedValue {
  const { text: value, at } = weekday
  const shape = { value, kind: 'weekday' as const, at }
  const derivation = explainWeekday(weekday, index)
  if (derivation === undefined)
    return { ...shape, verdict: 'unsupported', evidence: [], doubt: 'calculable' }
  if (derivation !== 'contradicted')
    return { ...shape, verdict: 'derived', evidence: derivation.operands, derivation }
  if (!index.isComplete)
    return { ...shape, verdict: 'not_checked', evidence: [], doubt: 'incomplete' }
  return { ...shape, verdict: 'unsupported', evidence: [] }
}

type Tried = Named & { at: number; value: Value }
type Progress = { checked: (CheckedValue | undefined)[]; tried: readonly Tried[] }

/** Derives values and returns how many. */
function deriveRest({ checked, tried }: Progress, context: Context): number {
  let operands = collectOperands(context)
  let derived = 0
  for (const one of tried) {
    const { at, value } = one
    if (checked[at] !== undefined) continue
    const derivation = deriveWithSign(one, context, operands)
    if (derivation === undefined) continue
    derived += 1
    context.supported.push(seenInAnswer(value, context.text))
    checked[at] = { ...shape(value), verdict: 'derived', evidence: derivation.operands, derivation }
    const isShort = context.supported.length <= refreshed_values_max
    if (isShort && derived <= refreshes_max) operands = collectOperands(context)
  }
  return derived
}

/** Derives a value, or its opposite if its sentence says the sign in words. */
function deriveWithSign({ value, named }: Tried, context: Context, operands: Operands) {
  const derivation = derive(value, context, { operands, named })
  if (derivation !== undefined || !isDirected(value, context.text)) return derivation
  return value.amount === undefined
    ? undefined
    : derive(negate(value), context, { operands, named })
}

/** Number of derived values that are at once operands of the next ones. */
const refreshes_max = 16
const refreshed_values_max = 100

function shape({ text, kind, at }: Value): Pick<CheckedValue, 'value' | 'kind' | 'at'> {
  return { value: text, kind, at }
}

/** Marks seen values of another subject than the answer says. */
function checkSubjects(
  values: readonly Value[],
  checked: (CheckedValue | undefined)[],
  context: Context,
): void {
  if (!context.index.isComplete) return
  for (const [at, value] of values.entries()) {
    if (checked[at]?.verdict !== 'seen') continue
    const other = findOtherSubject(value, context)
    if (other === undefined || isDerivable(value, context)) continue
    const { evidence, instead, subject } = other
    checked[at] = {
      ...shape(value),
      verdict: 'other_subject',
      evidence: [evidence],
      instead,
      subject,
    }
  }
}

/** Tells whether a value of another record also follows by an operation that its sentence names. */
function isDerivable(value: Value, context: Context): boolean {
  const { named } = readOperations(context.text, value)
  return derive(value, context, { operands: collectOperands(context), named }) !== undefined
}

/** Lists the values that were neither found nor derived. */
function decideRest({ checked, tried }: Progress, context: Context): void {
  const open = tried.filter(({ at }) => checked[at] === undefined)
  if (open.length === 0) return
  const operands = collectOperands(context)
  for (const one of open) {
    const { at, value } = one
    if (!context.index.isComplete) {
      checked[at] = unchecked(value)
      continue
    }
    const instead = findSlip(value, context)
    const doubt =
      instead === undefined ? findDoubt(value, context, { ...one, operands }) : undefined
    checked[at] = {
      ...shape(value),
      verdict: 'unsupported',
      evidence: [],
      ...(doubt === undefined ? {} : { doubt }),
      ...(instead === undefined ? {} : { instead }),
    }
  }
}

function unchecked(value: Value): CheckedValue {
  return { ...shape(value), verdict: 'not_checked', evidence: [], doubt: 'incomplete' }
}

function seenInAnswer(value: Value, text: string): Seen {
  const evidence = { source: 'answer', quote: value.text, at: value.at }
  return { value, evidence, scopes: [], isRate: isRate(text, value) }
}

function lookUp(value: Value, context: Context): CheckedValue | undefined {
  const exemption = findExemption(value, context.text)
  const seen = exemption === 'list_number' ? undefined : find(value, context)
  if (seen !== undefined) {
    context.supported.push(seenInAnswer(value, context.text))
    return { ...shape(value), verdict: 'seen', evidence: [seen] }
  }
  if (exemption === undefined) return undefined
  if (value.amount !== undefined && exemption !== 'list_number')
    context.supported.push(seenInAnswer(value, context.text))
  return { ...shape(value), verdict: 'exempt', evidence: [], exemption }
}

function find(value: Value, context: Context): Evidence | undefined {
  const { index, text } = context
  if (value.amount !== undefined) {
    return (
      findNumber(value, index, text) ?? findTurned(value, context) ?? findEnding(value, text, index)
    )
  }
  if (value.kind === 'date') return findDay(index, value)?.evidence
  if (value.kind === 'time') return findTime(value, index)?.evidence
  return findCode(value, index) ?? findEnding(value, text, index)
}
