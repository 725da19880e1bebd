import type { DrainFacts } from './drain.ts'
import type { EdgeRow } from './edge.ts'
import type { SpanShape } from './spans.ts'
import type { SteadyFacts } from './steady.ts'

/**
 * One step of the edge, in µs of processor time per span: medians, and the least disturbed slice.
 */
export type StageRow = {
  name: string
  cpu_us: number
  /** Relative to `JSON.parse` of the same spans. */
  ratio: number
  lowest: number
}

/** Results of the ingest part. */
export type IngestFacts = {
  rounds: number
  stages: { shape: SpanShape; rows: StageRow[] }[]
  edge: EdgeRow[]
  drain: DrainFacts
  steady: SteadyFacts
}
