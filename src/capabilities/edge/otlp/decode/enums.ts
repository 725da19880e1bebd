import type { Tally } from './tally.ts'

const uint32Max = 0xffff_ffff
const kindMax = 5
const statusMax = 2
const severityMax = 24

/** SpanKind; 0 (unspecified), with a warning, for a number that has no meaning. */
export function spanKind(value: number, tally: Tally): number {
  return enumValue(value, kindMax, tally, 'unknown_span_kind')
}

/** StatusCode; 0 (unset), with a warning, for a number that has no meaning. */
export function statusCode(value: number, tally: Tally): number {
  return enumValue(value, statusMax, tally, 'unknown_status_code')
}

/** SeverityNumber; 0 (unspecified), with a warning, for a number that has no meaning. */
export function severityNumber(value: number, tally: Tally): number {
  return enumValue(value, severityMax, tally, 'unknown_severity_number')
}

/** What the sender dropped and what we did, as a uint32, which is what both ends keep. */
export function droppedCount(sent: number, cut: number): number {
  return Math.min(sent + cut, uint32Max)
}

function enumValue(value: number, most: number, tally: Tally, warning: string): number {
  if (value >= 0 && value <= most) return value
  tally.warn(warning)
  return 0
}
