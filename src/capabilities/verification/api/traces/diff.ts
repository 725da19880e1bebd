import { z } from 'zod'
import { problem } from '../../../../kernel/problem.ts'
import { textParameter } from '../../../../model/list-query.ts'
import { record } from '../../../../model/named-schemas.ts'
import { defineRoute, type Route } from '../../../../platform/http/index.ts'
import { tracePath } from '../../../traces/index.ts'
import type { RunsDb } from '../../contract.ts'
import { claimsOf, type StoredClaim } from '../../runs/claims-store.ts'
import { listRuns, type Run, type TraceKey } from '../../runs/store.ts'
import { findTrace } from '../../runs/trace-target.ts'
import { verdictSchema } from '../claim-reply.ts'
import { readScope, type VerificationRoutesDeps } from '../contract.ts'
import { diffClaims } from '../diff-claims.ts'
import { requireRunOf } from '../find-run.ts'
import { runFields } from '../run-reply.ts'

const diffedClaim = record('DiffedClaim', {
  claim_id: z.uuid(),
  text: z.string(),
  at: z.tuple([z.int(), z.int()]).describe('UTF-16 offsets in the answer of its run.'),
  verdict: verdictSchema,
  probability: z.number().min(0).max(1).nullable(),
})

const { trust_score, answer, created_at } = runFields

const diffedRun = record('DiffedRun', {
  run_id: z.uuid(),
  trust_score,
  answer_digest: answer.unwrap().shape.digest.nullable(),
  created_at,
})

const diffSchema = record('VerificationDiff', {
  trace_id: z.guid(),
  from: diffedRun,
  to: diffedRun,
  same_answer: z.boolean().describe('Whether both runs verified the same answer.'),
  score_difference: z
    .number()
    .min(-1)
    .max(1)
    .nullable()
    .describe('Trust score of `to` minus that of `from`; null if one has no score.'),
  added: z.array(diffedClaim).describe('Claims of `to` only.'),
  removed: z.array(diffedClaim).describe('Claims of `from` only.'),
  changed: z.array(
    record('ChangedClaim', {
      text: z.string(),
      from: diffedClaim,
      to: diffedClaim,
    }),
  ),
  unchanged: z.int().nonnegative(),
})

/** GET /api/v1/verification/traces/{trace_id}/diff: what changed between two verified runs. */
export function diffVerifications(deps: VerificationRoutesDeps): Route {
  const { db } = deps
  return defineRoute({
    method: 'GET',
    url: '/api/v1/verification/traces/{trace_id}/diff',
    id: 'diffVerifications',
    summary: 'Differences between two verified runs of a trace',
    audit: 'content',
    auth: 'jwt',
    scope: readScope,
    params: tracePath,
    query: z.strictObject({
      from: textParameter('Earlier run. Default: the verified run before `to`.', 80),
      to: textParameter('Later run. Default: the newest verified run.', 80),
    }),
    reply: diffSchema,
    errors: ['trace_not_found', 'verification_run_not_found', 'store_unavailable'],
    handle: async ({ params: { trace_id }, query, caller: { project_id } }) => {
      const trace = { project_id, trace_id }
      const { from, to } = await chooseRuns(deps, trace, query)
      const [before, after] = await Promise.all(
        [from, to].map(({ id }) => claimsOf(db, { project_id, run_id: id }, { limit: claims_max })),
      )
      return toReply({ from, to }, before ?? [], after ?? [])
    },
  })
}

/** Maximum claims read: more than a run can have. */
const claims_max = 10_000
const runs_max = 200

/** Returns the runs to compare. Throws `trace_not_found`, `verification_run_not_found`. */
async function chooseRuns(
  deps: VerificationRoutesDeps,
  trace: TraceKey,
  { from, to }: { from?: string | undefined; to?: string | undefined },
): Promise<{ from: Run; to: Run }> {
  const { db } = deps
  const later =
    to === undefined
      ? await newestVerified(db, trace, undefined)
      : await requireVerified(db, trace, to)
  const earlier =
    from === undefined
      ? later && (await newestVerified(db, trace, later.id))
      : await requireVerified(db, trace, from)
  if (later !== undefined && earlier !== undefined) return { from: earlier, to: later }
  await findTrace(deps, trace)
  throw problem('verification_run_not_found', {
    detail: 'A diff needs two verified runs of the trace. Verify it again with force_reverify.',
  })
}

async function requireVerified(db: RunsDb, trace: TraceKey, run_id: string): Promise<Run> {
  const run = await requireRunOf(db, trace, run_id)
  if (run.state === 'verified') return run
  throw problem('verification_run_not_found', {
    detail: `run_id: run ${run.id} is ${run.state}, expected a verified run`,
  })
}

async function newestVerified(
  db: RunsDb,
  trace: TraceKey,
  before: string | undefined,
): Promise<Run | undefined> {
  const runs = await listRuns(db, trace, { after: before, limit: runs_max })
  return runs.find(({ state }) => state === 'verified')
}

function toReply(
  { from, to }: { from: Run; to: Run },
  before: readonly StoredClaim[],
  after: readonly StoredClaim[],
): z.input<typeof diffSchema> {
  const { added, removed, changed, unchanged } = diffClaims(before, after)
  const scores = [from.trust_score, to.trust_score] as const
  return {
    trace_id: to.trace_id,
    from: toRun(from),
    to: toRun(to),
    same_answer: from.answer_digest === to.answer_digest,
    score_difference:
      scores[0] === null || scores[1] === null
        ? null
        : Math.round((scores[1] - scores[0]) * 1e6) / 1e6,
    added: added.map(toClaim),
    removed: removed.map(toClaim),
    changed: changed.map((pair) => ({
      text: pair.to.text,
      from: toClaim(pair.from),
      to: toClaim(pair.to),
    })),
    unchanged,
  }
}

function toRun({ id: run_id, trust_score, answer_digest, created_at }: Run) {
  return { run_id, trust_score, answer_digest, created_at }
}

function toClaim(claim: StoredClaim): z.input<typeof diffedClaim> {
  const { id: claim_id, text, starts_at, ends_at, verdict, probability } = claim
  const at: [number, number] = [starts_at, ends_at]
  return { claim_id, text, at, verdict: verdictSchema.parse(verdict), probability }
}
