/**
 * The class of a statement: what it is for, which gives its settings. Each statement has one.
 * - `insert`: rows that are acknowledged, or from which others are acknowledged;
 * - `people`: a read whose answer a person sees, and may ask for again;
 * - `decision`: a read from which something is written, deleted, archived or reported as done;
 * - `catalogue`: a read of tables of `system`, of the replicas that answer;
 * - `change`: DELETE and ALTER of rows;
 * - `schema`: CREATE and ALTER of tables.
 */
export type StatementClass = 'insert' | 'people' | 'decision' | 'catalogue' | 'change' | 'schema'

export type StatementSettings = Readonly<Record<string, string | number>>

/**
 * Replicas that are this far behind are not asked by a read that decides. Below it, a read waits
 * until they have caught up (see `openFreshReads`).
 */
export const maxDecisionDelaySeconds = 5

/** Maximum wait for the hosts of a cluster to run a statement; a dead host never does. */
const maxHostWaitSeconds = 10

/** Maximum wait for the replicas of an insert, below the time-out of the client. */
const maxQuorumWaitMs = 20_000

const inserts: StatementSettings = {
  // Acknowledge after the rows are stored on every shard, and deduplicate by token.
  async_insert: 0,
  insert_distributed_sync: 1,
  insert_deduplicate: 1,
  // Merges and reads replace rows that were sent again; a search in each insert costs a fifth of it.
  optimize_on_insert: 0,
  // A client with wrong clocks must not fail a whole batch.
  max_partitions_per_insert_block: 0,
}

/** Statements resolve when the server has applied them, visible to reads. */
const changes: StatementSettings = { lightweight_deletes_sync: 2, mutations_sync: 2 }

/** Settings of a change on one server whose table has patches, beside those of its class. */
export const patchSettings: StatementSettings = {
  enable_lightweight_update: 1,
  lightweight_delete_mode: 'lightweight_update',
}

/** Of one server, which is its own only replica. */
const ofOneServer: Record<StatementClass, StatementSettings> = {
  insert: inserts,
  people: {},
  decision: {},
  catalogue: {},
  change: changes,
  schema: {},
}

/** Never leaves out the rows of a shard in silence. */
const wholeCluster = { skip_unavailable_shards: 0 }

const hostWait = {
  // A host that does not answer is reported as unfinished, without an error.
  distributed_ddl_output_mode: 'null_status_on_timeout',
  distributed_ddl_task_timeout: maxHostWaitSeconds,
}

const ofCluster: Record<StatementClass, StatementSettings> = {
  insert: {
    ...inserts,
    // The settings go with the rows to the local tables, where they apply.
    insert_quorum: 'auto',
    // Inserts of several workers at once. Without it, the second insert of a table fails.
    insert_quorum_parallel: 1,
    insert_quorum_timeout: maxQuorumWaitMs,
  },
  people: {
    ...wholeCluster,
    max_replica_delay_for_distributed_queries: 300,
    fallback_to_stale_replicas_for_distributed_queries: 1,
  },
  decision: {
    ...wholeCluster,
    max_replica_delay_for_distributed_queries: maxDecisionDelaySeconds,
    fallback_to_stale_replicas_for_distributed_queries: 0,
  },
  // The answer says which replicas it is from.
  catalogue: { skip_unavailable_shards: 1 },
  // The wait is ours: one that waits inside the queue of the cluster's statements blocks all others
  // behind it, while a replica is unavailable.
  change: { lightweight_deletes_sync: 0, mutations_sync: 0, ...hostWait },
  schema: hostWait,
}

/** Returns the settings of each class, of one server or of a cluster. */
export function statementSettings(
  cluster: string | undefined,
): Readonly<Record<StatementClass, StatementSettings>> {
  return cluster === undefined ? ofOneServer : ofCluster
}
