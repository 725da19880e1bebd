import type { Observation } from './observation.ts'

/** The names of severities that OpenTelemetry and Langfuse have, in lower case. */
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

/** Returns the level that a severity is stored as, for its name in any case; undefined when unknown. */
export function levelFromSeverity(name: string): Observation['level'] | undefined {
  const found = severityNames.find((known) => known === name.toLowerCase())
  return found && levelBySeverity[found]
}

/**
 * Returns the level of a severity number of OpenTelemetry's log data model: 9 is INFO, 13 WARN, 17
 * ERROR; 0 is unknown.
 */
export function levelFromSeverityNumber(severity: number): Observation['level'] {
  if (severity === 0) return ''
  if (severity < 9) return 'debug'
  if (severity < 13) return 'default'
  return severity < 17 ? 'warning' : 'error'
}
