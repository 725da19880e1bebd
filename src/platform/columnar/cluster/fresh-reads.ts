import { sleep } from '../../../kernel/time.ts'
import { ColumnarUnavailable } from '../contract.ts'
import { maxDecisionDelaySeconds } from './statement-classes.ts'

/** The state of a replica of a table, as ClickHouse reports it. Instants are seconds since 1970. */
export type ReplicaState = {
  /** Path in Keeper, which the replicas of a shard's table share. */
  path: string
  replica: string
  replicas: number
  /** Number of the next entry of the shared log that the replica will read. */
  log_pointer: number
  /** Number of the last entry of the shared log. */
  log_max_index: number
  /** Inserts that the replica has to fetch, and the time of the oldest one. */
  inserts_in_queue: number
  oldest_s: number
  delay_s: number
  /** Whether the replica has no session with Keeper, so that it does not see the log. */
  is_cut_off: number
  now_s: number
}

/** The entries of each shard's log that a replica must have, and when they were the last ones. */
export type LogEnd = { entries: ReadonlyMap<string, number>; at_s: number }

/** Returns the end of the logs as the replicas see it. */
export function findLogEnd(states: readonly ReplicaState[]): LogEnd {
  const entries = new Map<string, number>()
  let at_s = 0
  for (const { path, log_max_index, now_s } of states) {
    entries.set(path, Math.max(entries.get(path) ?? -1, log_max_index))
    at_s = Math.max(at_s, now_s)
  }
  return { entries, at_s }
}

/** Returns the replicas that a read may be sent to and that lack inserts up to the end of the log. */
export function findBehind(states: readonly ReplicaState[], end: LogEnd): ReplicaState[] {
  return states.filter((state) => {
    // ClickHouse does not send the read to it.
    if (state.delay_s >= maxDecisionDelaySeconds) return false
    const hasRead = state.log_pointer > (end.entries.get(state.path) ?? -1)
    const hasFetched = state.inserts_in_queue === 0 || state.oldest_s > end.at_s
    return state.is_cut_off !== 0 || !hasRead || !hasFetched
  })
}

/**
 * Returns whether a majority of replicas leaves some out: with two replicas an acknowledged insert
 * is on both, with three on two of them.
 */
function canLag(states: readonly ReplicaState[]): boolean {
  return states.some(({ replicas }) => replicas > 2)
}

export type FreshReadsOptions = {
  /** Reads the states of all replicas that answer. */
  readStates(): Promise<ReplicaState[]>
  /** Maximum wait for the replicas; 10 s by default. */
  wait_ms_max?: number
  now_ms?: () => number
}

const defaultWaitMs = 10_000
const poll_ms = 50
/** Time for which the number of replicas counts as known. */
const replicas_known_ms = 60_000

/**
 * Opens the wait of reads that decide, in a cluster: it resolves when every replica that may answer
 * has the inserts that were acknowledged before the call, and rejects with ColumnarUnavailable if
 * that takes too long. Concurrent calls share a wait that began after them. With one or two replicas
 * nothing has to be waited for, so it asks only once a minute how many there are.
 */
export function openFreshReads(options: FreshReadsOptions): () => Promise<void> {
  const { readStates, wait_ms_max = defaultWaitMs, now_ms = Date.now } = options
  let needlessUntilMs = 0
  let running: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined
  const waitForReplicas = async () => {
    const first = await readStates()
    if (first.length === 0) return
    if (!canLag(first)) {
      needlessUntilMs = now_ms() + replicas_known_ms
      return
    }
    const end = findLogEnd(first)
    const deadline_ms = now_ms() + wait_ms_max
    for (let behind = findBehind(first, end); behind.length > 0; ) {
      if (now_ms() >= deadline_ms) throw behindFor(behind, wait_ms_max)
      await sleep(poll_ms)
      behind = findBehind(await readStates(), end)
    }
  }
  const start = async (before: Promise<void>) => {
    await before.catch(() => undefined)
    next = undefined
    await waitForReplicas()
  }
  return async () => {
    if (now_ms() < needlessUntilMs) return
    if (next === undefined) {
      next = start(running)
      running = next
    }
    await next
  }
}

function behindFor(behind: readonly ReplicaState[], waited_ms: number): ColumnarUnavailable {
  const [first] = behind
  return new ColumnarUnavailable(
    `replica ${first?.replica} of ${first?.path} lacks inserts after ${waited_ms} ms, expected none: a read that decides would miss rows`,
  )
}

/** Returns the statement that reads the states of the replicas of a database's tables. */
export function replicaStatesSql(cluster: string): string {
  return `SELECT zookeeper_path AS path, replica_name AS replica, toUInt32(total_replicas) AS replicas,
  toFloat64(log_pointer) AS log_pointer, toFloat64(log_max_index) AS log_max_index,
  toUInt32(inserts_in_queue) AS inserts_in_queue, toUnixTimestamp(inserts_oldest_time) AS oldest_s,
  toFloat64(absolute_delay) AS delay_s, is_readonly OR is_session_expired AS is_cut_off,
  toUnixTimestamp(now()) AS now_s
FROM clusterAllReplicas(${cluster}, system.replicas) WHERE database = {database:String}`
}
