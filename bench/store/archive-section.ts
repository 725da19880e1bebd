import type { ArchiveFacts } from './archives.ts'
import { thousands, verdict } from './figures.ts'

/** The speed of archiving and restoring a day. */
export function archiveSection({ rows, bytes, rounds }: ArchiveFacts): string {
  return `### Archive and restore

A day of the largest project, ${thousands(rows)} observations: archived to Parquet files in a folder (${Math.round(bytes / 1e6)} MB) that are
read back and compared, and restored into a slice that is compared with the manifest. The wait before
an archive (30 s, for inserts in progress) is excluded. The goal applies to the second round.

| | first round, rows a second | second round | goal | |
|---|---|---|---|---|
${['archive', 'restore'].map((way) => lineOf(way, rows, timesOf(way, rounds))).join('\n')}
`
}

const rowsPerSecondGoal = 50_000

function timesOf(way: string, rounds: ArchiveFacts['rounds']): number[] {
  return rounds.map(({ archive_ms, restore_ms }) => (way === 'archive' ? archive_ms : restore_ms))
}

function lineOf(way: string, rows: number, times: readonly number[]): string {
  const rates = times.map((took_ms) => (rows * 1000) / took_ms)
  const held = rates.at(-1) ?? 0
  return `| ${[
    way,
    ...rates.map(thousands).map((rate, at) => (at === rates.length - 1 ? `**${rate}**` : rate)),
    `≥ ${thousands(rowsPerSecondGoal)}`,
    verdict(held >= rowsPerSecondGoal),
  ].join(' | ')} |`
}
