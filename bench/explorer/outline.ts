import { indexMarks } from '../../src/capabilities/detection/index.ts'
import { toNodeReply } from '../../src/capabilities/traces/explorer/node-reply.ts'
import { toOutline } from '../../src/capabilities/traces/explorer/outline.ts'
import { buildTree } from '../../src/capabilities/traces/tree/build-tree.ts'
import { median } from '../rounds.ts'
import type { OutlineRow } from './facts.ts'
import { traceOf } from './trace-shapes.ts'

/** A stored trace, and a function that asks its routes for the JSON of an answer. */
export type Asked = {
  observations: number
  of: { project_id: string; trace_id: string }
  ask: (route: string, query?: Record<string, string>) => Promise<string>
  rounds: number
}

/** Rounds that warm up and do not count. */
const warmUps = 1

/** Measures the outline of a trace against the same nodes as rows, in alternating order. */
export async function measureOutline({
  observations,
  of,
  ask,
  rounds,
}: Asked): Promise<OutlineRow> {
  const tree = buildTree(traceOf('agents', observations, of))
  const about = {
    origin_ns: tree.origin_ns,
    details: new Map(),
    marksAt: indexMarks([]),
    shown: 0,
    next_cursor: null,
  }
  const columns = () => JSON.stringify(toOutline(tree, { findings: [], whole: false }))
  const rows = () => JSON.stringify(tree.nodes.map((node) => toNodeReply(node, about)))
  const texts = { columns: columns(), rows: rows() }
  const ways = {
    outline: () => ask('explorer', { view: 'outline' }),
    columns,
    rows,
    parse_columns: () => JSON.parse(texts.columns),
    parse_rows: () => JSON.parse(texts.rows),
  }
  const names = Object.keys(ways) as (keyof typeof ways)[]
  const times = new Map(names.map((name): [string, number[]] => [name, []]))
  for (let round = 0; round < rounds + warmUps; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      times.get(name)?.push(await timeOf(async () => ways[name]()))
    }
  }
  const ms = (name: keyof typeof ways) => median((times.get(name) ?? []).slice(warmUps))
  return {
    observations,
    outline_ms: ms('outline'),
    columns_ms: ms('columns'),
    rows_ms: ms('rows'),
    parse_columns_ms: ms('parse_columns'),
    parse_rows_ms: ms('parse_rows'),
    columns_bytes: Buffer.byteLength(texts.columns),
    rows_bytes: Buffer.byteLength(texts.rows),
  }
}

/** Returns the duration of work in milliseconds. */
export async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start_ms = performance.now()
  await work()
  return performance.now() - start_ms
}
