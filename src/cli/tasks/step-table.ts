import type { CommandIo, Style } from '../command.ts'
import { costText, countText, durationText, severityStyle } from '../terminal/formats.ts'
import { type Below, type Cell, type Column, type Row, tableOf } from '../terminal/table.ts'
import type { Section } from './fold-loops.ts'
import type { FindingReply, ModelCallReply, TaskReply, ToolCallReply } from './task-replies.ts'
import { keyOf, type TaskItem, type ToolUse } from './task-steps.ts'

const columns: readonly Column[] = [
  { heading: 'STEP', align: 'right' },
  { heading: '' },
  { heading: 'AT', align: 'right' },
  { heading: 'WHAT', shrinks_to: 20 },
  { heading: 'DURATION', align: 'right' },
  { heading: 'TOKENS', align: 'right' },
  { heading: 'COST', align: 'right' },
]

/** Columns before the contents. A content is printed below its step. */
const contentIndent = 8

/** The task of the steps, and how they are printed. */
type StepContext = {
  task: TaskReply
  findings: readonly FindingReply[]
  io: CommandIo
  /** Whether contents are printed whole. */
  is_full: boolean
}

/** Formats the steps of a task; the iterations of a loop are one line with ×n. */
export function stepTable(sections: readonly Section[], context: StepContext): string {
  const rows = sections.flatMap((section) =>
    section.kind === 'items'
      ? section.items.map((item) => itemRow(item, context))
      : loopRows(section, context),
  )
  return rows.length === 0
    ? 'No steps found.\n'
    : tableOf(columns, rows, { io: context.io, indent: contentIndent })
}

function loopRows(loop: Extract<Section, { kind: 'loop' }>, context: StepContext): Row[] {
  const steps = loop.items.flatMap(({ step }) => step ?? [])
  const calls = loop.items.flatMap(({ call }) => call ?? [])
  const range = `${stepNumber(steps[0])}–${stepNumber(steps.at(-1))}`
  const times: Cell = { text: `×${loop.repeats}`, style: severityStyle(loop.finding.severity) }
  return loop.shown.map((item, i) => {
    const row = itemRow(item, context)
    const [, , at = '', what = ''] = row.cells
    const sums = i === 0 ? sumCells(calls) : ['', '', '']
    const head: Cell[] = i === 0 ? [range, times] : ['', '']
    return { cells: [...head, at, what, ...sums], below: row.below }
  })
}

function itemRow(item: TaskItem, context: StepContext) {
  const { step, call, uses } = item
  const marks = call === undefined ? [] : marksOf(call, context.findings)
  const calls = call === undefined ? [] : [call]
  const cells: Cell[] = [
    markedStep(step, call, context),
    '',
    `+${durationText(Math.max(0, Date.parse(item.time) - Date.parse(context.task.started_at)))}`,
    whatOf(item),
    ...(call === undefined ? [durationOf(item), '', ''] : sumCells(calls)),
  ]
  const below: Below[] = [...marks, ...uses.flatMap((use) => useLines(use, context))]
  return { cells, below: [...below, ...errorLines(item), ...contentLines(item, context)] }
}

function stepNumber(step: number | null | undefined): string {
  return step == null ? '' : String(step + 1)
}

function markedStep(
  step: number | null,
  call: ModelCallReply | undefined,
  { task, findings }: StepContext,
): Cell {
  const cause = findings.find(
    ({ finding_id }) => finding_id === task.verdict?.root_cause?.finding_id,
  )
  const [place] = cause?.places ?? []
  const isCause = call !== undefined && place !== undefined && keyOf(place) === keyOf(call)
  const text = stepNumber(step)
  return isCause ? { text, style: 'red' } : text
}

function sumCells(calls: readonly ModelCallReply[]): string[] {
  const sum = (read: (call: ModelCallReply) => number) =>
    calls.reduce((total, call) => total + read(call), 0)
  const isPriced = calls.some(({ cost_usd }) => cost_usd !== null)
  return [
    durationText(sum(({ latency_ms }) => latency_ms)),
    countText(sum(({ tokens }) => tokens.total)),
    isPriced ? costText(String(sum(({ cost_usd }) => Number(cost_usd ?? 0)))) : '',
  ]
}

function durationOf({ other }: TaskItem): string {
  return other?.role === 'operation' ? durationText(other.latency_ms) : ''
}

function whatOf({ call, other, uses }: TaskItem): Cell {
  if (call !== undefined) {
    const name = call.model === '' ? call.type : call.model
    if (call.status === 'ok') return name
    return { text: `${name} ${call.status}`, style: 'red' }
  }
  if (other === undefined) return `tool ${uses[0]?.call.tool_name ?? ''}`
  if (other.role === 'tool_result') return `result of ${other.tool_name ?? 'an unknown tool'}`
  if (other.role === 'operation') return `${other.type} ${other.name}`
  const note = other.note === null ? '' : `: ${other.note}`
  return { text: `${other.change} by ${other.actor.kind}${note}`, style: 'dim' }
}

/** Returns the findings that begin at a call. */
function marksOf(call: ModelCallReply, findings: readonly FindingReply[]): Below[] {
  return findings
    .filter(({ places: [first] }) => first !== undefined && keyOf(first) === keyOf(call))
    .map(({ severity, type }) => ({
      text: `! ${severity}: ${type}`,
      style: severityStyle(severity),
    }))
}

function useLines({ call, result }: ToolUse, context: StepContext): Below[] {
  const asked = contentLine(`→ ${call.tool_name} ${call.arguments}`, call, context)
  if (result === undefined) {
    return [asked, ...(call.orphan ? [{ text: '← no result', style: 'yellow' as const }] : [])]
  }
  const style: Style = result.error === null ? 'dim' : 'red'
  return [asked, { ...contentLine(`← ${result.content}`, result, context), style }]
}

function contentLine(
  text: string,
  { is_cut }: Pick<ToolCallReply, 'is_cut'>,
  { is_full }: StepContext,
): Below {
  return { text: is_cut ? `${text}… (cut by the API)` : text, wraps: is_full }
}

function contentLines({ other }: TaskItem, context: StepContext): Below[] {
  return other?.role === 'tool_result' ? [contentLine(`← ${other.content}`, other, context)] : []
}

function errorLines({ call, other, uses }: TaskItem): Below[] {
  const ofTools = uses.map(({ result }) => result?.error ?? null)
  const own = call?.error ?? (other !== undefined && 'error' in other ? other.error : null)
  return [own, ...ofTools].flatMap((error) =>
    error === null
      ? []
      : { text: `error: ${[error.type, error.message].filter(Boolean).join(': ')}`, style: 'red' },
  )
}
