import { runDetectors } from '../../src/capabilities/detection/analyse/run-detectors.ts'
import { createReconstruction } from '../../src/capabilities/detection/reconstruction/index.ts'
import { defaultDetectionSettings } from '../../src/capabilities/detection/settings/detector-settings.ts'
import type { Observation } from '../../src/model/observation.ts'
import type { DetectionFacts, DetectionRow } from './facts.ts'
import { type HistoryName, histories, longRun } from './long-runs.ts'

/** Measured calls at the end of a task. */
const calls = 30
const history_chars = 200_000
const settings = defaultDetectionSettings()

/** Measures a new call at the end of long tasks: its reconstruction, and all detectors. */
export function measureDetection(): DetectionFacts {
  const rows: DetectionRow[] = []
  for (const history of ['grows', 'clock', 'reminder', 'texts'] as const) {
    for (const steps of [100, 500]) {
      // The first run lets the engine compile the code.
      measureRun(history, steps)
      const row = measureRun(history, steps)
      rows.push(row)
      console.log(row)
    }
  }
  return { calls, rows }
}

function measureRun(history: HistoryName, steps: number): DetectionRow {
  const observations = longRun(history, steps, history_chars).map(asRead)
  const about = { project_id: '', task_id: '', conversation_id: '' }
  const reconstruction = createReconstruction(about)
  reconstruction.add(observations.slice(0, -calls))
  const parse: number[] = []
  const take: number[] = []
  const detect: number[] = []
  for (const row of observations.slice(-calls)) {
    parse.push(cpuUs(() => JSON.parse(row.input)))
    take.push(cpuUs(() => reconstruction.add([row])))
    detect.push(cpuUs(() => runDetectors(reconstruction.run(), settings)))
  }
  const sums = take.map((us, at) => us + (detect[at] ?? 0))
  return {
    history: histories[history],
    steps,
    input_chars: observations.at(-1)?.input.length ?? 0,
    parse_us: median(parse),
    take_us: median(take),
    detect_us: median(detect),
    worst_us: Math.max(...sums),
    ratio: median(sums) / median(parse),
    told_bytes: reconstruction.bytes(),
  }
}

/** Copies of the texts, as a store returns them. */
function asRead(row: Observation): Observation {
  return {
    ...row,
    input: Buffer.from(row.input).toString(),
    output: Buffer.from(row.output).toString(),
  }
}

function cpuUs(work: () => unknown): number {
  const { user, system } = process.cpuUsage()
  work()
  const now = process.cpuUsage()
  return now.user - user + now.system - system
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
}
