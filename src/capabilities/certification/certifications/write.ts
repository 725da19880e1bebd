import { randomBytes } from 'node:crypto'
import type { Certification, CertificationDb } from '../evidence/contract.ts'
import type { EvidenceItem } from '../gates/evidence-item.ts'
import type { Verdict } from '../gates/judge-gates.ts'
import type { Predicate } from '../statement/statement.ts'
import { findEarlierLooks } from './earlier-looks.ts'
import type { Frozen } from './frozen.ts'

/** Items of one page of stored evidence. */
const pageItems_max = 1_000

/** The evidence of one side (release or baseline), by its source. */
export type Evidence = {
  side: 'release' | 'baseline'
  source: 'tasks' | 'eval'
  items: readonly EvidenceItem[]
}

/**
 * Counts the attempt of a pending certification and marks the certification as running. Returns a
 * running one unchanged, and undefined for one that has ended.
 */
export function beginAttempt(
  db: CertificationDb,
  certification: Certification,
  now: Date,
): Promise<Certification | undefined> {
  const { project_id, id } = certification
  return db.transaction().execute(async (trx) => {
    const row = await trx
      .selectFrom('certifications')
      .selectAll()
      .where('project_id', '=', project_id)
      .where('id', '=', id)
      .where('state', 'in', ['pending', 'running'])
      .forUpdate()
      .executeTakeFirst()
    if (row === undefined || row.state === 'running') return row
    const { attempts } = await trx
      .updateTable('certification_subjects')
      .set((eb) => ({ attempts: eb('attempts', '+', 1) }))
      .where('project_id', '=', project_id)
      .where('subject', '=', row.subject)
      .returning('attempts')
      .executeTakeFirstOrThrow()
    // The salt of the last look, so that its evidence can be compared.
    const [last] = await findEarlierLooks(trx, row)
    const evidence_salt = last?.evidence_salt ?? randomBytes(32)
    return trx
      .updateTable('certifications')
      .set({ state: 'running', attempt: attempts, started_at: now, evidence_salt })
      .where('project_id', '=', project_id)
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
  })
}

/**
 * Stores the evidence of a running certification, once. Returns false if the certification was
 * cancelled, or if another worker has stored evidence, which then counts.
 */
export function freezeEvidence(
  db: CertificationDb,
  { project_id, id: certification_id }: Certification,
  found: { evidence: readonly Evidence[]; frozen: Frozen; held_until: Date },
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('certifications')
      .set({ frozen: JSON.stringify(found.frozen), held_until: found.held_until })
      .where('project_id', '=', project_id)
      .where('id', '=', certification_id)
      .where('state', '=', 'running')
      .where('frozen', 'is', null)
      .executeTakeFirst()
    if (numUpdatedRows === 0n) return false
    for (const { side, source, items } of found.evidence) {
      for (let at = 0; at < items.length; at += pageItems_max) {
        const page = items.slice(at, at + pageItems_max)
        await trx
          .insertInto('certification_evidence')
          .values({
            ...{ certification_id, project_id, side, source, page: at / pageItems_max },
            items: JSON.stringify(page),
          })
          .execute()
      }
    }
    return true
  })
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
      ...{ state: 'ended', verdict, statement, key_id, ended_at },
      ...{ predicate: JSON.stringify(predicate), expires_at: predicate.expires_at },
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
