import {
  DiscardPolicy,
  JetStreamApiError,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream'
import { nanos } from '@nats-io/transport-node'
import { assertProjectId } from '../publishing.ts'

/** Options of the streams. */
export type JetStreamStreamOptions = {
  /**
   * Streams are `<prefix>_queue` and `<prefix>_dead`, subjects `<prefix>.<kind>.<project>`.
   * Default `looptrace`.
   */
  stream_prefix?: string
  /** Replicas of each message: 1, 3 or 5. */
  replicas: number
  /**
   * Age after which the server drops messages, acknowledged or not. Default 0: messages are kept
   * until they are acknowledged.
   */
  max_age_ms?: number
  /** Maximum size of the queue. Above it, publish rejects with "full". */
  max_bytes: number
  /** Maximum size of dead letters. Above it, dead-lettering fails. Default: `max_bytes` / 10. */
  dead_bytes_max?: number
  /** Deduplication window: time for which the server remembers message ids, in memory. */
  duplicate_window_ms: number
}

export const streamPrefix_default = 'looptrace'

/** Names of the two streams and of the subjects in them. */
export type StreamNames = {
  queue: string
  dead: string
  subject: (subject: string) => string
  kindFilter: (kind: string) => string
  deadSubject: (subject: string, id: string) => string
  /**
   * Matches dead letters by message id and project; a missing field matches all. Throws TypeError
   * for an invalid project.
   */
  deadFilter: (filter: { id?: string | undefined; project_id?: string | undefined }) => string
  /** Returns the queue subject of a stream subject. */
  ownSubject: (streamSubject: string) => string
}

export function streamNames(prefix: string): StreamNames {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(prefix)) {
    throw new TypeError(`stream prefix "${prefix}": expected 1 to 64 letters, digits, _ or -`)
  }
  return {
    queue: `${prefix}_queue`,
    dead: `${prefix}_dead`,
    subject: (subject) => `${prefix}.${subject}`,
    kindFilter: (kind) => `${prefix}.${kind}.*`,
    deadSubject: (subject, id) => `${prefix}_dead.${subject}.${idToken(id)}`,
    deadFilter: ({ id, project_id }) => {
      assertProjectId(project_id)
      return `${prefix}_dead.*.${project_id ?? '*'}.${id === undefined ? '*' : idToken(id)}`
    },
    ownSubject: (streamSubject) => streamSubject.split('.').slice(1, 3).join('.'),
  }
}

/**
 * Creates or updates both streams. A work queue stream deletes acknowledged messages, so its counts
 * are the pending messages even without a consumer, and only pending messages use disk space. A
 * full stream rejects new messages (`discard new`) and never drops old ones.
 */
export async function ensureStreams(
  manager: JetStreamManager,
  options: JetStreamStreamOptions,
): Promise<void> {
  const names = streamNames(options.stream_prefix ?? streamPrefix_default)
  const shared = {
    storage: StorageType.File,
    discard: DiscardPolicy.New,
    num_replicas: options.replicas,
    duplicate_window: nanos(options.duplicate_window_ms),
  }
  await ensureStream(manager, {
    ...shared,
    name: names.queue,
    subjects: [names.subject('*.*')],
    retention: RetentionPolicy.Workqueue,
    max_bytes: options.max_bytes,
    max_age: nanos(options.max_age_ms ?? 0),
  })
  await ensureStream(manager, {
    ...shared,
    name: names.dead,
    subjects: [`${names.dead}.*.*.*`],
    retention: RetentionPolicy.Limits,
    max_bytes: options.dead_bytes_max ?? Math.ceil(options.max_bytes / 10),
  })
}

const streamNameInUse = 10_058

async function ensureStream(
  manager: JetStreamManager,
  config: Partial<StreamConfig> & { name: string },
): Promise<void> {
  try {
    await manager.streams.add(config)
  } catch (error) {
    if (!isApiError(error, streamNameInUse)) throw error
    const { name, storage: _storage, retention: _retention, ...changes } = config
    await manager.streams.update(name, changes)
  }
}

/** Returns whether an error is a JetStream API error with this code. */
export function isApiError(error: unknown, code: number): error is JetStreamApiError {
  return error instanceof JetStreamApiError && error.code === code
}

/** Encodes a message id as a token of a subject: unchanged if valid, otherwise in base64url. */
function idToken(id: string): string {
  if (/^[A-Za-z0-9_-]+$/.test(id) && !id.startsWith('b64-')) return id
  return `b64-${Buffer.from(id).toString('base64url')}`
}
