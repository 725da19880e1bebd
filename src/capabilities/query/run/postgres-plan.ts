import type { StorePlan } from './contract.ts'

type Node = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Plan Rows': number
  'Total Cost': number
  Plans?: Node[]
}

/** Reads the answer of `EXPLAIN (FORMAT JSON)`. */
export function planOfPostgres(rows: readonly Record<string, unknown>[]): StorePlan {
  const [answer] = rows
  const [{ Plan: root } = { Plan: undefined }] = (answer?.['QUERY PLAN'] ?? []) as { Plan?: Node }[]
  return {
    lines: root === undefined ? [] : linesOf(root, 0),
    estimate: {
      rows: null,
      bytes: null,
      rows_at_most: null,
      reason: 'PostgreSQL estimates the rows that a step yields, not those that it reads',
    },
    parts: null,
    granules: null,
    skipped_share: null,
  }
}

function linesOf(node: Node, depth: number): string[] {
  const table = node['Relation Name'] === undefined ? '' : ` on ${node['Relation Name']}`
  const index = node['Index Name'] === undefined ? '' : ` by ${node['Index Name']}`
  const numbers = `${node['Plan Rows']} rows, cost ${node['Total Cost']}`
  const line = `${'  '.repeat(depth)}${node['Node Type']}${table}${index}: ${numbers}`
  return [line, ...(node.Plans ?? []).flatMap((child) => linesOf(child, depth + 1))]
}
