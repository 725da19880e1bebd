/** The first page of a list of a large task, and of one with 100 calls. */
export type TaskPageRow = {
  list: 'timeline' | 'tool-calls'
  page: 'first' | 'middle'
  calls: number
  small_ms: number
  large_ms: number
  /** Median of the ratios of adjacent measurements. */
  ratio: number
}

export type TasksFacts = { rounds: number; small_calls: number; rows: TaskPageRow[] }

/** The goal of the project for the first page of a task with 100,000 calls, as a multiple of one with 100. */
export const goal_ratio = 1.5
