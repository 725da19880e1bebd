/** One run of one case of an evaluation. */
export type ReadCase = {
  case_id: string
  /** Number of the run of the case, 1–100. */
  repeat: number
  passed: boolean
  /** Score of the run, 0–1, if the evaluation gives one. */
  score: number | null
}

/** The cases of an eval file in their order, without skipped ones. */
export type EvalFile = { cases: ReadCase[]; skipped: number }

/** A fault of an eval file at a line, counted from 1. */
export type LineFault = { line: number; detail: string }

/** Maximum runs of cases in one eval file. */
export const cases_max = 50_000

/** Maximum length of the id of a case. */
export const caseId_characters_max = 256

/** Maximum repeats of one case. */
export const repeats_max = 100

/** Maximum faults that are collected before reading ends. */
const faults_max = 20

/** An eval file that cannot be read. The message has the first fault with its line. */
export class EvalFileFault extends Error {
  override readonly name = 'EvalFileFault'
  readonly faults: readonly LineFault[]

  constructor(faults: readonly [LineFault, ...LineFault[]]) {
    const [{ line, detail }] = faults
    super(`line ${line}: ${detail}`)
    this.faults = faults
  }
}

/** A collector of cases, which refuses a repeated run of a case. */
export type CaseCollector = {
  add(line: number, one: ReadCase): void
  skip(): void
  /** Notes a fault. Throws `EvalFileFault` when there are too many faults. */
  fault(line: number, detail: string): void
  /** Returns the cases. Throws `EvalFileFault` if there are faults or no cases. */
  end(): EvalFile
}

/** Collects cases with their lines. */
export function collectCases(): CaseCollector {
  const cases: ReadCase[] = []
  const lines = new Map<string, number>()
  const faults: LineFault[] = []
  let skipped = 0
  const fault = (line: number, detail: string) => {
    faults.push({ line, detail })
    if (faults.length >= faults_max) refuse(faults)
  }
  return {
    fault,
    skip: () => {
      skipped += 1
    },
    add: (line, one) => {
      const earlier = lines.get(keyOf(one))
      const wrong = describeWrongId(one.case_id) ?? describeRepeated(one, earlier)
      if (wrong !== undefined) {
        fault(line, wrong)
        return
      }
      lines.set(keyOf(one), line)
      cases.push(one)
      if (cases.length > cases_max) {
        refuse([{ line, detail: `expected at most ${cases_max} runs of cases` }])
      }
    },
    end: () => {
      refuse(faults)
      if (cases.length === 0) refuse([{ line: 1, detail: describeEmpty(skipped) }])
      return { cases, skipped }
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
    : `expected at least one case that ran, got ${skipped} skipped ones`
}

const keyOf = ({ case_id, repeat }: ReadCase) => `${repeat} ${case_id}`

function describeRepeated(
  { case_id, repeat }: ReadCase,
  earlier: number | undefined,
): string | undefined {
  if (earlier === undefined) return undefined
  return `case ${quoted(case_id)}, repeat ${repeat} is on line ${earlier} too: number the runs of a case with \`repeat\``
}

function describeWrongId(id: string): string | undefined {
  if (id === '') return 'the id of the case is empty'
  if (id.length > caseId_characters_max) {
    return `the id of the case has ${id.length} characters, expected at most ${caseId_characters_max}`
  }
  if (!id.isWellFormed() || /\p{Cc}/u.test(id)) {
    return `the id of the case ${quoted(id)} has control characters or half of a surrogate pair`
  }
  return undefined
}

/** Quotes a value of a file for a message, at most 80 characters of it. */
export function quoted(value: string): string {
  return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value)
}
