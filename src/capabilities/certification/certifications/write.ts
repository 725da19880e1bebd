import { randomBytes } from 'node:crypto'
import { canonicalJson } from '../../../kernel/canonical-json.ts'
import { durationMs } from '../../../kernel/duration.ts'
import { sql } from '../../../platform/relational/index.ts'
import type { Certification, CertificationDb } from '../evidence/contract.ts'
import type { EvidenceItem } from '../gates/evidence-item.ts'
import { isComplete, type Verdict } from '../gates/judge-gates.ts'
import type { PolicyDocument } from '../policy/policy.ts'
import type { Predicate } from '../statement/statement.ts'
import { countAttempt, lockAttempts } from './attempts.ts'
import { findEarlierLooks } from './earlier-looks.ts'
import type { Frozen } from './frozen.ts'

/** Items of one page of stored evidence. */
const maxPageItems = 1_000

/** The evidence of one side (release or baseline), by its source. */
export type Evidence = {
  side: 'release' | 'baseline'
  source: 'tasks' | 'eval'
  items: readonly EvidenceItem[]
}

/**
 * Marks a pending certification as running. Returns a running one unchanged, and undefined for one
 * that has ended.
 */
export function beginLook(
  db: CertificationDb,
  { project_id, id }: Certification,
  now: Date,
): Promise<Certification | undefined> {
  return db.transaction().execute(async (trx) => {
    const row = await lockUnended(trx, { project_id, id })
    if (row === undefined || row.state === 'running') return row
    // The salt of the last look, so that its evidence can be compared.
    const [last] = await findEarlierLooks(trx, row)
    const evidence_salt = last?.evidence_salt ?? randomBytes(32)
    return trx
      .updateTable('certifications')
      .set({ state: 'running', started_at: now, evidence_salt })
      .where('project_id', '=', project_id)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
  })
}

function lockUnended(
  trx: CertificationDb,
  { project_id, id }: Pick<Certification, 'project_id' | 'id'>,
): Promise<Certification | undefined> {
  return trx
    .selectFrom('certifications')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('id', '=', id)
    .where('state', 'in', ['pending', 'running'])
    .forUpdate()
    .executeTakeFirst()
}

/** The evidence of a look with its facts. */
export type LookRead = {
  evidence: readonly Evidence[]
  frozen: Frozen
  /** Stored instead of `frozen` when the attempts at the release are exhausted. */
  exhausted: Frozen
  held_until: Date
}

/**
 * Counts the attempt of a running certification and stores its evidence, once. Without new evidence
 * since the last look by the same version of the policy there is no attempt: the certification ends
 * with the statement of that look while it is valid and its circumstances are the same, and
 * otherwise continues as the same attempt. Writes nothing if the certification was cancelled, or
 * if another worker has stored evidence, which then counts.
 */
export function freezeEvidence(
  db: CertificationDb,
  { project_id, id }: Certification,
  read: LookRead,
): Promise<void> {
  return db.transaction().execute(async (trx) => {
    await lockAttempts(trx, project_id)
    const row = await lockUnended(trx, { project_id, id })
    if (row?.state !== 'running' || row.frozen !== null) return
    const last = await findLastLook(trx, row)
    const isNew =
      (last?.frozen as Frozen | undefined)?.evidence_digest !== read.frozen.evidence_digest
    if (last !== undefined && !isNew && isStatementOf(last, row, read.frozen)) {
      return repeatStatement(trx, row, last, read.frozen.at)
    }
    const attempt = isNew ? await countAttempt(trx, row) : last?.attempt
    const { max_attempts } = row.policy as PolicyDocument
    const isExhausted = isNew && (attempt ?? 0) > max_attempts
    await trx
      .updateTable('certifications')
      .set({ attempt: attempt ?? null, held_until: read.held_until })
      .set({ frozen: JSON.stringify(isExhausted ? read.exhausted : read.frozen) })
      .where('project_id', '=', project_id)
      .where('id', '=', id)
      .execute()
    if (!isExhausted) await storeEvidence(trx, row, read.evidence)
  })
}

/** Finds the last look at a release by the same version of a policy that read evidence. */
function findLastLook(
  trx: CertificationDb,
  row: Certification,
): Promise<Certification | undefined> {
  return trx
    .selectFrom('certifications')
    .selectAll()
    .where('project_id', '=', row.project_id)
    .where('subject', '=', row.subject)
    .where('environment', '=', row.environment)
    .where('policy_id', '=', row.policy_id)
    .where('policy_digest', '=', row.policy_digest)
    .where('release_name', '=', row.release_name)
    .where('release_version', '=', row.release_version)
    .where('state', '=', 'ended')
    .where(sql<boolean>`frozen ->> 'evidence_digest' is not null`)
    .where(sql<boolean>`frozen -> 'same_as' is null`)
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** Returns whether the statement of the last look, with the same evidence, still holds. */
function isStatementOf(last: Certification, row: Certification, now: Frozen): boolean {
  const { expires_at, statement } = last
  const isValid = statement !== null && expires_at !== null && expires_at > now.at
  const before = circumstancesOf(last.frozen as Frozen, last)
  return isValid && before === circumstancesOf(now, row)
}

/** Returns what decides a certification beside its samples. Complete ledgers are all the same. */
function circumstancesOf(frozen: Frozen, { policy, window_to }: Certification): string {
  const { obstacles, warnings, eval_runs, tasks = null, ledger, at } = frozen
  const { max_age } = policy as PolicyDocument
  return canonicalJson({
    obstacles,
    warnings,
    eval_runs,
    tasks,
    ledger: ledger === null || isComplete(ledger) ? null : ledger,
    is_stale: Date.parse(at) - Date.parse(window_to) > durationMs(max_age),
  })
}

/** Ends a certification with the statement of an earlier one, and its window. */
async function repeatStatement(
  trx: CertificationDb,
  { project_id, id }: Certification,
  last: Certification,
  ended_at: string,
): Promise<void> {
  const { window_from, window_to, baseline, attempt, verdict, statement, predicate } = last
  const frozen: Frozen = { ...(last.frozen as Frozen), same_as: last.id }
  await trx
    .updateTable('certifications')
    .set({
      state: 'ended',
      ended_at,
      window_from,
      window_to,
      attempt,
      verdict,
      statement,
      frozen: JSON.stringify(frozen),
      predicate: JSON.stringify(predicate),
      baseline: baseline && JSON.stringify(baseline),
      key_id: last.key_id,
      expires_at: last.expires_at,
      held_until: last.held_until,
      evidence_salt: null,
    })
    .where('project_id', '=', project_id)
    .where('id', '=', id)
    .execute()
}

async function storeEvidence(
  trx: CertificationDb,
  { project_id, id: certification_id }: Certification,
  evidence: readonly Evidence[],
): Promise<void> {
  for (const { side, source, items } of evidence) {
    for (let at = 0; at < items.length; at += maxPageItems) {
      const page = items.slice(at, at + maxPageItems)
      await trx
        .insertInto('certification_evidence')
        .values({
          certification_id,
          project_id,
          side,
          source,
          page: at / maxPageItems,
          items: JSON.stringify(page),
        })
        .execute()
    }
  }
}

/** The end of a certification: its result and the signed statement. */
export type Ending = {
  predicate: Predicate
  verdict: Verdict
  /** The envelope as JSON text. */
  statement: string
  key_id: string
  ended_at: Date
}

/** Ends a running certification. Returns false, and writes nothing, if it has ended. */
export async function endCertification(
  db: CertificationDb,
  { project_id, id }: Certification,
  { predicate, verdict, statement, key_id, ended_at }: Ending,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('certifications')
    .set({
      state: 'ended',
      verdict,
      statement,
      key_id,
      ended_at,
      predicate: JSON.stringify(predicate),
      expires_at: predicate.expires_at,
    })
    .where('project_id', '=', project_id)
    .where('id', '=', id)
    .where('state', '=', 'running')
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Ends a certification as failed. */
export async function failCertification(
  db: CertificationDb,
  { project_id, id }: Certification,
  { error, ended_at }: { error: string; ended_at: Date },
): Promise<void> {
  await db
    .updateTable('certifications')
    .set({ state: 'failed', error, ended_at })
    .where('project_id', '=', project_id)
    .where('id', '=', id)
    .where('state', 'in', ['pending', 'running'])
    .execute()
}
