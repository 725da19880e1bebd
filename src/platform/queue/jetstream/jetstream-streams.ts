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
  /**
   * Maximum size of the queue. Above it, publish rejects with "full". Above a tenth of it, dead-lettering
   * fails.
   */
  max_bytes: number
  /** Deduplication window: time for which the server remembers message ids, in memory. */
  duplicate_window_ms: number
}

export const defaultStreamPrefix = 'looptrace'

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

/** The settings of a stream that `migrateStreams` changes. */
const changedSettings = ['num_replicas', 'max_bytes', 'max_age', 'duplicate_window'] as const

type StreamSettings = Pick<StreamConfig, 'name' | (typeof changedSettings)[number]> &
  Partial<StreamConfig>

/**
 * The configuration of both streams. A work queue stream deletes acknowledged messages, so its counts
 * are the pending messages even without a consumer, and only pending messages use disk space. A full
 * stream rejects new messages (`discard new`) and never drops old ones.
 */
function streamConfigs(options: JetStreamStreamOptions): StreamSettings[] {
  const names = streamNames(options.stream_prefix ?? defaultStreamPrefix)
  const shared = {
    storage: StorageType.File,
    discard: DiscardPolicy.New,
    num_replicas: options.replicas,
    duplicate_window: nanos(options.duplicate_window_ms),
  }
  const queue = {
    ...shared,
    name: names.queue,
    subjects: [names.subject('*.*')],
    retention: RetentionPolicy.Workqueue,
    max_bytes: options.max_bytes,
    max_age: nanos(options.max_age_ms ?? 0),
  }
  const dead = {
    ...shared,
    name: names.dead,
    subjects: [`${names.dead}.*.*.*`],
    retention: RetentionPolicy.Limits,
    max_bytes: Math.ceil(options.max_bytes / 10),
    max_age: 0,
  }
  return [queue, dead]
}

const streamNameInUse = 10_058
const streamNotFound = 10_059

/**
 * Creates the streams that are missing, and changes none: another process may have other settings.
 * Resolves when both have answered, so that a publish would succeed.
 */
export async function createStreams(
  manager: JetStreamManager,
  options: JetStreamStreamOptions,
): Promise<void> {
  for (const config of streamConfigs(options)) {
    if ((await findStream(manager, config.name)) !== undefined) continue
    await manager.streams.add(config).catch((error: unknown) => {
      // Another process, with other settings, was first.
      if (!isApiError(error, streamNameInUse)) throw error
    })
  }
}

/** A setting of a stream that differs from the asked one. */
export type StreamChange = {
  stream: string
  setting: (typeof changedSettings)[number]
  from: number
  to: number
  /** False: the asked value would keep fewer copies or messages, and only a flag allows that. */
  is_changed: boolean
}

/**
 * Creates the streams that are missing, and changes the settings of the others. A value that keeps fewer
 * copies, fewer bytes or message ids for a shorter time is only taken with `may_shrink`.
 */
export async function migrateStreams(
  manager: JetStreamManager,
  options: JetStreamStreamOptions,
  { may_shrink }: { may_shrink: boolean },
): Promise<StreamChange[]> {
  await createStreams(manager, options)
  const changes: StreamChange[] = []
  for (const config of streamConfigs(options)) {
    const found = await findStream(manager, config.name)
    if (found === undefined) continue
    const own = changedSettings.flatMap((setting): StreamChange[] => {
      const [from, to] = [found[setting], config[setting]]
      const is_changed = may_shrink || !isLess(setting, from, to)
      return from === to ? [] : [{ stream: config.name, setting, from, to, is_changed }]
    })
    const wanted = own.filter(({ is_changed }) => is_changed)
    if (wanted.length > 0) {
      const values = Object.fromEntries(wanted.map(({ setting, to }) => [setting, to]))
      await manager.streams.update(config.name, values)
    }
    changes.push(...own)
  }
  return changes
}

/** 0 is without a limit of the age. */
function isLess(setting: StreamChange['setting'], from: number, to: number): boolean {
  if (setting !== 'max_age') return to < from
  return to !== 0 && (from === 0 || to < from)
}

async function findStream(
  manager: JetStreamManager,
  name: string,
): Promise<StreamConfig | undefined> {
  try {
    return (await manager.streams.info(name)).config
  } catch (error) {
    if (isApiError(error, streamNotFound)) return undefined
    throw error
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
