import { Problem } from '../../../kernel/problem.ts'
import { ColumnarUnavailable } from '../../../platform/columnar/index.ts'
import { isRelationalUnavailable, ReadOverTime } from '../../../platform/relational/index.ts'

/** Maximum time of one statement of a measurement. */
export const maxMeasurementTimeMs = 10_000

/** ClickHouse's numbers of errors, from its src/Common/ErrorCodes.cpp. */
const timeout = 159
const memory = 241

/** Returns why a measurement failed, in words that a user reads: without SQL and addresses. */
export function measurementError(error: unknown): string {
  const code = columnarCode(error)
  const isOverTime =
    code === timeout || error instanceof ReadOverTime || sqlState(error) === cancelled
  if (isOverTime) {
    const seconds = maxMeasurementTimeMs / 1_000
    return `The measurement took more than ${seconds} s. Select fewer rows, or shorten the window.`
  }
  if (code === memory) {
    return 'The measurement needed more memory than a rule may use. Select fewer rows, or shorten the window.'
  }
  if (error instanceof ColumnarUnavailable) {
    return 'The columnar store is unavailable. The rule keeps its state.'
  }
  if (error instanceof Problem || isRelationalUnavailable(error)) {
    return 'A store is unavailable. The rule keeps its state.'
  }
  return 'The store refused the measurement. The rule keeps its state.'
}

function columnarCode(error: unknown) {
  return error instanceof ColumnarUnavailable ? error.code : undefined
}

/** Returns whether a statement of ClickHouse failed because it needed too much time or memory. */
export function isOverLimit(error: unknown): boolean {
  return [timeout, memory].includes(columnarCode(error) ?? 0)
}

/** SQLSTATE of a statement that exceeded its time limit. */
const cancelled = '57014'

function sqlState(error: unknown): string | undefined {
  const cause = error instanceof Problem ? error.cause : error
  if (!(cause instanceof Error) || !('code' in cause)) return undefined
  return typeof cause.code === 'string' ? cause.code : undefined
}
