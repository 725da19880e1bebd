import type { OpenWindow } from '../contract.ts'

/** The range of a DateTime64(9), 1900 to 2262, for the open sides of a window. */
export const ends = { from: -2_208_988_800_000_000_000n, to: 2n ** 63n - 1n }

/** Returns the parameters of `inWindow`. */
export function edges({ from = ends.from, to = ends.to }: OpenWindow): {
  from: bigint
  to: bigint
} {
  return { from, to }
}

/** The condition of a window of starts. */
export const inWindow = `start_time >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
  AND start_time < fromUnixTimestamp64Nano({to:Int64}, 'UTC')`
