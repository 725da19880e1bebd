import { join } from 'node:path'
import { severityOfValue } from '../../src/capabilities/detection/facts/value-severity.ts'
import {
  type CheckedValue,
  checkAnswer,
  indexSeen,
} from '../../src/capabilities/provenance/sources/index.ts'
import type { SeenText } from '../../src/capabilities/provenance/values/index.ts'
import type { ValueFigures } from './figures.ts'
import { readRecords } from './packed-records.ts'

type Label = { value: string; start: number; end: number; how?: string; why?: string }
type Run = {
  id: string
  messages: {
    role: string
    name?: string
    content: string | null
    tool_calls?: { arguments: unknown }[]
  }[]
  answer: string
  flags: Label[]
  ok_values: Label[]
}
type Counts = Record<
  | 'clean'
  | 'cleanFlagged'
  | 'flags'
  | 'found'
  | 'listed'
  | 'reported'
  | 'right'
  | 'altered'
  | 'noticed',
  number
>

/**
 * Measures the check of values; the folder has `runs.jsonl.gz`. Each figure of a clean answer is also
 * altered by one digit: the share that is noticed shows how much is accepted by chance.
 */
export function measureProvenance(folder: string, isVerbose: boolean): ValueFigures {
  const counts: Counts = {
    clean: 0,
    cleanFlagged: 0,
    flags: 0,
    found: 0,
    listed: 0,
    reported: 0,
    right: 0,
    altered: 0,
    noticed: 0,
  }
  for (const run of readRecords<Run>(join(folder, 'runs.jsonl.gz')))
    measureRun(run, counts, isVerbose)
  console.log(`clean runs flagged: ${percent(counts.cleanFlagged, counts.clean)}`)
  console.log(`precision of flags: ${percent(counts.right, counts.reported)}`)
  console.log(`recall of flags: ${percent(counts.found, counts.flags)}`)
  console.log(`flags that are listed: ${percent(counts.listed, counts.flags)}`)
  console.log(`altered figures listed: ${percent(counts.noticed, counts.altered)}`)
  return {
    clean_runs_flagged: { part: counts.cleanFlagged, of: counts.clean },
    flags_right: { part: counts.right, of: counts.reported },
    flags_found: { part: counts.found, of: counts.flags },
    flags_listed: { part: counts.listed, of: counts.flags },
    altered_noticed: { part: counts.noticed, of: counts.altered },
  }
}

function readMessage(message: Run['messages'][number], at: number): SeenText[] {
  const { role, name = role, content, tool_calls = [] } = message
  const source = `${at} ${name}`
  if (role !== 'assistant') return [{ source, text: content ?? '' }]
  return tool_calls.map((call) => ({ source, text: JSON.stringify(call.arguments), isOwn: true }))
}

function measureRun(run: Run, counts: Counts, isVerbose: boolean): void {
  const index = indexSeen(run.messages.flatMap(readMessage))
  const checked = checkAnswer(run.answer, index)
  const hasTools = run.messages.some(({ role }) => role === 'tool')
  const serious = seriousOf(checked, hasTools)
  countFlags(run, { checked, serious }, counts, isVerbose)
  if (run.flags.length > 0) return
  counts.clean += 1
  if (serious.length > 0) counts.cleanFlagged += 1
  for (const { verdict, at } of checked) {
    if (verdict !== 'seen' && verdict !== 'derived') continue
    const altered = alterFigure(run.answer, at)
    if (altered === undefined) continue
    counts.altered += 1
    const after = checkAnswer(altered, index).filter(
      (one) => one.at[0] < at[1] && at[0] < one.at[1],
    )
    if (after.some(isMissing)) counts.noticed += 1
    else if (isVerbose)
      console.log(`not noticed ${run.id} ${altered.slice(...at)}`, describe(after))
  }
}

function isMissing({ verdict }: CheckedValue): boolean {
  return verdict === 'unsupported' || verdict === 'other_subject'
}

/** Returns the values without a source that the detector rates medium. */
function seriousOf(checked: readonly CheckedValue[], hasTools: boolean): CheckedValue[] {
  const count = (wanted: string) => checked.filter(({ verdict }) => verdict === wanted).length
  const derived = count('derived')
  const total = checked.length - count('exempt')
  const grounds = { found: count('seen') + derived, total, hasTools, share_min: 0.95 }
  return checked.filter((value) => isMissing(value) && severityOfValue(value, grounds) === 'medium')
}

/** Replaces the middle digit of a value of two digits or more by another. */
function alterFigure(answer: string, [start, end]: readonly [number, number]): string | undefined {
  const digits = [...answer.slice(start, end).matchAll(/\d/g)]
  const middle = digits[digits.length >> 1]
  if (digits.length < 2 || middle === undefined) return undefined
  const place = start + middle.index
  return `${answer.slice(0, place)}${(Number(middle[0]) + 4) % 10}${answer.slice(place + 1)}`
}

type Checked = { checked: readonly CheckedValue[]; serious: readonly CheckedValue[] }

function countFlags(
  run: Run,
  { checked, serious }: Checked,
  counts: Counts,
  isVerbose: boolean,
): void {
  counts.flags += run.flags.length
  for (const flag of run.flags) {
    const why = checked.filter(({ at }) => overlaps(at, flag))
    if (why.some(isMissing)) counts.listed += 1
    if (why.some((value) => serious.includes(value))) counts.found += 1
    else if (isVerbose) console.log(`missed ${run.id} ${flag.value} (${flag.why})`, describe(why))
  }
  for (const one of serious) {
    counts.reported += 1
    if (run.flags.some((flag) => overlaps(one.at, flag))) counts.right += 1
    else if (isVerbose) {
      const how = run.ok_values.find((ok) => overlaps(one.at, ok))?.how
      const around = run.answer.slice(Math.max(0, one.at[0] - 30), one.at[1] + 15)
      console.log(`wrong ${run.id} ${one.kind} "${one.value}" (${how}) …${around}`)
    }
  }
}

function describe(checked: readonly CheckedValue[]): string {
  return checked
    .map((one) => `${one.verdict} ${one.derivation?.formula ?? one.evidence[0]?.quote}`)
    .join()
}

function overlaps(at: readonly [number, number], { start, end }: Label): boolean {
  return at[0] < end && start < at[1]
}

function percent(part: number, all: number): string {
  return `${((100 * part) / all).toFixed(1)} % (${part}/${all})`
}
