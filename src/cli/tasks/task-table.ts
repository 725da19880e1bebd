import type { CommandIo, Style } from '../command.ts'
import { costText, countText, severityStyle, timeText } from '../terminal/formats.ts'
import { type Cell, type Column, tableOf } from '../terminal/table.ts'
import type { TaskReply } from './task-replies.ts'

const columns: readonly Column[] = [
  { heading: 'TASK', shrinks_to: 16, width_min: 16 },
  { heading: 'STATE', width_min: 9 },
  { heading: 'SEVERITY', width_min: 8 },
  { heading: 'CALLS', align: 'right', width_min: 5 },
  { heading: 'TOKENS', align: 'right', width_min: 8 },
  { heading: 'COST', align: 'right', width_min: 9 },
  { heading: 'LAST ACTIVITY', width_min: 19 },
  { heading: 'VERDICT', shrinks_to: 40, below: true },
]

/** Formats tasks as a table; in a narrow terminal the verdicts are below the rows. */
export function taskTable(
  tasks: readonly TaskReply[],
  io: CommandIo,
  { has_headings = true }: { has_headings?: boolean } = {},
): string {
  const rows = tasks.map((task) => taskRow(task, io))
  return tableOf(columns, rows, { io, has_headings })
}

function taskRow(task: TaskReply, io: CommandIo): Cell[] {
  const { task_id, calls, tokens, cost_usd, last_activity_at, verdict } = task
  const severity = verdict?.worst_severity ?? ''
  return [
    { text: task_id, style: 'bold' },
    { text: stateOf(task), style: stateStyle(task) },
    { text: severity, style: severityStyle(severity) },
    countText(calls),
    countText(tokens.total),
    costText(cost_usd),
    timeText(last_activity_at, io),
    verdict === null ? { text: 'not analysed yet', style: 'dim' } : verdict.summary,
  ]
}

/** Returns the state of a task in a word; a running task without calls for long is stalled. */
export function stateOf({ state, stalled }: Pick<TaskReply, 'state' | 'stalled'>): string {
  return stalled ? 'stalled' : state
}

/** Returns the style of the state of a task. */
export function stateStyle(task: Pick<TaskReply, 'state' | 'stalled'>): Style {
  const state = stateOf(task)
  return state === 'failed' ? 'red' : state === 'stalled' ? 'yellow' : 'green'
}
