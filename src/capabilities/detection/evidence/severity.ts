import { type Severity, severities } from '../contract.ts'

const eased: Record<Severity, Severity> = {
  info: 'info',
  low: 'info',
  medium: 'low',
  high: 'low',
  critical: 'medium',
}

/** The severity of a finding that the task got over: half of what it was. */
export function easedSeverity(severity: Severity, recovered: boolean): Severity {
  return recovered ? eased[severity] : severity
}

/** 0 for `info` up to 4 for `critical`, to compare and to sort. */
export function severityRank(severity: Severity): number {
  return severities.indexOf(severity)
}
