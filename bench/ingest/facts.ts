import type { DrainFacts } from './drain.ts'
import type { EdgeRow } from './edge.ts'
import type { SpanShape } from './spans.ts'
import type { SteadyFacts } from './steady.ts'

/** One step of the edge, in µs of processor time per span; the ratio is to `JSON.parse`. */
export type StageRow = {
  name: string
  cpu_us: number
  ratio: number
  spread: readonly [number, number]
}

/** What the ingest part measures. */
export type IngestFacts = {
  rounds: number
  stages: { shape: SpanShape; rows: StageRow[] }[]
  edge: EdgeRow[]
  drain: DrainFacts
  steady: SteadyFacts
}
