import { systemClock } from '../kernel/time.ts'
import type { Role, RoleConfig } from '../platform/config/index.ts'
import { createLogger, createMetrics } from '../platform/telemetry/index.ts'
import type { RoleContext } from './running.ts'

/** What a role that does one thing and ends is built with; it serves nothing. */
export function oneShot(
  role: string,
  { log_level: level, log_format: format }: Pick<RoleConfig<Role>, 'log_level' | 'log_format'>,
  parts: AsyncDisposableStack,
): RoleContext {
  return {
    logger: createLogger({ role, level, format }),
    metrics: createMetrics(),
    clock: systemClock,
    parts,
    checks: [],
    whenReady: [],
    stop: new AbortController().signal,
    ports: {},
    fail: () => undefined,
  }
}

/** One JSON object a line, so that a script in front of the role can read them. */
export function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}
