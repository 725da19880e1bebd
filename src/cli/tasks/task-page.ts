import type { CommandIo } from '../command.ts'
import {
  costText,
  countText,
  durationText,
  severityStyle,
  zonedTimeText,
} from '../terminal/formats.ts'
import { belowLines } from '../terminal/table.ts'
import { oneLine } from '../terminal/terminal-text.ts'
import { foldLoops } from './fold-loops.ts'
import { stepTable } from './step-table.ts'
import type { EntryReply, FindingReply, TaskReply } from './task-replies.ts'
import { joinEntries } from './task-steps.ts'
import { stateOf, stateStyle } from './task-table.ts'

/** A task as it is shown. */
export type ShownTask = {
  task: TaskReply
  findings: readonly FindingReply[]
  /** Whether the findings are those of the task as it is now. */
  is_current: boolean
  not_checked: readonly { detector: string; reason: string }[]
  entries: readonly EntryReply[]
  entries_total: number
  /** Whether the entries are all of the task. */
  is_whole: boolean
}

/** Formats a task: verdict, root cause, findings and steps. All texts of it are hostile. */
export function taskPage(
  shown: ShownTask,
  io: CommandIo,
  { is_full }: { is_full: boolean },
): string {
  const { task, findings, entries, entries_total, is_whole } = shown
  const items = joinEntries(entries, findings)
  const sections = is_full ? [{ kind: 'items' as const, items }] : foldLoops(items, findings)
  const steps = stepTable(sections, { task, findings, io, is_full })
  const cut = is_whole
    ? []
    : [`The first ${countText(entries.length)} of ${countText(entries_total)} entries.`]
  return [
    ...headerLines(task, io),
    '',
    ...verdictLines(shown, io),
    ...findings.flatMap((finding) => ['', ...findingLines(finding, io)]),
    '',
    io.styled('bold', 'STEPS'),
    `${steps}${cut.map((line) => `${line}\n`).join('')}`,
  ].join('\n')
}

function headerLines(task: TaskReply, io: CommandIo): string[] {
  const { task_id, name, started_at, duration_ms, calls, errors, tokens, cost_usd } = task
  const cost = `${costText(cost_usd)}${task.unpriced_calls === 0 ? '' : ` without ${task.unpriced_calls} calls of unknown price`}`
  const sums = [
    `${countText(calls)} calls`,
    ...(errors === 0 ? [] : [`${countText(errors)} failed`]),
    `${countText(tokens.total)} tokens`,
    cost,
    durationText(duration_ms),
    zonedTimeText(started_at, io),
  ]
  const facts = [
    ['models', task.models.join(', ')],
    ['user', task.user_id],
    ['environment', task.environment],
    ['release', task.release],
    ['note', task.end_note],
  ].filter((fact): fact is [string, string] => fact[1] !== null && fact[1] !== '')
  return [
    `${io.styled('bold', oneLine(task_id))}  ${oneLine(name)}`.trimEnd(),
    `${io.styled(stateStyle(task), stateOf(task))}  ${sums.join('  ')}`,
    ...facts.flatMap(([label, text]) => belowLines({ text: `${label}: ${text}` }, io)),
  ]
}

function verdictLines({ task: { verdict }, ...shown }: ShownTask, io: CommandIo): string[] {
  if (verdict === null) return [`${io.styled('bold', 'VERDICT')}  not analysed yet`]
  const { worst_severity, summary, root_cause, wasted_tokens, wasted_cost_usd } = verdict
  const severity = worst_severity ?? 'none'
  const waste =
    wasted_tokens === 0
      ? []
      : [`wasted: ${countText(wasted_tokens)} tokens, ${costText(wasted_cost_usd)}`]
  const cause =
    root_cause === null ? [] : [`root cause: ${root_cause.type}${atStep(root_cause.step)}`]
  const stale = shown.is_current ? [] : ['The task has changed since; its next analysis is due.']
  const unchecked = shown.not_checked.map(
    ({ detector, reason }) => `not checked by ${detector}: ${reason}`,
  )
  return [
    `${io.styled('bold', 'VERDICT')}  ${io.styled(severityStyle(severity), severity)}`,
    ...belowLines({ text: oneLine(summary), wraps: true }, io),
    ...[...cause, ...waste, ...stale, ...unchecked].flatMap((text) =>
      belowLines({ text: oneLine(text), wraps: true }, io),
    ),
  ]
}

function atStep(step: number | null): string {
  return step === null ? '' : ` at step ${step + 1}`
}

/** Fields of the evidence of a finding that are shown. */
const maxEvidenceFields = 8

function findingLines(finding: FindingReply, io: CommandIo): string[] {
  const { severity, type, kind, state, summary, evidence, wasted_tokens } = finding
  const facts = [
    kind,
    state,
    stepsText(finding),
    wasted_tokens === 0
      ? ''
      : `${countText(wasted_tokens)} tokens (${costText(finding.wasted_cost_usd)}) wasted`,
    `confidence ${finding.confidence}`,
  ].filter((fact) => fact !== '')
  const fields = Object.entries(evidence).slice(0, maxEvidenceFields)
  return [
    `${io.styled('bold', 'FINDING')}  ${io.styled(severityStyle(severity), oneLine(severity))}  ${oneLine(type)}`,
    ...belowLines({ text: oneLine(facts.join(', ')), wraps: true }, io),
    ...belowLines({ text: oneLine(summary), wraps: true }, io),
    ...fields.flatMap(([name, value]) =>
      belowLines({ text: `${name}: ${evidenceText(value)}`, style: 'dim' }, io),
    ),
  ]
}

function evidenceText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Returns the steps of a finding, counted from 1 as in verdicts: `steps 2–6`. */
function stepsText({ start_step, end_step, repeats }: FindingReply): string {
  if (start_step === null) return ''
  const times = repeats === null || repeats < 2 ? '' : ` ×${repeats}`
  const isRange = end_step !== null && end_step > start_step
  return isRange
    ? `steps ${start_step + 1}–${end_step + 1}${times}`
    : `step ${start_step + 1}${times}`
}
