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

/** The goal of the project: microseconds for a new call. */
export const goals_us: Readonly<Record<number, number>> = { 100: 2_000, 500: 5_000 }
