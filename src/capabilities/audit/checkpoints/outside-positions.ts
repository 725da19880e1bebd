import type { AuditTables, Kysely } from '../../../platform/relational/index.ts'
import type { ChainFault } from '../chain/verify-chain.ts'

type Db = Kysely<AuditTables>

/**
 * Reads the newest checkpoint of a chain back from a sink, as the text of its envelope. Returns
 * undefined if the sink has no checkpoint of the chain.
 */
export type CheckpointSource = (
  chain_id: string,
  options: { signal: AbortSignal },
) => Promise<string | undefined>

/** Positions of a chain that are stored apart from its records and checkpoints. */
export type OutsidePositions = {
  /** Newest checkpoints of the sinks that have one. */
  envelopes: string[]
  /** Last records that streams have sent. */
  streams: { stream: string; seq: number }[]
  /** The last record that seals reads; 0 without one. */
  sealed_seq: number
}

/**
 * Reads the positions. Leaves out sinks that are unavailable, whose number the caller knows from
 * the number of envelopes.
 */
export async function readOutsidePositions(
  db: Db,
  about: { chain_id: string; sources: readonly CheckpointSource[]; signal: AbortSignal },
): Promise<OutsidePositions> {
  const { chain_id, sources, signal } = about
  const read = await Promise.allSettled(sources.map((source) => source(chain_id, { signal })))
  signal.throwIfAborted()
  const envelopes = read.flatMap((one) =>
    one.status === 'fulfilled' && one.value !== undefined ? [one.value] : [],
  )
  const streams = await db
    .selectFrom('audit_stream_cursors')
    .select(['stream', 'seq'])
    .where('chain_id', '=', chain_id)
    .orderBy('stream')
    .execute()
  const sealed = await db
    .selectFrom('audit_reads')
    .select(({ fn }) => fn.max('segment_seq').as('seq'))
    .where('chain_id', '=', chain_id)
    .executeTakeFirst()
  return { envelopes, streams, sealed_seq: sealed?.seq ?? 0 }
}

/** Returns a fault for each position after the last record of the chain. */
export function comparePositions(
  { streams, sealed_seq }: OutsidePositions,
  last: number,
): ChainFault[] {
  const ends = [
    ...streams.map(({ stream, seq }) => ({ seq, what: `the stream ${stream} has sent` })),
    { seq: sealed_seq, what: 'stored reads are sealed by' },
  ]
  return ends
    .filter(({ seq }) => seq > last)
    .map(({ seq, what }) => {
      const detail = `${what} record ${seq}, the head of the chain is record ${last}`
      return { kind: 'truncated', seq, detail }
    })
}
