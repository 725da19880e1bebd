import type { TraceKey } from './recent-traces.ts'

/** A trace of which rows were erased, and whose rows of it are erased when they are sent again. */
export type ErasedTrace = TraceKey & { isErased: (user_id: string) => boolean }

/** Keeps erased rows erased that are sent again. */
export type ErasedRows = {
  /** Returns those of these traces of which rows were erased lately. */
  tracesAmong(traces: readonly TraceKey[]): Promise<ErasedTrace[]>
  /** Erases rows of these traces that belong to the user; for '', those without a known user. */
  erase(project_id: string, user_id: string, trace_ids: readonly string[]): Promise<void>
}
