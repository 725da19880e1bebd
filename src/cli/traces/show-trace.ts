import { z } from 'zod'
import { type Arguments, type CommandIo, exitStatus } from '../command.ts'
import { parametersFrom } from '../list-options.ts'
import { render } from '../output.ts'
import { openProjectApi, readAnswer } from '../project-api.ts'
import { costText, countText, durationText, zonedTimeText } from '../terminal/formats.ts'
import { type Cell, type Column, type Row, tableOf } from '../terminal/table.ts'
import { oneLine } from '../terminal/terminal-text.ts'
import { treeOptions } from './tree-options.ts'

const defaults = { depth: '5', limit: '200' }

/** Prints a trace as a tree. */
export async function showTrace(args: Arguments, io: CommandIo): Promise<number> {
  const api = openProjectApi(io)
  const parameters = new URLSearchParams({
    ...defaults,
    ...Object.fromEntries(parametersFrom(args, treeOptions, { io })),
  })
  const id = encodeURIComponent(args.words[0] ?? '')
  const answer = await api.get(`/api/v2/observability/traces/${id}/explorer`, parameters)
  const trace = readAnswer(traceReply, answer, api)
  const depth_max = Number(parameters.get('depth'))
  io.out(render(args, answer, () => tracePage(trace, io, { depth_max })))
  return exitStatus.ok
}

const columns: readonly Column[] = [
  { heading: 'NAME', shrinks_to: 24 },
  { heading: 'TYPE' },
  { heading: 'AT', align: 'right' },
  { heading: 'DURATION', align: 'right' },
  { heading: 'TOKENS', align: 'right' },
  { heading: 'COST', align: 'right' },
  { heading: 'STATUS', shrinks_to: 12 },
]

/** Formats a page of a trace: its sums and its tree. All texts of it are hostile. */
export function tracePage(
  { trace_id, summary, nodes, next_cursor }: TraceReply,
  io: CommandIo,
  { depth_max }: { depth_max: number },
): string {
  const { rollup, duration_ms, start_time, task_id, depth_max: deepest } = summary
  const sums = [
    `${countText(rollup.observations)} observations`,
    `${countText(rollup.calls)} calls`,
    ...(rollup.errors === 0 ? [] : [io.styled('red', `${countText(rollup.errors)} failed`)]),
    `${countText(rollup.tokens.total ?? 0)} tokens`,
    costText(rollup.cost_usd),
    durationText(duration_ms),
    zonedTimeText(start_time, io),
  ]
  const branches = drawBranches(nodes.map(({ depth }) => depth))
  const rows = nodes.map((node, i) =>
    nodeRow(node, branches[i] ?? '', { isCut: isCut(node, depth_max, nodes) }),
  )
  const isDeeper = nodes.some((node) => isCut(node, depth_max, nodes))
  const hints = [
    ...(isDeeper
      ? [
          `Nodes below level ${depth_max} of ${deepest + 1} are left out: --depth ${Math.min(100, deepest + 1)}.`,
        ]
      : []),
    ...(next_cursor === null ? [] : [`Next page: --cursor ${next_cursor}`]),
    ...(task_id === null ? [] : [`Its task: looptrace task ${oneLine(task_id)}`]),
  ]
  return [
    `${io.styled('bold', oneLine(trace_id))}  ${sums.filter((one) => one !== '').join('  ')}`,
    '',
    rows.length === 0 ? 'No observations found.\n' : tableOf(columns, rows, { io }),
    ...hints,
    '',
  ].join('\n')
}

/** Returns whether children of a node are left out because of the depth. */
function isCut(node: NodeReply, depth_max: number, nodes: readonly NodeReply[]): boolean {
  const top = nodes[0]?.depth ?? 0
  return node.children.total > 0 && node.children.shown === 0 && node.depth - top >= depth_max - 1
}

function nodeRow(node: NodeReply, branch: string, { isCut }: { isCut: boolean }): Row {
  const { name, type, offset_ms, duration_ms, rollup, children, details, node_id } = node
  const left = children.total - children.shown
  const error = [details?.error_type, details?.error_message].filter(Boolean).join(': ')
  const more =
    left === 0
      ? []
      : isCut
        ? [`… ${countText(left)} below: --parent ${node_id}`]
        : [`… ${countText(left)} more: --cursor ${children.next_cursor}`]
  const model = details?.model ? ` (${details.model})` : ''
  return {
    cells: [
      `${branch}${name === '' ? node_id : name}${model}`,
      type,
      `+${durationText(Math.max(0, offset_ms))}`,
      durationText(duration_ms),
      rollup.tokens.total ? countText(rollup.tokens.total) : '',
      Number(rollup.cost_usd) === 0 ? '' : costText(rollup.cost_usd),
      statusCell(node),
    ],
    below: [
      ...(error === '' ? [] : [{ text: `${error}`, style: 'red' as const }]),
      ...more.map((text) => ({ text, style: 'dim' as const })),
    ],
  }
}

function statusCell({ status, marks }: NodeReply): Cell {
  const text = [status ?? '', ...marks].filter((word) => word !== '' && word !== 'ok').join(', ')
  return { text, style: status === 'error' ? 'red' : 'yellow' }
}

/**
 * Draws the branches of a tree, such as `│  └─ `, for each node. Nodes are given by their depths, parents
 * before children; nodes at the depth of the first are roots, without branches.
 */
export function drawBranches(depths: readonly number[]): string[] {
  const [top = 0] = depths
  /** Whether a node at each depth follows, seen from the end. */
  const follows: boolean[] = []
  const drawn = depths.toReversed().map((depth) => {
    // Deeper nodes that follow are below this one or below a later one.
    follows.length = Math.min(follows.length, depth + 1)
    const bars = Array.from({ length: Math.max(0, depth - top - 1) }, (_, i) =>
      follows[top + 1 + i] === true ? '│  ' : '   ',
    )
    const own = depth <= top ? '' : follows[depth] === true ? '├─ ' : '└─ '
    follows[depth] = true
    return `${bars.join('')}${own}`
  })
  return drawn.toReversed()
}

/** The parts of a reply of the explorer that are printed; another version of the API may have more. */

const count = z.number()
const text = z.string()

const rollup = z.object({
  observations: count,
  calls: count,
  errors: count,
  tokens: z.object({ total: count.nullable() }),
  cost_usd: text,
})

/** A node of the tree. */
const nodeReply = z.object({
  node_id: text,
  parent_id: text.nullable(),
  depth: count,
  type: text,
  name: text,
  status: text.nullable(),
  marks: z.array(text),
  offset_ms: count,
  duration_ms: count,
  rollup,
  children: z.object({ total: count, shown: count, next_cursor: text.nullable() }),
  details: z
    .object({
      model: text.nullable(),
      error_type: text.nullable(),
      error_message: text.nullable(),
    })
    .nullable(),
})
export type NodeReply = z.output<typeof nodeReply>

/** A page of the explorer. */
export const traceReply = z.object({
  trace_id: text,
  summary: z.object({
    task_id: text.nullable(),
    start_time: text.nullable(),
    duration_ms: count,
    depth_max: count,
    rollup,
  }),
  parent_id: text.nullable(),
  total: count,
  nodes: z.array(nodeReply),
  next_cursor: text.nullable(),
})
type TraceReply = z.output<typeof traceReply>
