import type { AuditTables, Kysely } from '../../../platform/relational/index.ts'
import type { ChainFault } from '../chain/verify-chain.ts'

type Db = Kysely<AuditTables>

/**
 * Reads checkpoints of a chain back from a sink: those from a number on, as far as one check reads
 * them, and the newest one.
 */
export type CheckpointSource = (
  chain_id: string,
  options: { from: number; signal: AbortSignal },
) => Promise<SinkPart>

/** Checkpoints that were read from a sink. */
type SinkPart = {
  /** Their envelopes as text; none if the sink has no checkpoint of the chain. */
  envelopes: string[]
  /** Number of the record up to which all were read. */
  end: number
}

/** Positions of a chain that are stored apart from its records and checkpoints. */
export type OutsidePositions = {
  /** Checkpoints of the sinks that have some. */
  sinks: SinkPart[]
  /** Last records that streams have sent. */
  streams: { stream: string; seq: number }[]
  /** The last record that seals reads; 0 without one. */
  sealed_seq: number
}

/**
 * Reads the positions, and the checkpoints of sinks from a number on. Leaves out sinks that are
 * unavailable, whose number the caller knows from the number of sinks.
 */
export async function readOutsidePositions(
  db: Db,
  about: {
    chain_id: string
    from: number
    sources: readonly CheckpointSource[]
    signal: AbortSignal
  },
): Promise<OutsidePositions> {
  const { chain_id, from, sources, signal } = about
  const parts = sources.map((source) => source(chain_id, { from, signal }))
  const read = await Promise.allSettled(parts)
  signal.throwIfAborted()
  const sinks = read.flatMap((one) =>
    one.status === 'fulfilled' && one.value.envelopes.length > 0 ? [one.value] : [],
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
  return { sinks, streams, sealed_seq: sealed?.seq ?? 0 }
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
