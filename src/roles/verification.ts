import { type OnFindings, openClaimFindings } from '../capabilities/detection/index.ts'
import type { Chore, JobHandler } from '../capabilities/jobs/index.ts'
import {
  endLostRunsChore,
  openModels,
  openVerifiers,
  runMeters,
  type VerificationRoutesDeps,
  verificationHandler,
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
import { openReceivers } from './notifications.ts'
import type { RoleContext } from './running.ts'
import type { Stores } from './stores.ts'

export type VerificationApiConfig = KnowledgeLimits &
  Pick<
    RoleConfig<'api'>,
    'verification_models' | 'verification_budget_cents_per_day' | 'verification_wait_ms'
  >

/** Dependencies of the routes under `/api/v1/verification`. */
export type VerificationApi = { runs: VerificationRoutesDeps; knowledge: KnowledgeDeps }

/** Opens the API's part of verification: its runs are done by workers. */
export function openVerificationApi(
  { clock, parts }: Pick<RoleContext, 'clock' | 'parts'>,
  config: VerificationApiConfig,
  { db, store, records, outbound }: VerificationStores & { outbound: Outbound },
): VerificationApi {
  const indexer = createIndexer()
  parts.defer(() => indexer.close())
  const models = openModels(config.verification_models, outbound)
  return {
    knowledge: { db, clock, indexer, limits: config },
    runs: {
      ...{ db, clock, store, records },
      verifiers: openVerifiers({ db, models }),
      models: models.list,
      wait_ms_max: config.verification_wait_ms,
      budget_nano_dollars: toNanoDollars(config.verification_budget_cents_per_day),
    },
  }
}

type VerificationStores = Pick<Stores, 'db' | 'store' | 'records'>

/** Builds the routes under `/api/v1/verification`. */
export function verificationApiRoutes({ runs, knowledge }: VerificationApi): Route[] {
  return [...verificationRoutes(runs), ...knowledgeBaseRoutes(knowledge)]
}

type VerificationConfig = Pick<
  RoleConfig<'worker'>,
  'verification_models' | 'verification_budget_cents_per_day' | 'outbound_allowed'
>

/** Opens the worker's part of verification: runs, and the policies of projects. */
export function openVerification(
  { clock, logger, metrics }: Pick<RoleContext, 'clock' | 'logger' | 'metrics'>,
  config: VerificationConfig,
  { db, store, records, onFindings }: VerificationStores & { onFindings: OnFindings },
): { handlers: JobHandler[]; chores: Chore[] } {
  const models = openModels(config.verification_models, openReceivers(config))
  const verifiers = openVerifiers({ db, models })
  const { openJudge, extractClaims } = models
  const runs = {
    ...{ db, clock, logger, store, verifiers, openJudge, extractClaims },
    meters: runMeters(metrics),
    nano_dollars_per_day_max: toNanoDollars(config.verification_budget_cents_per_day),
    onVerified: openClaimFindings({ onFindings }).onVerified,
  }
  return {
    handlers: [verificationHandler(runs)],
    chores: [
      verifyQuietTasksChore({ db, clock, logger, store, records, verifiers }),
      endLostRunsChore({ db, clock }),
    ],
  }
}

function toNanoDollars(cents: number): bigint {
  return BigInt(cents) * nanoDollarsPerCent
}

const nanoDollarsPerCent = 10_000_000n
