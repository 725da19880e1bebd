import { problem } from '../../../kernel/problem.ts'
import { type Kysely, sql, type VerificationTables } from '../../../platform/relational/index.ts'

/** The database of claims and of reviewers' verdicts on them. */
export type ClaimLabelsDb = Kysely<VerificationTables>

/** A reviewer's verdict on a claim of a task. */
export type ClaimLabel = {
  claim_id: string
  verdict: 'supported' | 'contradicted'
  /** May quote content; null without one. */
  reason: string | null
}

/** The label of a task to which verdicts belong. */
export type LabelOfTask = { project_id: string; task_id: string; reviewer: string }

/**
 * Stores all verdicts on claims of a label, in the transaction that stores the label; replaces its
 * earlier ones. The results of the claims are kept with them: they label calibrations. Throws
 * `invalid_request` for claims that are not of the task, and for equal claims.
 */
export async function putClaimLabels(
  trx: ClaimLabelsDb,
  label: LabelOfTask,
  { claims, at }: { claims: readonly ClaimLabel[]; at: Date },
): Promise<void> {
  const { project_id, task_id, reviewer } = label
  await trx
    .deleteFrom('verification_claim_labels')
    .where('project_id', '=', project_id)
    .where('task_id', '=', task_id)
    .where('reviewer', '=', reviewer)
    .execute()
  if (claims.length === 0) return
  const ids = claims.map(({ claim_id }) => claim_id.toLowerCase())
  checkClaims(ids, await lockClaims(trx, label, ids))
  await sql`
    insert into verification_claim_labels (project_id, task_id, reviewer, trace_id, claim_digest,
      claim_id, verdict, reason, machine, trace_start, created_at)
    select claim.project_id, run.task_id, ${reviewer}, claim.trace_id, claim.digest, claim.id,
      given.verdict, given.reason, claim.results, run.trace_start, ${at}
    from jsonb_to_recordset(${JSON.stringify(claims)}::jsonb)
      as given (claim_id uuid, verdict text, reason text)
    join verification_claims as claim on claim.id = given.claim_id
    join verification_runs as run on run.id = claim.run_id
    where claim.project_id = ${project_id} and run.task_id = ${task_id}`.execute(trx)
}

/** A claim of the task, by its stored id. Claims with one `equal` have one verdict. */
type KnownClaim = { id: string; equal: string }

/** Finds claims of the task, and locks their runs against retention and erasures. */
async function lockClaims(
  trx: ClaimLabelsDb,
  { project_id, task_id }: LabelOfTask,
  ids: readonly string[],
): Promise<KnownClaim[]> {
  const { rows } = await sql<KnownClaim>`
    with run as (
      select id from verification_runs
      where project_id = ${project_id} and task_id = ${task_id} and id in (
        select run_id from verification_claims
        where project_id = ${project_id} and id = any(${[...ids]}::uuid[]))
      order by id for share
    )
    select claim.id, claim.trace_id || ' ' || claim.digest as equal
    from verification_claims as claim join run on run.id = claim.run_id
    where claim.project_id = ${project_id} and claim.id = any(${[...ids]}::uuid[])`.execute(trx)
  return rows
}

function checkClaims(ids: readonly string[], known: readonly KnownClaim[]): void {
  const byId = new Map(known.map(({ id, equal }) => [id, equal]))
  const texts = ids.map((id) => byId.get(id))
  const faults = ids.flatMap((id, at) => {
    const first = texts.indexOf(texts[at])
    const pointer = `/claims/${at}/claim_id`
    if (texts[at] === undefined) {
      return [{ pointer, detail: `got "${id}", expected a claim of this task` }]
    }
    if (first === at) return []
    return [{ pointer, detail: `got "${id}", the same claim as in /claims/${first}; send it once` }]
  })
  const [first] = faults
  if (first === undefined) return
  throw problem('invalid_request', { detail: `${first.pointer}: ${first.detail}`, faults })
}

/** Returns the verdicts on claims in labels of tasks, in order of tasks, reviewers and claims. */
export async function claimLabelsOf(
  db: ClaimLabelsDb,
  project_id: string,
  task_ids: readonly string[],
): Promise<(ClaimLabel & Omit<LabelOfTask, 'project_id'>)[]> {
  if (task_ids.length === 0) return []
  return db
    .selectFrom('verification_claim_labels')
    .select(['task_id', 'reviewer', 'claim_id', 'verdict', 'reason'])
    .where('project_id', '=', project_id)
    .where('task_id', 'in', task_ids)
    .orderBy('task_id')
    .orderBy('reviewer')
    .orderBy('claim_id')
    .execute()
}

/** A claim of a task's newest verified answer, without its evidence. */
export type ClaimToReview = {
  task_id: string
  claim_id: string
  trace_id: string
  text: string
  /** UTF-16 offsets in the answer: start, end (exclusive). */
  at: [number, number]
  /** Of the verifiers. */
  verdict: string
  /** Probability that the claim is true, 0–1; null if no verifier decided it. */
  probability: number | null
  /** Claims of the answer. */
  total: number
}

/**
 * Returns the first claims of the newest verified answer of each task, at most `limit` of a task,
 * in the order of the answer.
 */
export async function claimsToReview(
  db: ClaimLabelsDb,
  project_id: string,
  { task_ids, limit }: { task_ids: readonly string[]; limit: number },
): Promise<ClaimToReview[]> {
  const { rows } = await sql<ClaimToReview>`
    select given.task_id, claim.id as claim_id, claim.trace_id, claim.text,
      jsonb_build_array(claim.starts_at, claim.ends_at) as at, claim.verdict, claim.probability,
      run.claims as total
    from unnest(${[...task_ids]}::text[]) as given (task_id)
    cross join lateral (
      select id, claims from verification_runs
      where project_id = ${project_id} and task_id = given.task_id and state = 'verified'
      order by trace_start desc, id desc limit 1
    ) as run
    join verification_claims as claim
      on claim.run_id = run.id and claim.project_id = ${project_id} and claim.position < ${limit}
    order by given.task_id, claim.position`.execute(db)
  return rows
}
