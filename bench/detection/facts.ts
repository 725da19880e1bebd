/** The worker's cost of a new call of a task, in microseconds of processor time. */
export type DetectionRow = {
  /** How the client sends its history. */
  history: string
  steps: number
  /** Characters of the last history. */
  input_chars: number
  /** Medians over the last calls of the task. */
  parse_us: number
  take_us: number
  detect_us: number
  /** The maximum of these calls, reconstruction and detection together. */
  worst_us: number
  /** Reconstruction and detection, relative to JSON.parse of the same input. */
  ratio: number
  /** The reconstruction's own estimate of its memory. */
  told_bytes: number
}

export type DetectionFacts = { calls: number; rows: DetectionRow[] }

/** Detection while one project brings a flood of new tasks. */
export type FloodRow = {
  flood: string
  tasks: number
  steps: number
  tasks_per_second: number
  /** Relative to the processor time of the worker's process, without that of its stores. */
  tasks_per_cpu_second: number
  /** Tasks of the flood that were due when the last task of a quiet project was analysed. */
  left_at_last_quiet: number
  /** Milliseconds from the roll-up of a quiet project's task to its findings. */
  delay_ms: { median: number; worst: number }
}

/** The goal of the project: microseconds for a new call. */
export const goals_us: Readonly<Record<number, number>> = { 100: 2_000, 500: 5_000 }
