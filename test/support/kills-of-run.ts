import { budget } from './suite/budget.ts'

const start_ms = 90_000
/** Time for a kill, the following start and the work in between. */
const kill_ms_max = 20_000

/** Number of kills of a scenario: the variable KILLS, else what the suite has time for. */
export function killsOfRun(usual: { test: number; soak: number }): number {
  const asked = Number(process.env['KILLS'])
  return Number.isInteger(asked) && asked > 0 ? asked : budget(usual)
}

/** Time limit of a scenario with this many kills, in milliseconds. */
export function msFor(kills: number): number {
  return start_ms + kills * kill_ms_max
}
