import type { TraceKey } from './recent-traces.ts'

/** A trace of which rows were erased, and whose rows of it are erased when they are sent again. */
export type ErasedTrace = TraceKey & { isErased: (user_id: string) => boolean }

/** Knows of which traces rows were erased, so that they stay erased when they are sent again. */
export type ErasedRows = {
  /** Returns those of these traces of which rows were erased lately. */
  tracesAmong(traces: readonly TraceKey[]): Promise<ErasedTrace[]>
}
