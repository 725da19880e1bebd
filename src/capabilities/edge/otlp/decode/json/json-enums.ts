import { severityNumber, spanKind, statusCode } from '../enums.ts'
import type { Tally } from '../tally.ts'

const kinds = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER']
const codes = ['UNSET', 'OK', 'ERROR']
const severities = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL']
const severitySteps = [1, 2, 3, 4]

const kindNumbers = new Map(kinds.map((name, i) => [`SPAN_KIND_${name}`, i]))
const codeNumbers = new Map(codes.map((name, i) => [`STATUS_CODE_${name}`, i]))
const severityNumbers = new Map([
  ['SEVERITY_NUMBER_UNSPECIFIED', 0] as const,
  ...severities.flatMap((name, i) =>
    severitySteps.map(
      (step) => [`SEVERITY_NUMBER_${name}${step === 1 ? '' : step}`, i * 4 + step] as const,
    ),
  ),
])

/** SpanKind from its number or its name. */
export function spanKindOf(value: unknown, tally: Tally): number {
  return spanKind(numberOf(value, kindNumbers), tally)
}

/** StatusCode from its number or its name. */
export function statusCodeOf(value: unknown, tally: Tally): number {
  return statusCode(numberOf(value, codeNumbers), tally)
}

/** SeverityNumber from its number or its name. */
export function severityNumberOf(value: unknown, tally: Tally): number {
  return severityNumber(numberOf(value, severityNumbers), tally)
}

/** -1 is no number of an enum: the one who asked warns. */
function numberOf(value: unknown, names: ReadonlyMap<string, number>): number {
  if (value === undefined || value === null) return 0
  if (typeof value === 'number') return Number.isInteger(value) ? value : -1
  if (typeof value !== 'string') return -1
  return names.get(value) ?? (/^[0-9]{1,9}$/.test(value) ? Number(value) : -1)
}
