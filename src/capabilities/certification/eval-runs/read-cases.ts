import type { z } from 'zod'
import { type EvalCase, evalCase, evalCaseId, maxEvalCases } from '../evidence/eval-case.ts'

/** A fault of an eval file at a line, counted from 1. */
export type LineFault = { line: number; detail: string }

/** Maximum faults that are collected before reading ends. */
const faults_max = 20

/** An eval file that cannot be read. The message has the first fault with its line. */
export class EvalFileFault extends Error {
  override readonly name = 'EvalFileFault'
  readonly faults: readonly [LineFault, ...LineFault[]]

  constructor(faults: readonly [LineFault, ...LineFault[]]) {
    const [{ line, detail }] = faults
    super(`line ${line}: ${detail}`)
    this.faults = faults
  }
}

/** A collector of cases. It refuses a second case with the same id and repeat. */
export type CaseCollector = {
  /** Adds a case. Notes a fault for an invalid value. */
  add(line: number, value: unknown): void
  /** Notes a fault. Throws `EvalFileFault` when there are too many faults. */
  fault(line: number, detail: string): void
  /** Returns the cases. Throws `EvalFileFault` if there are faults, or no case ran. */
  end(): EvalCase[]
}

/** Collects cases with their lines. */
export function collectCases(): CaseCollector {
  const cases: EvalCase[] = []
  const lines = new Map<string, number>()
  const faults: LineFault[] = []
  const fault = (line: number, detail: string) => {
    faults.push({ line, detail })
    if (faults.length >= faults_max) refuse(faults)
  }
  const addCase = (line: number, one: EvalCase) => {
    const id = evalCaseId(one)
    const wrong = describeWrongText(one) ?? describeRepeated(one, lines.get(id))
    if (wrong !== undefined) {
      fault(line, wrong)
      return
    }
    lines.set(id, line)
    cases.push(one)
    if (cases.length > maxEvalCases) {
      refuse([{ line, detail: `expected at most ${maxEvalCases} cases with repeats` }])
    }
  }
  return {
    fault,
    add: (line, value) => {
      const read = evalCase.safeParse(value)
      if (read.success) addCase(line, read.data)
      else fault(line, describeIssue(read.error.issues[0]))
    },
    end: () => {
      refuse(faults)
      if (cases.every(({ passed }) => passed === null)) {
        refuse([{ line: 1, detail: describeEmpty(cases.length) }])
      }
      return cases
    },
  }
}

function refuse(faults: readonly LineFault[]): void {
  const [first, ...others] = faults
  if (first !== undefined) throw new EvalFileFault([first, ...others])
}

function describeEmpty(skipped: number): string {
  return skipped === 0
    ? 'expected at least one case, got none'
    : `expected at least one case that ran, got only skipped ones (${skipped})`
}

const fields = Object.keys(evalCase.shape).join(', ')

function describeIssue(issue: z.core.$ZodIssue | undefined): string {
  if (issue?.code === 'unrecognized_keys') {
    return `${quoted(issue.keys.join(', '))} is not a field of a case: expected ${fields}`
  }
  const path = issue?.path.join('.') ?? ''
  return path === '' ? `expected an object with ${fields}` : `${path}: ${issue?.message}`
}

function describeRepeated(
  { case_id, repeat }: EvalCase,
  earlier: number | undefined,
): string | undefined {
  if (earlier === undefined) return undefined
  const which = `case ${quoted(case_id)}, repeat ${repeat}`
  return `${which} is on line ${earlier} too: number the repeats of a case with \`repeat\``
}

/** Describes a text that could not be stored, or would break a terminal or a report. */
function describeWrongText({ case_id, cluster, name }: EvalCase): string | undefined {
  for (const [field, text] of Object.entries({ case_id, cluster, name })) {
    if (text === null || (text.isWellFormed() && !/\p{Cc}/u.test(text))) continue
    return `${field}: ${quoted(text)} has control characters or half of a surrogate pair`
  }
  return undefined
}

/** Quotes a value of a file for a message, at most 80 characters of it. */
export function quoted(value: string): string {
  return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value)
}
