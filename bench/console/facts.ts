/** Times of frames in ms, of a list that is scrolled and of the same page at rest, in turn. */
export type FramesRow = {
  what: string
  rows: number
  /** Most rows in the page at once. */
  dom_rows: number
  idle_p95_ms: number
  scrolled_p95_ms: number
  /** Scrolled relative to idle: the median of the rounds. */
  ratio: number
  /** Tasks of more than 50 ms while it was scrolled: their sum, the worst round. */
  long_tasks_ms: number
}

export type ConsoleFacts = {
  rounds: number
  /** Seconds of each measurement of frames. */
  seconds: number
  frames: FramesRow[]
  outline: {
    steps: number
    /** From the request of the outline to the first rows, of a warm service; the median. */
    drawn_ms: number
    /** The part of it in which the answer came in. */
    fetch_ms: number
    /** JavaScript heap of the page after a collection; the largest. */
    heap_bytes: number
  }
  /** First contentful paint with a cold cache of the browser; medians. */
  paint: { tasks_ms: number; blank_ms: number }
}

/** The budgets of the console. */
export const budgets = {
  dom_rows: 60,
  frames_ratio: 3,
  long_tasks_ms: 200,
  drawn_ms: 1_500,
  heap_bytes: 80_000_000,
  paint_beyond_blank_ms: 400,
} as const
