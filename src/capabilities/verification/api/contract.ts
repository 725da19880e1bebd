import type { Clock } from '../../../kernel/time.ts'
import type { VerifiedAnswer } from '../../detection/index.ts'
import type { ObservationStore, RecordStore } from '../../storage/index.ts'
import type { Verifier, VerifierName } from '../contract.ts'
import type { RunsDb } from '../runs/store.ts'

/** Dependencies of the routes of verification. */
export type VerificationRoutesDeps = {
  db: RunsDb
  clock: Clock
  store: Pick<
    ObservationStore,
    'traceObservations' | 'taskObservations' | 'taskVersions' | 'observationsAt'
  >
  records: Pick<RecordStore, 'traceExists'>
  verifiers: ReadonlyMap<VerifierName, Verifier>
  /**
   * Called as the last step of a transaction that changes a person's verdict, with the result of the
   * trace. Returns what follows the commit.
   */
  onOverride(trx: RunsDb, answer: VerifiedAnswer): Promise<() => void>
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
