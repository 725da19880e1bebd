import { backOff } from '../../kernel/back-off.ts'
import { printable } from '../../kernel/printable.ts'
import { sleep } from '../../kernel/time.ts'
import { type Arguments, type CommandIo, exitStatus, NoAnswer, UsageError } from '../command.ts'
import { parametersFrom } from '../list-options.ts'
import { printableJsonLine } from '../output.ts'
import { openProjectApi, type ProjectApi, readAnswer } from '../project-api.ts'
import { taskFilters, taskParameters } from './task-options.ts'
import { type TaskReply, taskList } from './task-replies.ts'
import { taskTable } from './task-table.ts'

/** Tasks of one request: those with the latest activity, of which changes are printed. */
const watched_max = 500

const last_max = 100
const interval_s_max = 60

/** Wait after requests without an answer. */
const outage = { base_ms: 1_000, max_ms: 30_000, jitter: -0.25 }

/**
 * Prints tasks as they come and change, until the stop signal. Requests without an answer are
 * repeated; only the first one must succeed.
 */
export async function tail(args: Arguments, io: CommandIo): Promise<number> {
  const api = openProjectApi(io)
  const last = wholeNumber(args, 'last', { min: 0, max: last_max, fallback: 10 })
  const interval_s = wholeNumber(args, 'interval', { min: 1, max: interval_s_max, fallback: 2 })
  const parameters = parametersFrom(args, taskFilters, { io, names: taskParameters })
  parameters.set('limit', String(watched_max))
  const changes = new TaskChanges()
  const print = printer(args, io)
  const first = await readTasks(api, parameters).catch(endedBy(io))
  if (first === undefined) return exitStatus.ok
  print(changes.take(first).slice(last === 0 ? first.length : -last))
  const ask = () => readTasks(api, parameters).catch(outageOf)
  await follow({ ask, interval_ms: interval_s * 1_000, io }, (tasks) => print(changes.take(tasks)))
  return exitStatus.ok
}

type Followed = {
  ask: () => Promise<TaskReply[] | NoAnswer>
  interval_ms: number
  io: CommandIo
}

/** Asks until the stop signal; less often while there is no answer. */
async function follow(
  { ask, interval_ms, io }: Followed,
  take: (tasks: readonly TaskReply[]) => void,
): Promise<void> {
  for (let failures = 0; ; ) {
    await sleep(failures === 0 ? interval_ms : backOff(outage, failures), io.stop)
    if (io.stop.aborted) return
    const answer = await ask()
    if (io.stop.aborted) return
    const isGone = answer instanceof NoAnswer
    io.err(outageText(answer, failures))
    failures = isGone ? failures + 1 : 0
    if (!isGone) take(answer)
  }
}

/** Returns the line for the first request without an answer, and for the first one after it. */
function outageText(answer: TaskReply[] | NoAnswer, failures: number): string {
  if (answer instanceof NoAnswer) {
    return failures === 0 ? `looptrace tail: ${printable(answer.message)}; trying again\n` : ''
  }
  return failures === 0 ? '' : 'looptrace tail: the API answers again\n'
}

async function readTasks(api: ProjectApi, parameters: URLSearchParams): Promise<TaskReply[]> {
  const answer = await api.get('/api/v1/tasks', parameters)
  return readAnswer(taskList, answer, api).tasks
}

/** Resolves with undefined for an error after the stop signal, which ended the request. */
function endedBy({ stop }: CommandIo) {
  return (error: unknown) => {
    if (stop.aborted) return undefined
    throw error
  }
}

/** Returns an error that may pass: no answer, too many requests, or a fault of the server. */
function outageOf(error: unknown): NoAnswer {
  if (!(error instanceof NoAnswer)) throw error
  const { status } = error
  if (status === undefined || status === 429 || status >= 500) return error
  throw error
}

function printer(args: Arguments, io: CommandIo): (tasks: readonly TaskReply[]) => void {
  if (args.value('output') === 'json') {
    return (tasks) => io.out(tasks.map(printableJsonLine).join(''))
  }
  let has_headings = true
  return (tasks) => {
    if (tasks.length === 0) return
    io.out(taskTable(tasks, io, { has_headings }))
    has_headings = false
  }
}

function wholeNumber(
  args: Arguments,
  option: string,
  { min, max, fallback }: { min: number; max: number; fallback: number },
): number {
  const text = args.value(option)
  if (text === undefined) return fallback
  const value = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw new UsageError(`--${option}: got "${text}", expected a whole number from ${min} to ${max}`)
}

/** The tasks that were active lately, to find which of them changed. */
class TaskChanges {
  #known = new Map<string, string>()

  /**
   * Returns the tasks of a page that are new or changed since the last page, the latest activity last.
   * Tasks that are not on the page are forgotten, so that memory is bounded by the page.
   */
  take(page: readonly TaskReply[]): TaskReply[] {
    const known = new Map(page.map((task) => [task.task_id, signOf(task)]))
    const changed = page.filter(({ task_id }) => this.#known.get(task_id) !== known.get(task_id))
    this.#known = known
    return changed.toSorted(
      (a, b) => Date.parse(a.last_activity_at) - Date.parse(b.last_activity_at),
    )
  }
}

/** Returns what has to differ for a task to be printed again. */
function signOf({ state, stalled, calls, errors, last_activity_at, verdict }: TaskReply): string {
  const verdictSign = verdict && [verdict.summary, verdict.worst_severity]
  return JSON.stringify([state, stalled, calls, errors, last_activity_at, verdictSign])
}
