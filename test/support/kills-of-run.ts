const start_ms = 90_000
/** What a kill, the start after it and the work in between may take. */
const kill_ms_max = 20_000

/** How often a scenario kills: as the variable KILLS says, else as often as given. */
export function killsOfRun(usual: number): number {
  const asked = Number(process.env['KILLS'])
  return Number.isInteger(asked) && asked > 0 ? asked : usual
}

/** How long a scenario with so many kills may take, in milliseconds. */
export function msFor(kills: number): number {
  return start_ms + kills * kill_ms_max
}
