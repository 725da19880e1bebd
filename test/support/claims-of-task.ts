import { createHash, randomUUID } from 'node:crypto'
import { newId } from '../../src/kernel/ids.ts'
import type { Kysely, VerificationTables } from '../../src/platform/relational/index.ts'

/** A stored claim of a test: the verdict of `kb`, with this confidence. */
export type SeededClaim = { text: string; verdict?: string; confidence?: number }

export type SeededRun = {
  project_id: string
  task_id: string
  trace_id?: string
  user_id?: string
  trace_start?: string
  environment?: string
}

/** Stores a verified run of a task with its claims. Returns its trace and the ids of its claims. */
export async function seedClaims(
  db: Kysely<VerificationTables>,
  { trace_id = randomUUID(), ...run }: SeededRun,
  claims: readonly SeededClaim[],
): Promise<{ trace_id: string; run_id: string; claim_ids: string[] }> {
  const run_id = newId()
  const { project_id } = run
  const created_at = new Date()
  await db
    .insertInto('verification_runs')
    .values({
      ...{ trace_start: '2026-11-23T11:59:00.000Z', ...run, id: run_id, trace_id },
      ...{ state: 'verified', trigger: 'request', requested_by: 'user:ada', verifiers: '[]' },
      ...{ claims: claims.length, context: '{}', created_at, ended_at: created_at },
    })
    .execute()
  const rows = claims.map(({ text, verdict = 'supported', confidence = 0.9 }, position) => ({
    ...{ id: newId(), run_id, project_id, trace_id, position, text, kind: 'sentence', verdict },
    ...{ starts_at: position * 100, ends_at: position * 100 + text.length },
    digest: createHash('sha256').update(text).digest('hex'),
    ...{ probability: confidence, weight: 1, checked_values: '[]' },
    results: JSON.stringify([
      {
        ...{ verifier: 'kb', verdict, confidence, method: 'words', note: text },
        evidence: [{ kind: 'trace', source: 'answer', quote: text, at: null, digest: null }],
      },
      {
        ...{ verifier: 'web', verdict: 'not_found', confidence: 0.9, method: 'words' },
        ...{ evidence: [], note: '' },
      },
    ]),
  }))
  await db.insertInto('verification_claims').values(rows).execute()
  return { trace_id, run_id, claim_ids: rows.map(({ id }) => id) }
}
