import type { VerifiedAnswer } from '../../detection/index.ts'
import type { RunsDb, Verifier, VerifierName } from '../contract.ts'
import type { TraceStores } from '../runs/trace-target.ts'

/** Dependencies of the routes of verification. */
export type VerificationRoutesDeps = TraceStores & {
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

/** A model, as replies show it. */
type ModelSummary = { name: string; type: string; use: readonly string[]; model: string }

/** Who may read results. The token of a service account needs one of the scopes. */
export const readScope = {
  level: 'project',
  role: 'viewer',
  key: ['verification:run', 'traces:read'],
} as const

/** Who may start and cancel runs. */
export const runScope = { level: 'project', role: 'editor', key: 'verification:run' } as const
