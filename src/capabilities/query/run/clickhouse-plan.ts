import type { ProjectId } from '../../../model/project-id.ts'
import type { Columnar, ReadOptions } from '../../../platform/columnar/index.ts'
import { namedParams, type Statement } from '../compile/statement.ts'
import { type ColumnSizes, openColumnSizes } from './column-sizes.ts'
import type { ReadEstimate, Selected, StorePlan } from './contract.ts'

/** Bound of each planning query; a plan is only useful when it is quick. */
const plan_ms_max = 2_000

/** Plans statements on ClickHouse: reads estimate and plan concurrently, then the sizes of columns. */
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
    const [estimates, plan] = await Promise.all([
      ofProject.read<EstimateRow>(explain('ESTIMATE'), params, options),
      ofProject.read<{ explain: string }>(
        explain('json = 1, indexes = 1, header = 1'),
        params,
        options,
      ),
    ])
    const text = plan.rows.map(({ explain: line }) => line).join('\n')
    const nodes = listNodes((JSON.parse(text) as { Plan: Node }[])[0]?.Plan)
    const [read] = nodes.filter(isRead)
    const sizes = read && (await sizesOf(tableOf(read)))
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

function listNodes(node: Node | undefined, depth = 0): PlanNode[] {
  if (node === undefined) return []
  return [{ node, depth }, ...(node.Plans ?? []).flatMap((child) => listNodes(child, depth + 1))]
}

function toStorePlan(
  statement: Statement,
  about: {
    estimates: readonly EstimateRow[]
    nodes: readonly PlanNode[]
    sizes: ColumnSizes | undefined
  },
): StorePlan {
  const { estimates, nodes, sizes } = about
  const rows = estimates.reduce((sum, each) => sum + Number(each.rows), 0)
  const reads = nodes.filter(isRead)
  const parts = sumSelected(reads, 'Initial Parts', 'Selected Parts')
  const granules = sumSelected(reads, 'Initial Granules', 'Selected Granules')
  const unknown = findUnknown(statement, { nodes, granules })
  const known = unknown === null
  return {
    lines: nodes.map(formatNode),
    estimate: {
      rows: known ? rows : null,
      bytes: known ? Math.round(rows * bytesPerRow(reads[0], sizes)) : null,
      bytes_from: (known && sizes?.from) || null,
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

/** Sums the sizes of the columns that a node of the plan reads. */
function bytesPerRow(read: PlanNode | undefined, sizes: ColumnSizes | undefined): number {
  if (read === undefined || sizes === undefined) return 0
  const { Header = [], Indexes = [] } = read.node
  const columns = new Set(Header.map(({ Name }) => Name.split('.').at(-1) ?? ''))
  for (const key of Indexes.flatMap(({ Keys = [] }) => Keys)) columns.add(key)
  return [...columns].reduce((sum, column) => sum + (sizes.bytes.get(column) ?? 0), 0)
}

function isRead({ node }: PlanNode): boolean {
  return node['Node Type'] === 'ReadFromMergeTree'
}

function tableOf({ node }: PlanNode): string {
  return /(\w+)\s*\)?$/.exec(node.Description ?? '')?.[1] ?? ''
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
