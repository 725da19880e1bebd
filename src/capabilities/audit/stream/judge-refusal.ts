import { toEvent } from '../events/event.ts'
import { type PostOptions, post } from './post.ts'
import { withoutDetails } from './receiver.ts'
import { noteRefusal, readProbe, writeSetAside } from './refusals.ts'
import type { StreamDb, StreamPosition, StreamState } from './store.ts'

/** A record that a receiver refused, encoded in its shortest form. */
type Refused = StreamPosition & { id: string; encoded: string | Uint8Array; status: number }

/** Refused requests with one record, about two minutes of them, before it can be set aside. */
const refusals_max = 8

/** Records in a row that are set aside at most, before the receiver accepts a new one. */
const maxInRow = 10

/** `kept`: the stream still waits for the record. */
export type Judgement = { kind: 'kept' | 'accepted' } | { kind: 'set_aside'; attempts: number }

/**
 * Decides what happens to a record that was refused alone and in its shortest form. It is set aside
 * if the receiver refused it `refusals_max` times, accepts another record now, and refuses this one
 * again right after it. So a receiver that refuses everything sets nothing aside.
 */
export async function judgeRefusal(
  trx: StreamDb,
  { refused, state }: { refused: Refused; state: StreamState },
  options: PostOptions,
): Promise<Judgement> {
  const { receiver, now_ms } = options
  const { chain_id, seq, status, id, encoded } = refused
  const now = new Date(now_ms)
  const attempts = await noteRefusal(trx, receiver.name, { chain_id, seq, status, now })
  if (attempts < refusals_max || state.set_aside_in_row >= maxInRow) return { kind: 'kept' }
  const other = await readProbe(trx, receiver.name, refused)
  if (other === undefined) return { kind: 'kept' }
  const probe = receiver.encode(withoutDetails(toEvent(other)))
  const healthy = await post({ id: `${id}_probe`, encoded: [probe] }, options)
  if (healthy.kind !== 'accepted' || healthy.refused !== undefined) return { kind: 'kept' }
  const again = await post({ id, encoded: [encoded] }, options)
  if (again.kind === 'accepted') return { kind: 'accepted' }
  if (again.kind === 'failed') return { kind: 'kept' }
  await writeSetAside(trx, receiver.name, { chain_id, seq, now })
  return { kind: 'set_aside', attempts }
}
