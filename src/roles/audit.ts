import { join } from 'node:path'
import {
  type AuditChoreOptions,
  auditChores,
  type CheckpointSink,
  type CheckpointSource,
  openAuditErasure,
  openAuditTrail,
  openBlobSink,
  openReadJournal,
  openRefusalSpool,
} from '../capabilities/audit/index.ts'
import type { Chore } from '../capabilities/jobs/index.ts'
import type { ErasureTarget } from '../capabilities/storage/index.ts'
import type { AuditTrail } from '../platform/audit/index.ts'
import { ConfigError, type Settings } from '../platform/config/index.ts'
import type { Outbound } from '../platform/outbound/index.ts'
import { openSqliteQueue } from '../platform/queue/index.ts'
import { openAuditStreams } from './audit-streams.ts'
import { openBlobsAt } from './jobs.ts'
import { openReceivers } from './outbound.ts'
import type { RoleContext } from './running.ts'
import type { Stores } from './stores.ts'

/** Opens the worker's part of the audit trail: seals, checkpoints, streams, retention, erasure. */
export function openAudit(
  context: Pick<RoleContext, 'clock' | 'parts' | 'logger' | 'metrics'>,
  config: Settings<'blobs' | 'checkpoint' | 'audit' | 'secret' | 'notification'>,
  ports: Parameters<typeof openAuditStreams>[2],
): { handlers: []; chores: Chore[]; erasure: ErasureTarget } {
  const { secret_key, audit_days: kept_days } = config
  const { db } = ports
  const streams = openAuditStreams(context, config, ports)
  const options: AuditChoreOptions = {
    db,
    clock: context.clock,
    secret_key,
    kept_days,
    streams: streams.names,
    sinks: placesOf(config).map((place) => openSink(context, config, place)),
    checkpoint_poll_ms: config.audit_checkpoint_poll_ms,
  }
  const chores = [...auditChores(options), ...streams.chores]
  return { handlers: [], chores, erasure: openAuditErasure({ db }) }
}

/**
 * Opens the audit trail of a role that serves routes. While PostgreSQL is unavailable, refused
 * calls are kept in a file of the data folder, which is named after the role, and reads of content
 * in the journal of this process.
 */
export async function openServedTrail(
  { logger, metrics, parts }: Pick<RoleContext, 'logger' | 'metrics' | 'parts'>,
  { data_directory }: Settings<'folder'>,
  { db, role }: Pick<Stores, 'db'> & { role: 'api' | 'all' },
): Promise<AuditTrail> {
  const folder = join(data_directory, 'spool', 'audit-reads')
  const journal = await openReadJournal({ db, folder, logger, metrics })
  parts.defer(() => journal.close())
  const trail = openAuditTrail(db, journal)
  const path = join(data_directory, 'spool', `audit-${role}.sqlite`)
  const queue = await openSqliteQueue({ path, bytes_max: maxSpoolBytes, logger })
  parts.defer(() => queue.close())
  const spool = await openRefusalSpool({ db, trail, queue, metrics })
  parts.defer(() => spool.stop())
  return { ...trail, keep: (entry) => spool.keep(entry) }
}

/** Disk space for refused calls, whose number is limited too. */
const maxSpoolBytes = 64 * 1_048_576

/** Opens the sinks whose checkpoints can be read back: folders and buckets. */
export function openSources(
  context: Pick<RoleContext, 'parts'>,
  config: Settings<'blobs' | 'checkpoint'>,
): CheckpointSource[] {
  return placesOf(config)
    .filter((place) => blobProtocols.has(URL.parse(place)?.protocol ?? ''))
    .map((place) => openBlobSink(openBlobsAt(context, { ...config, blobs_url: place })).read)
}

const blobProtocols = new Set(['file:', 's3:'])

function placesOf({ audit_checkpoint_sinks = '' }: Settings<'checkpoint'>): string[] {
  return audit_checkpoint_sinks
    .split(',')
    .map((place) => place.trim())
    .filter((place) => place !== '')
}

function openSink(
  context: Pick<RoleContext, 'parts'>,
  config: Settings<'blobs' | 'notification'>,
  place: string,
): CheckpointSink {
  const protocol = place === 'stdout' ? place : URL.parse(place)?.protocol
  switch (protocol) {
    case 'stdout':
      return async ({ envelope }) => {
        process.stdout.write(`${envelope}\n`)
      }
    case 'file:':
    case 's3:':
      return openBlobSink(openBlobsAt(context, { ...config, blobs_url: place })).publish
    case 'https:':
    case 'http:':
      return toReceiver(openReceivers(config), place)
    default:
      // The URL of the sink is not quoted, because it may contain credentials.
      throw new ConfigError(
        'LOOPTRACE_AUDIT_CHECKPOINT_SINKS: expected file:///folder, s3://bucket/prefix, https://receiver or stdout, separated by commas',
      )
  }
}

/** A receiver of checkpoints did not accept one. */
class CheckpointRefused extends Error {
  override readonly name = 'CheckpointRefused'
}

/** Bytes of a receiver's answer that are read: only its status counts. */
const answer_bytes_max = 1_024

function toReceiver(outbound: Outbound, url: string): CheckpointSink {
  return async ({ name, envelope }) => {
    const { status } = await outbound.send({
      url,
      method: 'POST',
      body: envelope,
      headers: { 'content-type': 'application/json', 'x-checkpoint-name': name },
      cut_at_bytes: answer_bytes_max,
    })
    if (status >= 200 && status < 300) return
    throw new CheckpointRefused(`the receiver of audit checkpoints answered ${status}`)
  }
}
