import { type Arguments, type CommandIo, exitStatus } from '../command.ts'
import { render } from '../output.ts'
import { openProjectApi, type ProjectApi, readAnswer } from '../project-api.ts'
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
import {
  type EntryReply,
  entryReply,
  type FindingReply,
  findingList,
  type TaskReply,
  taskReply,
  timelineReply,
} from './task-replies.ts'
import { joinEntries } from './task-steps.ts'
import { stateOf, stateStyle } from './task-table.ts'

/** Prints a task with its verdict, its findings and its steps. */
export async function showTask(args: Arguments, io: CommandIo): Promise<number> {
  const api = openProjectApi(io)
  const path = `/api/v1/tasks/${encodeURIComponent(args.words[0] ?? '')}`
  // The task first: without it, one answer says what is wrong.
  const task = await api.get(path)
  const [findings, timeline] = await Promise.all([
    api.get(`${path}/findings`),
    readTimeline(api, path),
  ])
  const shown = {
    task: readAnswer(taskReply, task, api),
    ...readAnswer(findingList, findings, api),
    entries: timeline.entries.flatMap((entry) => entryReply.safeParse(entry).data ?? []),
    entries_total: timeline.total,
    is_whole: timeline.next_cursor === null,
  }
  const page = () => taskPage(shown, io, { is_full: args.flag('full') })
  io.out(render(args, { task, findings, timeline }, page))
  return exitStatus.ok
}

const page_size = 1_000
const pages_max = 5

/** Reads the timeline of a task, at most `pages_max` pages, as one page. */
async function readTimeline(api: ProjectApi, path: string) {
  const entries: unknown[] = []
  const asked = new URLSearchParams({ limit: String(page_size) })
  for (let page = 1; ; page++) {
    const answer = readAnswer(timelineReply, await api.get(`${path}/timeline`, asked), api)
    entries.push(...answer.entries)
    if (answer.next_cursor === null || page === pages_max) return { ...answer, entries }
    asked.set('cursor', answer.next_cursor)
  }
}

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
    ['cluster', task.cluster_name],
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
