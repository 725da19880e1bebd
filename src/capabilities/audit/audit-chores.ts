import type { KeyObject } from 'node:crypto'
import type { Clock } from '../../kernel/time.ts'
import type { AuditTables, Kysely } from '../../platform/relational/index.ts'
import type { Chore } from '../jobs/index.ts'
import { pruneChains } from './checkpoints/prune-chains.ts'
import { type CheckpointSink, publishCheckpoints } from './checkpoints/publish-checkpoints.ts'
import { signCheckpoints } from './checkpoints/sign-checkpoints.ts'
import { openSigningKey } from './checkpoints/signing-key.ts'
import { sealReads } from './reads/seal-reads.ts'

/** Dependencies of the audit trail's periodic work. */
export type AuditChoreOptions = {
  db: Kysely<AuditTables>
  clock: Clock
  /** Encrypts the signing key in the store. Without it, no checkpoint is signed. */
  secret_key: string | undefined
  sinks: readonly CheckpointSink[]
  /** Time between two looks for chains that are due, and for unpublished checkpoints. */
  checkpoint_poll_ms: number
  /** Days for which records are kept; 0: for ever. */
  kept_days: number
  /** Names of the streams. Records that a stream has not sent yet are not deleted. */
  streams: readonly string[]
}

const second_ms = 1_000
const hour_ms = 60 * 60 * 1000
const day_ms = 24 * hour_ms

/** Returns the periodic work of the audit trail, which each worker does. */
export function auditChores(options: AuditChoreOptions): Chore[] {
  const { db, clock, secret_key, sinks, kept_days, streams } = options
  const chores: Chore[] = [
    {
      name: 'seal audited reads',
      every_ms: second_ms,
      wake: 'audit_reads',
      reason: 'stored reads of all chains',
      run: async () => {
        await sealReads(db, clock)
      },
    },
  ]
  if (secret_key === undefined) return chores
  let key: Promise<KeyObject> | undefined
  const openKey = () => {
    key ??= openSigningKey(db, { secret_key, clock }).catch((error: unknown) => {
      key = undefined
      throw error
    })
    return key
  }
  chores.push({
    name: 'sign audit checkpoints',
    every_ms: options.checkpoint_poll_ms,
    reason: 'due chains of all organizations',
    run: async () => {
      const now = new Date(clock.now_ms())
      await signCheckpoints(db, { key: await openKey(), now })
      await publishCheckpoints(db, { sinks, now })
    },
  })
  if (kept_days === 0) return chores
  chores.push({
    name: 'delete old audit records',
    every_ms: hour_ms,
    reason: 'chains of all organizations',
    run: async (signal) => {
      const now = new Date(clock.now_ms())
      const before = new Date(now.getTime() - kept_days * day_ms)
      const hasSinks = sinks.length > 0
      await pruneChains(db, { key: await openKey(), now, before, hasSinks, streams, signal })
    },
  })
  return chores
}
