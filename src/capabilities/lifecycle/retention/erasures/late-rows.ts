import { prepared, sql } from '../../../../platform/relational/index.ts'
import type { ErasedRows, ErasedTrace } from '../../../ingest/index.ts'
import type { RetentionDb } from '../contract.ts'
import { userDigest } from './receipt.ts'

/** Days for which rows of an erased trace that are sent again are erased again. */
const lateRowsDays = 30

type Found = { project_id: string; trace_id: string; digests: string[]; key: Buffer }

/**
 * Opens what ingest needs to keep erased rows erased: a client or a queue may send them again. Rows of
 * an erased trace are erased again if they belong to the erased user, or have no known user.
 */
export function openLateErasure({ db }: { db: RetentionDb }): ErasedRows {
  return {
    tracesAmong: async (traces) => {
      const keys = traces.map(({ project_id, trace_id }) => ({ project_id, trace_id }))
      const { rows } = await sql<Found>`
        select project_id, trace_id, key, array_agg(encode(user_id_digest, 'hex')) as digests
        from erased_traces join erasure_keys using (project_id)
        join json_to_recordset(${JSON.stringify(keys)}::json)
          as given (project_id uuid, trace_id uuid) using (project_id, trace_id)
        where exists (
          select from erasures where erasures.project_id = erased_traces.project_id
            and erasures.user_id_digest = erased_traces.user_id_digest
            and (ended_at is null or ended_at > now() - ${lateRowsDays} * interval '1 day'))
        group by project_id, trace_id, key`.execute(prepared(db, 'erased_traces_among'))
      return rows.map(toTrace)
    },
  }
}

function toTrace({ project_id, trace_id, digests, key }: Found): ErasedTrace {
  const isErased = (user_id: string) =>
    user_id === '' || digests.includes(userDigest(key, user_id).toString('hex'))
  return { project_id, trace_id, isErased }
}
