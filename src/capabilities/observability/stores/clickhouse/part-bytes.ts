import type { PartStats } from './change-rows.ts'

const second_ns = 1_000_000_000n

/** Seconds since 1970. */
type SecondWindow = { from: number; to: number }

/** The whole seconds that a window of nanoseconds touches. */
export function secondsOf({ from, to }: { from: bigint; to: bigint }): SecondWindow {
  return { from: Number(from / second_ns), to: Number((to + second_ns - 1n) / second_ns) }
}

/** Estimates the bytes of records by the average row of the partitions that the window is in. */
export function bytesIn(
  records: number,
  parts: readonly PartStats[],
  window: SecondWindow,
): number {
  const around = parts.filter(({ from, to }) => from < window.to && to >= window.from)
  const rows = around.reduce((all, part) => all + part.rows, 0)
  const bytes = around.reduce((all, part) => all + part.bytes, 0)
  return rows === 0 ? 0 : Math.round((records * bytes) / rows)
}
