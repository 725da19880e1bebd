import type { ProjectId } from '../../../model/project-id.ts'
import type { Columnar, ReadOptions } from '../../../platform/columnar/index.ts'
import { namedParams, type Statement } from '../compile/statement.ts'
import type { ReadEstimate, Selected, StorePlan } from './contract.ts'

/** Bound of each planning query; a plan is only useful when it is quick. */
const plan_ms_max = 2_000

/** Sizes of columns change slowly, so they are cached. */
const sizes_ttl_ms = 60_000

/** Plans statements on ClickHouse: reads estimate, plan and column sizes concurrently. */
export function openClickHousePlanner(
  columnar: Columnar,
): (
  statement: Statement,
  about: { project: ProjectId; signal: AbortSignal },
) => Promise<StorePlan> {
  const sizesOf = openColumnSizes(columnar)
  return async (statement, { project, signal }) => {
    const ofProject = columnar.ofProject(project)
    const params = namedParams(statement)
    const options: ReadOptions = { timeout_ms: plan_ms_max, settings: planSettings, signal }
    const explain = (what: string) => `EXPLAIN ${what} ${statement.text}`
    const [estimates, plan, sizes] = await Promise.all([
      ofProject.read<EstimateRow>(explain('ESTIMATE'), params, options),
      ofProject.read<{ explain: string }>(
        explain('json = 1, indexes = 1, header = 1'),
        params,
        options,
      ),
      sizesOf(),
    ])
    const text = plan.rows.map(({ explain: line }) => line).join('\n')
    const nodes = listNodes((JSON.parse(text) as { Plan: Node }[])[0]?.Plan)
    return toStorePlan(statement, { estimates: estimates.rows, nodes, sizes })
  }
}

/** Otherwise ClickHouse would run subqueries of IN while it plans. */
const planSettings = { use_index_for_in_with_subqueries: 0 }

type EstimateRow = { table: string; parts: string; rows: string; marks: string }

type Node = {
  'Node Type': string
  Description?: string
  Header?: { Name: string }[]
  Indexes?: IndexUse[]
  Plans?: Node[]
}

type IndexUse = {
  Type: string
  Keys?: string[]
  'Initial Parts'?: number
  'Selected Parts'?: number
  'Initial Granules'?: number
  'Selected Granules'?: number
}

type PlanNode = { node: Node; depth: number }

type Sizes = ReadonlyMap<string, number>

function listNodes(node: Node | undefined, depth = 0): PlanNode[] {
  if (node === undefined) return []
  return [{ node, depth }, ...(node.Plans ?? []).flatMap((child) => listNodes(child, depth + 1))]
}

function toStorePlan(
  statement: Statement,
  about: { estimates: readonly EstimateRow[]; nodes: readonly PlanNode[]; sizes: Sizes },
): StorePlan {
  const { estimates, nodes, sizes } = about
  const rows = estimates.reduce((sum, each) => sum + Number(each.rows), 0)
  const reads = nodes.filter(({ node }) => node['Node Type'] === 'ReadFromMergeTree')
  const parts = sumSelected(reads, 'Initial Parts', 'Selected Parts')
  const granules = sumSelected(reads, 'Initial Granules', 'Selected Granules')
  const unknown = findUnknown(statement, { nodes, granules })
  const known = unknown === null
  return {
    lines: nodes.map(formatNode),
    estimate: {
      rows: known ? rows : null,
      bytes: known ? Math.round(rows * bytesPerRow(reads, sizes)) : null,
      rows_at_most: isDistributed(nodes) ? null : rows,
      reason: unknown,
    },
    parts,
    granules,
    skipped_share:
      granules === null || granules.total === 0 ? null : 1 - granules.selected / granules.total,
  }
}

/** Returns why the rows to read can't be estimated; null when they can. */
function findUnknown(
  statement: Statement,
  { nodes, granules }: { nodes: readonly PlanNode[]; granules: Selected | null },
): ReadEstimate['reason'] {
  if (isDistributed(nodes))
    return 'the tables are distributed, and each server knows only its own part'
  // Granules are read whole, so with few of them the estimate is right even if it stops early.
  if (statement.stops_early && (granules?.selected ?? 0) > granules_few)
    return 'rows are read in order until the page is full'
  if (statement.narrowed) return 'the result of a subquery decides which rows are read'
  return null
}

const granules_few = 2

function isDistributed(nodes: readonly PlanNode[]): boolean {
  return nodes.some(({ node }) => node['Node Type'].includes('Remote'))
}

function sumSelected(
  reads: readonly PlanNode[],
  initial: 'Initial Parts' | 'Initial Granules',
  selected: 'Selected Parts' | 'Selected Granules',
): Selected | null {
  if (reads.length === 0) return null
  const sum = { selected: 0, total: 0 }
  for (const { node } of reads) {
    const uses = node.Indexes ?? []
    sum.total += uses[0]?.[initial] ?? 0
    sum.selected += uses.at(-1)?.[selected] ?? 0
  }
  return sum
}

/** Sums the sizes of the columns that the plan reads. */
function bytesPerRow(reads: readonly PlanNode[], sizes: Sizes): number {
  const [read] = reads
  if (read === undefined) return 0
  const table = /(\w+)\s*\)?$/.exec(read.node.Description ?? '')?.[1] ?? ''
  const columns = new Set((read.node.Header ?? []).map(({ Name }) => Name.split('.').at(-1) ?? ''))
  for (const key of (read.node.Indexes ?? []).flatMap(({ Keys = [] }) => Keys)) columns.add(key)
  return [...columns].reduce((sum, column) => sum + (sizes.get(`${table}.${column}`) ?? 0), 0)
}

function formatNode({ node, depth }: PlanNode): string {
  const indexes = (node.Indexes ?? []).map(formatIndexUse)
  const description = node.Description ? ` ${node.Description}` : ''
  const index = indexes.length === 0 ? '' : ` [${indexes.join('; ')}]`
  return `${'  '.repeat(depth)}${node['Node Type']}${description}${index}`
}

function formatIndexUse(use: IndexUse): string {
  const granules = `${use['Selected Granules']} of ${use['Initial Granules']} granules`
  return `${use.Type} ${(use.Keys ?? []).join(', ')}: ${granules}`
}

/** Opens a cache of the mean size of a value in memory, in bytes, by `table.column`. */
function openColumnSizes(columnar: Columnar): () => Promise<Sizes> {
  let known: Sizes = new Map()
  let read_at_ms = Number.NEGATIVE_INFINITY
  return async () => {
    if (performance.now() - read_at_ms < sizes_ttl_ms) return known
    const { rows } = await columnar
      .acrossProjects('catalogue')
      .read<{ table: string; column: string; bytes: number }>(sizesSql, {
        database: columnar.database,
      })
    known = new Map(rows.map(({ table, column, bytes }) => [`${table}.${column}`, Number(bytes)]))
    read_at_ms = performance.now()
    return known
  }
}

/** Text takes 8 bytes more in memory than on disk, for its length. */
const sizesSql = `SELECT c.table AS table, c.name AS column,
    c.data_uncompressed_bytes / t.total_rows + if(c.type LIKE '%String%', 8, 0) AS bytes
  FROM system.columns AS c
  INNER JOIN system.tables AS t ON t.database = c.database AND t.name = c.table
  WHERE c.database = {database:String} AND t.database = {database:String} AND t.total_rows > 0`
