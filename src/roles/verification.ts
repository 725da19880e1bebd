import { type OnFindings, openClaimFindings } from '../capabilities/detection/index.ts'
import type { Chore, JobHandler } from '../capabilities/jobs/index.ts'
import type { RetentionTarget } from '../capabilities/storage/index.ts'
import {
  embeddingsChore,
  endLostRunsChore,
  openModels,
  openRunsRetention,
  openSpend,
  openVerifiers,
  openWebAccess,
  overridesOf,
  runMeters,
  toVerifiedAnswer,
  type VerificationRoutesDeps,
  verificationHandler,
  verificationRoutes,
  verifyQuietTasksChore,
} from '../capabilities/verification/index.ts'
import {
  createIndexer,
  type KnowledgeDeps,
  knowledgeBaseRoutes,
} from '../capabilities/verification/knowledge-base/index.ts'
import type { Settings } from '../platform/config/index.ts'
import type { Route } from '../platform/http/index.ts'
import type { Outbound } from '../platform/outbound/index.ts'
import type { DetectionTables } from '../platform/relational/index.ts'
import { openReceivers } from './outbound.ts'
import type { RoleContext } from './running.ts'
import type { Stores } from './stores.ts'

/** Dependencies of the routes under `/api/v1/verification`. */
export type VerificationApi = { runs: VerificationRoutesDeps; knowledge: KnowledgeDeps }

/** Requests with `async_mode: false` are answered within the usual time-outs of clients. */
const wait_ms_max = 60_000

const nanoDollarsPerCent = 10_000_000n

/** Opens the API's part of verification. Workers execute its runs. */
export function openVerificationApi(
  { clock, parts }: Pick<RoleContext, 'clock' | 'parts'>,
  config: Settings<'verification' | 'knowledge'>,
  ports: VerificationStores & { outbound: Outbound; onFindings: OnFindings },
): VerificationApi {
  const { db, store, records, onFindings } = ports
  const indexer = createIndexer()
  parts.defer(() => indexer.close())
  const { models, verifiers } = openVerifying({ parts }, config, ports)
  const writeFindings = openClaimFindings({ onFindings })
  return {
    knowledge: { db, clock, indexer, limits: config },
    runs: {
      db,
      clock,
      store,
      records,
      verifiers,
      models: models.list,
      wait_ms_max,
      budget_nano_dollars: budgetOf(config),
      onOverride: (trx, answer) => writeFindings(trx.withTables<Detection>(), answer),
    },
  }
}

/** Selected, because interfaces cannot be used as tables directly. */
type Detection = Pick<DetectionTables, keyof DetectionTables>

type VerificationStores = Pick<Stores, 'db' | 'store' | 'records'>

/** Builds the routes under `/api/v1/verification`. */
export function verificationApiRoutes({ runs, knowledge }: VerificationApi): Route[] {
  return [...verificationRoutes(runs), ...knowledgeBaseRoutes(knowledge)]
}

/** Opens the worker's part of verification: runs, policies of projects, vectors of documents. */
export function openVerification(
  context: Pick<RoleContext, 'clock' | 'logger' | 'metrics' | 'parts'>,
  config: Settings<'verification' | 'notification'>,
  { db, store, records, onFindings }: VerificationStores & { onFindings: OnFindings },
): { handlers: JobHandler[]; chores: Chore[]; retention: RetentionTarget } {
  const { clock, logger, metrics } = context
  const outbound = openReceivers(config)
  const { models, verifiers } = openVerifying(context, config, { db, outbound })
  const nano_dollars_per_day_max = budgetOf(config)
  const writeFindings = openClaimFindings({ onFindings })
  const handler = verificationHandler({
    db,
    store,
    clock,
    logger,
    verifiers,
    nano_dollars_per_day_max,
    extractClaims: models.extractClaims,
    openJudge: models.openJudge,
    meters: runMeters(metrics),
    onVerified: async (trx, verified) =>
      writeFindings(
        trx.withTables<Detection>(),
        toVerifiedAnswer(verified, await overridesOf(trx, verified.run)),
      ),
  })
  const book = openSpend({ db, clock, nano_dollars_per_day_max })
  const { embeddings: embedder } = models
  return {
    handlers: [handler],
    chores: [
      endLostRunsChore({ db, clock }),
      verifyQuietTasksChore({ db, clock, logger, store, records, verifiers }),
      endLostRunsChore({ db, clock }),
      ...(embedder === undefined ? [] : [embeddingsChore({ db, embedder, book })]),
    ],
    retention: openRunsRetention({ db }),
  }
}

/** Opens the models and verifiers of a process. The API opens them to describe and to estimate. */
function openVerifying(
  { parts }: Pick<RoleContext, 'parts'>,
  config: Settings<'verification'>,
  { db, outbound }: Pick<Stores, 'db'> & { outbound: Outbound },
) {
  const models = openModels(config.verification_models, outbound)
  const web = openWebAccess(config)
  parts.defer(() => web.close())
  return { models, verifiers: openVerifiers({ db, models, web }) }
}

function budgetOf(config: Settings<'verification'>): bigint {
  return BigInt(config.verification_budget_cents_per_day) * nanoDollarsPerCent
}
