import { quoteText } from './cluster/check-cluster.ts'

/** The target of a schema: one server, or every server of a cluster. */
export type SchemaTarget = {
  cluster?: string
  database: string
  /** Names of the table settings of this version of ClickHouse. */
  table_settings?: ReadonlySet<string>
}

/**
 * Fills the template of a statement, so that the same files work for one server and for a cluster.
 * Returns '' for a statement that the target does not need.
 * - `{{table:x}}`: the table that holds rows: `x`, in a cluster `x_local`;
 * - `{{on_cluster}}`: nothing, or `on cluster c`;
 * - `{{engine:E(…)}}`: `E(…)`, or `ReplicatedE('path', '{replica}', …)`;
 * - `{{durability}}`: settings that make an acknowledged insert survive a power cut: on one server
 *   fsync, in a cluster its replicas, which also remember insert tokens;
 * - `{{distributed:x by key}}`: in a cluster a whole statement, the table `x` over all `x_local`;
 * - `{{distributed_alter:x change}}`: in a cluster a whole statement, the change of that table;
 * - `{{if_known:s = v}}`: `, s = v` after other settings; nothing in a version without this setting.
 * Throws TypeError for any other placeholder.
 */
export function renderStatement(template: string, target: SchemaTarget): string {
  const text = template.replace(/\{\{(\w+)(?::([^}]*))?\}\}/g, (_, name, argument) => {
    const fill = fillers[name]
    if (!fill) throw new TypeError(`got the placeholder {{${name}}}, expected one of ours`)
    return fill(argument ?? '', target)
  })
  return /[^\s]/.test(text.replace(/^--.*$/gm, '')) ? text : ''
}

/**
 * Number of insert tokens that a cluster remembers: more than can be in flight. A single server
 * remembers none: it records a token before it stores the rows, so after a crash between the two it
 * would also drop the repeated insert (seen with ClickHouse 26.7, in 1 of 10 kills).
 */
const tokens_max = 10_000

/**
 * Time for which a cluster remembers a token. A message can be delivered again after a long outage,
 * and newer versions of ClickHouse forget after an hour by default.
 */
const tokens_s_max = 7 * 86_400

const fillers: Record<string, (argument: string, target: SchemaTarget) => string> = {
  table: (name, { cluster }) => (cluster === undefined ? name : `${name}_local`),
  on_cluster: (_, { cluster }) => (cluster === undefined ? '' : `on cluster ${quote(cluster)}`),
  engine: replicated,
  durability: (_, { cluster }) =>
    cluster === undefined
      ? 'fsync_after_insert = 1, fsync_part_directory = 1'
      : `replicated_deduplication_window = ${tokens_max}, replicated_deduplication_window_seconds = ${tokens_s_max}`,
  distributed,
  distributed_alter: distributedAlter,
  if_known: ifKnown,
}

/**
 * Returns a replicated engine whose path in Keeper has only names. The default path has a UUID, which
 * differs in each CREATE statement, so the tables of a server that is added later would not be replicas.
 */
function replicated(engine: string, { cluster }: SchemaTarget): string {
  if (cluster === undefined) return engine
  const [, name = engine, given = ''] = /^(\w+)\((.*)\)$/.exec(engine) ?? []
  const path = quoteText(`/clickhouse/looptrace/${cluster}/{database}/{table}/{shard}`)
  const rest = given === '' ? '' : `, ${given}`
  return `Replicated${name}(${path}, '{replica}'${rest})`
}

function distributed(argument: string, { cluster, database }: SchemaTarget): string {
  const [, name = '', key = ''] = /^(\w+) by (.+)$/.exec(argument) ?? []
  if (name === '') throw new TypeError(`got {{distributed:${argument}}}, expected "table by key"`)
  if (cluster === undefined) return ''
  const local = `${name}_local`
  return `create table if not exists ${name} on cluster ${quote(cluster)} as ${local}
engine = Distributed(${[cluster, database, local].map(quoteText).join(', ')}, ${key})`
}

function distributedAlter(argument: string, { cluster }: SchemaTarget): string {
  const [, name = '', change = ''] = /^(\w+)\s+(.+)$/s.exec(argument) ?? []
  if (name === '') throw new TypeError(`got {{distributed_alter:${argument}}}, expected "table …"`)
  return cluster === undefined ? '' : `alter table ${name} on cluster ${quote(cluster)} ${change}`
}

function ifKnown(argument: string, { table_settings }: SchemaTarget): string {
  const [, name = ''] = /^(\w+) = .+$/.exec(argument) ?? []
  if (name === '') throw new TypeError(`got {{if_known:${argument}}}, expected "setting = value"`)
  return table_settings?.has(name) ? `, ${argument}` : ''
}

function quote(name: string): string {
  return `\`${name.replace(/[\\`]/g, '\\$&')}\``
}
