import {
  type Columnar,
  ColumnarError,
  type ColumnarReads,
  ColumnarUnavailable,
} from '../../platform/columnar/index.ts'
import {
  behind,
  type Condition,
  type KeyPart,
  type KeyValues,
  readKey,
  splitExpressions,
  upTo,
} from './sorting-key.ts'

/** A table of rows. Both stores are at the same schema, so they have the same columns. */
export type RowsTable = {
  name: string
  columns: readonly string[]
  key: readonly KeyPart[]
  /** The expression and type by which the source's rows are divided. */
  division: KeyPart
}

/** The rows of a table with one value of its division. */
export type Division = { table: RowsTable; value: string }

/** A range of keys in a division: behind `after`, up to `until`. Undefined: no bound. */
type Range = { after?: KeyValues | undefined; until?: KeyValues | undefined }

/** The number of rows, and the sum of their hashes. Each row counts once, in its latest version. */
export type RowsSum = { rows: number; sum: string }

/** The columnar store of one side of a move. */
export type RowsStore = {
  listTables(): Promise<RowsTable[]>
  /** Returns the names of all tables, also of those that divide their rows over a cluster. */
  listNames(): Promise<string[]>
  listDivisions(table: RowsTable): Promise<Division[]>
  countRows(table: string): Promise<number>
  /** Returns the key of the row that is `rows` rows behind `after`; undefined behind the last row. */
  findKey(
    division: Division,
    after: KeyValues | undefined,
    rows: number,
  ): Promise<KeyValues | undefined>
  /** Returns the largest key behind `after`. */
  findLastKey(division: Division, after: KeyValues | undefined): Promise<KeyValues | undefined>
  /** Reads rows as RowBinary. Undefined: the rows exceed `bytes_max`, or the engine's memory. */
  readRows(division: Division, range: Range, bytes_max: number): Promise<Buffer | undefined>
  insertRows(table: RowsTable, rows: Uint8Array): Promise<void>
  sumRows(division: Division, range: Range): Promise<RowsSum>
}

/** Time limit of a statement. A division may be a day of a large installation. */
const statement_ms_max = 3_600_000

/** Small blocks and few threads: each block with its contents is held in memory. */
const readSettings = {
  max_block_size: 4_096,
  max_threads: 2,
  optimize_read_in_order: 1,
  // A partition of one part needs no merge.
  do_not_merge_across_partitions_select_final: 1,
}

/** Opens the store of one side. Rejects with ColumnarUnavailable or ColumnarError. */
export function openRowsStore(columnar: Columnar): RowsStore {
  const statements = columnar.acrossProjects('move')
  const query = <T>(sql: string, { params }: Pick<Condition, 'params'> = { params: {} }) =>
    statements.query<T>(sql, params, { timeout_ms: statement_ms_max, settings: readSettings })
  const findKey = async (sql: string, about: { key: readonly KeyPart[] } & Condition) => {
    const [row] = await query<Record<string, string>>(sql, about)
    return row && about.key.map((_, at) => row[`key_${at}`] ?? '')
  }
  return {
    listTables: () => listTables(query),
    listNames: async () => {
      const sql = 'SELECT name FROM system.tables WHERE database = currentDatabase()'
      return (await query<{ name: string }>(sql)).map(({ name }) => name)
    },
    listDivisions: async (table) => {
      const sql = `SELECT DISTINCT toString(${table.division.expression}) AS value
        FROM ${table.name} ORDER BY value`
      return (await query<{ value: string }>(sql)).map(({ value }) => ({ table, value }))
    },
    countRows: async (table) => {
      const [row] = await query<{ rows: string }>(`SELECT count() AS rows FROM ${table} FINAL`)
      return Number(row?.rows)
    },
    findKey: (division, after, rows) => {
      const { key } = division.table
      const where = conditionOf(division, { after })
      const sql = `${keySql(division, where)} ORDER BY ${orderOf(key)} LIMIT 1 OFFSET ${rows - 1}`
      return findKey(sql, { key, ...where })
    },
    findLastKey: (division, after) => {
      const { key } = division.table
      const where = conditionOf(division, { after })
      const sql = `${keySql(division, where)} ORDER BY ${orderOf(key, ' DESC')} LIMIT 1`
      return findKey(sql, { key, ...where })
    },
    readRows: (division, range, bytes_max) => readRows(statements, division, range, bytes_max),
    insertRows: ({ name, columns }, rows) =>
      statements.insertRowBinary(name, columns, rows, { timeout_ms: statement_ms_max }),
    sumRows: async (division, range) => {
      const where = conditionOf(division, range)
      const columns = division.table.columns.map(quote).join(', ')
      const sql = `SELECT count() AS rows,
          toString(sum(cityHash64(formatRow('RowBinary', ${columns})))) AS sum
        FROM ${division.table.name} FINAL WHERE ${where.sql}`
      const [row] = await query<{ rows: string; sum: string }>(sql, where)
      return { rows: Number(row?.rows), sum: row?.sum ?? '' }
    },
  }
}

type Query = <T>(sql: string, about?: Pick<Condition, 'params'>) => Promise<T[]>

/** Tables that the target makes by itself: its schema, and sums that workers compute of its rows. */
const notMoved = ['schema_migrations', 'signal_minutes', 'signal_minutes_done']

async function listTables(query: Query): Promise<RowsTable[]> {
  const tables = await query<{ name: string; sorting_key: string; partition_key: string }>(
    `SELECT name, sorting_key, partition_key FROM system.tables
     WHERE database = currentDatabase() AND engine LIKE '%MergeTree'
       AND name NOT IN {left:Array(String)} ORDER BY name`,
    { params: { left: notMoved } },
  )
  return Promise.all(
    tables.map(async ({ name, sorting_key, partition_key }) => {
      const columns = await query<{ name: string }>(
        `SELECT name FROM system.columns WHERE database = currentDatabase() AND table = {name:String}
         AND default_kind NOT IN ('ALIAS', 'MATERIALIZED', 'EPHEMERAL') ORDER BY position`,
        { params: { name } },
      )
      const expressions = splitExpressions(sorting_key)
      const [division, ...key] = await readTypes(query, name, [partition_key, ...expressions])
      if (division === undefined) throw new TypeError(`${name} has no partition key`)
      return { name, columns: columns.map((column) => column.name), key, division }
    }),
  )
}

/** Reads the types of expressions over a table, which may be empty. */
async function readTypes(query: Query, table: string, expressions: string[]): Promise<KeyPart[]> {
  const rows = await query<{ name: string; type: string }>(
    `DESCRIBE (SELECT ${expressions.map((part, at) => `${part} AS key_${at}`).join(', ')} FROM ${table})`,
  )
  return expressions.map((expression, at) => ({
    expression,
    type: rows.find(({ name }) => name === `key_${at}`)?.type ?? 'String',
  }))
}

function keySql({ table }: Division, where: Condition): string {
  return `SELECT ${readKey(table.key)} FROM ${table.name} FINAL WHERE ${where.sql}`
}

function orderOf(key: readonly KeyPart[], direction = ''): string {
  return key.map(({ expression }) => `${expression}${direction}`).join(', ')
}

function conditionOf({ table, value }: Division, { after, until }: Range): Condition {
  const { expression, type } = table.division
  const conditions: Condition[] = [
    { sql: `${expression} = {division:${type}}`, params: { division: value } },
    ...(after ? [behind(table.key, after)] : []),
    ...(until ? [upTo(table.key, until)] : []),
  ]
  return {
    sql: conditions.map(({ sql }) => sql).join(' AND '),
    params: Object.assign({}, ...conditions.map(({ params }) => params)),
  }
}

/** ClickHouse's error for a result that exceeds `max_result_bytes`. */
const tooManyBytes = 396

async function readRows(
  statements: ColumnarReads,
  division: Division,
  range: Range,
  bytes_max: number,
): Promise<Buffer | undefined> {
  const { sql, params } = conditionOf(division, range)
  const columns = division.table.columns.map(quote).join(', ')
  const text = `SELECT ${columns} FROM ${division.table.name} FINAL WHERE ${sql}`
  const settings = { ...readSettings, max_result_bytes: bytes_max, result_overflow_mode: 'throw' }
  try {
    return await statements.queryRowBinary(text, params, { timeout_ms: statement_ms_max, settings })
  } catch (error) {
    if (error instanceof ColumnarError && error.code === tooManyBytes) return undefined
    // The embedded engine may use 2 GiB.
    const isMemory = error instanceof ColumnarUnavailable && error.message.includes('MEMORY_LIMIT')
    if (isMemory) return undefined
    throw error
  }
}

function quote(name: string): string {
  return `\`${name}\``
}
