import type { Clock } from '../../../kernel/time.ts'
import type { ObservationStore, RecordStore } from '../../storage/index.ts'
import type { AnswerContext, Verifier, VerifierName } from '../contract.ts'
import type { RunsDb } from '../runs/store.ts'

/** Dependencies of the routes of verification. */
export type VerificationRoutesDeps = {
  db: RunsDb
  clock: Clock
  store: Pick<ObservationStore, 'traceObservations' | 'taskObservations' | 'taskVersions'>
  records: Pick<RecordStore, 'traceExists'>
  /** Reads the answer of a trace, or why it has none. */
  readAnswer: (trace: TraceInStore, signal: AbortSignal) => Promise<AnswerOrFault>
  verifiers: ReadonlyMap<VerifierName, Verifier>
  /** Models of the installation, without their URLs and keys. */
  models: readonly ModelSummary[]
  /** Longest wait of a request with `async_mode: false`. */
  wait_ms_max: number
  /** Budget of a project and day for priced calls. */
  budget_nano_dollars: bigint
}

/** A trace that has observations. */
export type TraceInStore = {
  project_id: string
  trace_id: string
  task_id: string | null
  user_id: string | null
  environment: string | null
  /** Start of the trace, ISO 8601. */
  trace_start: string
}

/** An answer with what the agent saw, or the error with which a run would fail. */
export type AnswerOrFault =
  | { context: AnswerContext; fault: null }
  | { context: null; fault: { code: string; message: string } }

/** A model, as replies show it. */
export type ModelSummary = { name: string; type: string; use: readonly string[]; model: string }

/** Who may read results. The token of a service account needs one of the scopes. */
export const readScope = {
  level: 'project',
  role: 'viewer',
  key: ['verification:run', 'traces:read'],
} as const

/** Who may start and cancel runs. */
export const runScope = { level: 'project', role: 'editor', key: 'verification:run' } as const

/** Limits of a run, as replies show them. */
export const runLimits = {
  answer_chars_max: 200_000,
  claims_max: 500,
  model_claims_max: 60,
  run_ms_max: 120_000,
} as const
