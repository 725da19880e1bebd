import type { Observation } from './observation.ts'

/** Severity names of OpenTelemetry and Langfuse, in lower case. */
export const severityNames = [
  'trace',
  'debug',
  'info',
  'default',
  'warn',
  'warning',
  'error',
  'fatal',
] as const

const levelBySeverity: Record<(typeof severityNames)[number], Observation['level']> = {
  trace: 'debug',
  debug: 'debug',
  info: 'default',
  default: 'default',
  warn: 'warning',
  warning: 'warning',
  error: 'error',
  fatal: 'error',
}

/** Returns the stored level for a severity name in any case, or undefined when it is unknown. */
export function levelFromSeverity(name: string): Observation['level'] | undefined {
  const found = severityNames.find((known) => known === name.toLowerCase())
  return found && levelBySeverity[found]
}

/**
 * Returns the level for a severity number of the OpenTelemetry log data model: 9 is INFO, 13 is
 * WARN, 17 is ERROR, 0 is unknown.
 */
export function levelFromSeverityNumber(severity: number): Observation['level'] {
  if (severity === 0) return ''
  if (severity < 9) return 'debug'
  if (severity < 13) return 'default'
  return severity < 17 ? 'warning' : 'error'
}

/** Severities of findings and incidents, lowest first. */
export const severities = ['info', 'low', 'medium', 'high', 'critical'] as const
export type Severity = (typeof severities)[number]
