import type { Chore, JobHandler } from '../capabilities/jobs/index.ts'
import {
  openModels,
  openVerifiers,
  type VerificationRoutesDeps,
  verificationRoutes,
  verifyQuietTasksChore,
} from '../capabilities/verification/index.ts'
import {
  createIndexer,
  type KnowledgeDeps,
  type KnowledgeLimits,
  knowledgeBaseRoutes,
} from '../capabilities/verification/knowledge-base/index.ts'
import type { RoleConfig } from '../platform/config/index.ts'
import type { Route } from '../platform/http/index.ts'
import type { Outbound } from '../platform/outbound/index.ts'
import type { RoleContext } from './running.ts'
import type { Stores } from './stores.ts'

export type VerificationApiConfig = KnowledgeLimits &
  Pick<
    RoleConfig<'api'>,
    'verification_models' | 'verification_budget_cents_per_day' | 'verification_wait_ms'
  >

/** Dependencies of the routes under `/api/v1/verification`. */
export type VerificationApi = { runs: VerificationRoutesDeps; knowledge: KnowledgeDeps }

const nanoDollarsPerCent = 10_000_000n

/** Opens the API's part of verification: its runs are done by workers. */
export function openVerificationApi(
  { clock, parts }: Pick<RoleContext, 'clock' | 'parts'>,
  config: VerificationApiConfig,
  { db, store, records, outbound }: VerificationStores & { outbound: Outbound },
): VerificationApi {
  const indexer = createIndexer()
  parts.defer(() => indexer.close())
  return {
    knowledge: { db, clock, indexer, limits: config },
    runs: {
      ...{ db, clock, store, records },
      verifiers: openVerifiers({}),
      models: openModels(config.verification_models, outbound).list,
      wait_ms_max: config.verification_wait_ms,
      budget_nano_dollars: BigInt(config.verification_budget_cents_per_day) * nanoDollarsPerCent,
    },
  }
}

type VerificationStores = Pick<Stores, 'db' | 'store' | 'records'>

/** Builds the routes under `/api/v1/verification`. */
export function verificationApiRoutes({ runs, knowledge }: VerificationApi): Route[] {
  return [...verificationRoutes(runs), ...knowledgeBaseRoutes(knowledge)]
}

/** Opens the worker's part of verification: the policies of projects. */
export function openVerification(
  { clock, logger }: Pick<RoleContext, 'clock' | 'logger'>,
  { db, store, records }: VerificationStores,
): { handlers: JobHandler[]; chores: Chore[] } {
  const verifiers = openVerifiers({})
  return {
    handlers: [],
    chores: [verifyQuietTasksChore({ db, clock, logger, store, records, verifiers })],
  }
}
