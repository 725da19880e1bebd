import type { Observation } from '../../../model/observation.ts'
import { readContents } from '../../detection/index.ts'
import {
  reconstruct,
  spanKey,
  type TaskRun,
  type ToolUse,
} from '../../detection/reconstruction/index.ts'
import type { ObservationStore, TimelineRow } from '../../storage/index.ts'
import { readBackward, readForward, type TaskExtent } from './read-rows.ts'

/** A part of a task: its rows in order, and the run that they give. */
export type TaskWindow = {
  rows: readonly TimelineRow[]
  run: TaskRun
  /** Tool uses without those that only the missing rows before the window explain. */
  tools: readonly ToolUse[]
  /** Those that are left out. */
  unread: readonly ToolUse[]
  /** The instant from which all rows are read; undefined: the start of the task. */
  start: bigint | undefined
  /** The instant before which all rows are read; undefined: the end of the task. */
  frontier: bigint | undefined
}

/** How much of a task a page reads around what it shows. */
export type WindowLimits = {
  /** Tasks up to this number of observations are read as a whole. */
  whole_rows_max: number
  /** Observations before a page, which have the histories that its calls continue. */
  before_rows: number
  /** Observations after a page, which have the results of its tool calls. */
  after_rows: number
  /** Observations that one request reads to find entries that match its filters. */
  rows_max: number
}

export const windowDefaults: WindowLimits = {
  whole_rows_max: 200,
  before_rows: 50,
  after_rows: 20,
  rows_max: 2_000,
}

export type WindowPorts = {
  store: ObservationStore
  limits: WindowLimits
  signal: AbortSignal
}

/** Maximum observations that began before a window and run in it. */
const running_rows_max = 100

/** Maximum observations that are read by the ids of tool calls. */
const maxToolRows = 50

/**
 * Reads a part of a task for a page of its tool calls or its timeline, as little of it as the page
 * needs. All methods reject with `store_unavailable`, and with the signal's reason after it aborts.
 */
export class TaskWindowReader {
  readonly #ports: WindowPorts
  readonly #task: TaskExtent
  readonly #rows = new Map<string, TimelineRow>()
  readonly #contents = new Map<string, Observation>()
  #start: bigint | undefined
  #next: bigint
  #last: TimelineRow | undefined
  #isAtEnd = false
  #forwardRows = 0

  constructor(ports: WindowPorts, task: TaskExtent) {
    this.#ports = ports
    this.#task = task
    this.#next = task.from
  }

  /** Whether the end of the task is read, or as many rows as a request may read. */
  get isExhausted(): boolean {
    return this.#isAtEnd || this.#forwardRows >= this.#ports.limits.rows_max
  }

  get isAtEnd(): boolean {
    return this.#isAtEnd
  }

  /** The instant from which all rows are read; undefined: the start of the task. */
  get start(): bigint | undefined {
    return this.#start
  }

  /** Moves an unread window to an instant, and reads what the entries after it need of earlier rows. */
  async moveTo(instant: bigint): Promise<void> {
    const { limits, store, signal } = this.#ports
    this.#next = instant > this.#task.from ? instant : this.#task.from
    const limit = limits.before_rows
    const earlier = await readBackward(this.#ports, this.#task, { to: this.#next, limit })
    const oldest = earlier.at(-1)
    if (oldest === undefined || earlier.length < limit) {
      this.#keep(earlier)
      return
    }
    // Others may start with the oldest one.
    const start = oldest.start_time + 1n
    this.#start = start
    this.#keep(earlier.filter((row) => row.start_time >= start))
    const { project_id, task_id, from } = this.#task
    const running = { from, to: start, ends_from: this.#next, order: 'desc' as const }
    this.#keep(
      await store.taskObservations(project_id, task_id, {
        ...running,
        limit: running_rows_max,
        signal,
      }),
    )
  }

  /** Reads what a page of this many entries likely needs, after the rows that are read. */
  async extendFor(entries: number): Promise<void> {
    await this.extend(Math.ceil(entries / 2) + this.#ports.limits.after_rows)
  }

  /** Reads more rows after those that are read. */
  async extend(limit: number): Promise<void> {
    const asked = { from: this.#next, after: this.#last, limit }
    const { rows, isAtEnd } = await readForward(this.#ports, this.#task, asked)
    this.#keep(rows)
    this.#forwardRows += rows.length
    this.#last = rows.at(-1) ?? this.#last
    this.#isAtEnd = isAtEnd
  }

  /** Counts the rows that start after an instant. */
  rowsAfter(instant: bigint): number {
    return [...this.#rows.values()].filter(({ start_time }) => start_time > instant).length
  }

  /** Reads the rows that answer some tool calls after the window, and that ask for some before it. */
  async addToolRows(ids: { asked: readonly string[]; answered: readonly string[] }): Promise<void> {
    const { store, signal } = this.#ports
    const { project_id, task_id, from } = this.#task
    const about = { limit: maxToolRows, signal }
    const [asked, answered] = [ids.asked, ids.answered].map((some) => [...new Set(some)])
    const after = { ...about, from: this.#last?.start_time ?? from, tool_call_ids: asked ?? [] }
    const before = {
      ...about,
      from,
      to: this.#start ?? from,
      tool_call_ids: answered ?? [],
      order: 'desc' as const,
    }
    const needsAfter = !this.#isAtEnd && after.tool_call_ids.length > 0
    const needsBefore = this.#start !== undefined && before.tool_call_ids.length > 0
    const found = await Promise.all([
      needsAfter ? store.taskToolRows(project_id, task_id, after) : [],
      needsBefore ? store.taskToolRows(project_id, task_id, before) : [],
    ])
    this.#keep(found.flat())
  }

  /** Reconstructs the window from what is read. */
  async window(): Promise<TaskWindow> {
    const missing = [...this.#rows].filter(([key]) => !this.#contents.has(key))
    const contents = await readContents(this.#ports.store, this.#task.project_id, {
      rows: missing.map(([, row]) => ({
        ...row,
        body_bytes: row.request_bytes + row.response_bytes,
      })),
      signal: this.#ports.signal,
    })
    for (const row of contents) this.#contents.set(keyOf(row), row)
    const run = reconstruct([...this.#contents.values()], this.#task)
    const start = this.#start
    const frontier = this.#isAtEnd ? undefined : (this.#last?.start_time ?? this.#next)
    const rows = [...this.#rows.values()].sort(compareRows)
    const isUnread = start === undefined ? () => false : unreadIn(run, this.#rows)
    const tools = run.tools.filter((use) => !isUnread(use))
    return { rows, run, tools, unread: run.tools.filter(isUnread), start, frontier }
  }

  #keep(rows: readonly TimelineRow[]): void {
    for (const row of rows) this.#rows.set(keyOf(row), row)
  }
}

/**
 * Returns which tool calls a call brings as history as the first one of its thread in the window: rows
 * before the window asked for them.
 */
function unreadIn(run: TaskRun, rows: ReadonlyMap<string, TimelineRow>) {
  const first = new Set(
    run.threads.flatMap(({ calls }) => {
      const call = run.calls[calls[0] ?? -1]
      return call === undefined ? [] : spanKey(call)
    }),
  )
  const runs = new Set([...rows.values()].filter(({ type }) => type === 'tool').map(spanKey))
  return ({ step, asked_by }: ToolUse): boolean => {
    const asker = spanKey(asked_by)
    return step === null && !runs.has(asker) && first.has(asker)
  }
}

type Identity = Pick<TimelineRow, 'start_time' | 'observation_id' | 'trace_id'>

function keyOf(row: Identity): string {
  return `${row.start_time} ${spanKey(row)}`
}

function compareRows(a: Identity, b: Identity): number {
  if (a.start_time !== b.start_time) return a.start_time < b.start_time ? -1 : 1
  if (a.observation_id !== b.observation_id) return a.observation_id < b.observation_id ? -1 : 1
  return a.trace_id < b.trace_id ? -1 : a.trace_id > b.trace_id ? 1 : 0
}
