import { readFileSync, writeFileSync } from 'node:fs'

/**
 * Recorded seconds of each test file. They order the files of a run, and a run of the whole suite
 * that takes much longer than recorded fails. `make soak` writes them anew.
 */
export type Durations = {
  /** Of `calibrate` on the machine that recorded them, in milliseconds. */
  calibration_ms: number
  files: Record<string, FileDurations>
}

/** Seconds of a file by suite, hooks and imports included, and the tests that ran. */
type FileDurations = { test?: Ran; soak?: Ran }
type Ran = { seconds: number; tests: number }
export type Suite = keyof FileDurations

const path = new URL('../../durations.json', import.meta.url)

export function readDurations(): Durations {
  return JSON.parse(readFileSync(path, 'utf8'))
}

/** Writes one line for each file, sorted by path, so that a change shows which files grew. */
export function writeDurations({ calibration_ms, files }: Durations): void {
  const lines = Object.entries(files)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, of]) => `    ${JSON.stringify(file)}: ${JSON.stringify(of)}`)
  writeFileSync(
    path,
    `{\n  "calibration_ms": ${calibration_ms},\n  "files": {\n${lines.join(',\n')}\n  }\n}\n`,
  )
}

/** A file whose seconds differ from the recorded ones, which are 0 for a new file. */
type Growth = { file: string; recorded_s: number; now_s: number }

/** What a run's seconds say beside the recorded ones, scaled to this machine. */
export type Comparison = {
  /** How many times slower the machine counts, at least 1. */
  scale: number
  recorded_s: number
  now_s: number
  /** Files that took longer, those that grew most first. */
  grown: Growth[]
}

/**
 * Compares the seconds of a run with recorded ones. `slowness` is how many times slower this
 * machine calculates than the one that recorded. It may be slower in other ways, so the median of
 * all files counts if it is larger: files that grew stand out from the others. A faster machine
 * counts as equal, because waits do not become shorter there.
 */
export function compareDurations(
  now: ReadonlyMap<string, number>,
  recorded: ReadonlyMap<string, number>,
  slowness: number,
): Comparison {
  const scale = Math.max(1, slowness, medianGrowth(now, recorded))
  const scaled = (file: string) => (recorded.get(file) ?? 0) * scale
  const sum = (values: Iterable<number>) => [...values].reduce((total, value) => total + value, 0)
  const grown = [...now]
    .map(([file, now_s]) => ({ file, recorded_s: scaled(file), now_s }))
    .filter(({ recorded_s, now_s }) => now_s > recorded_s)
    .toSorted((a, b) => b.now_s - b.recorded_s - (a.now_s - a.recorded_s))
  return { scale, recorded_s: sum(recorded.values()) * scale, now_s: sum(now.values()), grown }
}

/** Seconds from which the time of a file is more than chance. */
const counted_s_min = 1

function medianGrowth(
  now: ReadonlyMap<string, number>,
  recorded: ReadonlyMap<string, number>,
): number {
  const ratios = [...recorded]
    .filter(([file, seconds]) => seconds >= counted_s_min && now.has(file))
    .map(([file, seconds]) => (now.get(file) ?? 0) / seconds)
    .toSorted((a, b) => a - b)
  return ratios[ratios.length >> 1] ?? 1
}
