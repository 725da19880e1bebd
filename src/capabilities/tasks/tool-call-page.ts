import type { TaskRun, ToolUse } from '../detection/reconstruction/index.ts'
import {
  comparePositions,
  type PageEnd,
  positionBefore,
  type TimelinePosition,
} from './timeline-entry.ts'
import { openTaskWindow, unreadIds } from './window/open-window.ts'
import type { TaskExtent } from './window/read-rows.ts'
import type { TaskWindow, TaskWindowReader, WindowPorts } from './window/task-window.ts'

type ToolCallQuery = {
  after: PageEnd | undefined
  limit: number
  matches: (use: ToolUse) => boolean
}

/** A page of tool calls, and the run that they belong to. */
type ToolCallPage = {
  run: TaskRun
  uses: ToolUse[]
  /** All tool calls that were read. */
  all: readonly ToolUse[]
  total: number
  /** Whether `total` is exact, and `all` are those of the task. */
  is_exact: boolean
  numbers: Numbers
  /** Undefined on the last page. */
  end: PageEnd | undefined
}

/** How steps and threads of a window are numbered in the task. */
export type Numbers = {
  /** The number of steps before the window. */
  step_offset: number
  /** The number of each thread. */
  threads: readonly number[]
}

/**
 * Reads a page of a task's tool calls and as much of the task as it needs: all of a small task, else
 * the rows around the page. Rejects with `store_unavailable`, and with the signal's reason after it
 * aborts.
 */
export async function readToolCallPage(
  ports: WindowPorts,
  task: TaskExtent,
  query: ToolCallQuery,
): Promise<ToolCallPage> {
  // A call often asks for one tool, and a timeline shows the call and the result too.
  const entries = query.limit * 2
  const asked = { instant: query.after?.position.time, entries, has_sums: false }
  const { reader } = await openTaskWindow(ports, task, asked)
  let window = await reader.window()
  let page = cutPage(window, query)
  while (needsRows(reader, page, { query, ports })) {
    await reader.extendFor(entries)
    window = await reader.window()
    page = cutPage(window, query)
  }
  const ids = unjoinedIds(page, window, query.after)
  if (ids.asked.length + ids.answered.length > 0) {
    await reader.addToolRows(ids)
    window = await reader.window()
    page = cutPage(window, query)
  }
  const { run, tools, start, frontier } = window
  const numbers = numbersFrom(window, page.placed, query.after)
  const is_exact = start === undefined && frontier === undefined
  return {
    run,
    uses: page.shown.map(({ use }) => use),
    all: tools,
    total: is_exact ? page.wanted.length : expectedTotal(window, page.wanted.length, task),
    is_exact,
    numbers,
    end: pageEnd(page, window, numbers),
  }
}

/** Tool calls are expected to be as frequent in the task as in the part that was read. */
function expectedTotal({ run }: TaskWindow, found: number, { calls }: TaskExtent): number {
  const read = run.calls.length
  return Math.max(found, read === 0 ? 0 : Math.round((found / read) * calls))
}

/** Whether the page lacks tool calls, or rows after it that may have their results. */
function needsRows(
  reader: TaskWindowReader,
  { shown, following }: Cut,
  { query, ports }: { query: ToolCallQuery; ports: WindowPorts },
): boolean {
  if (reader.isExhausted) return false
  const last = shown.at(-1)
  if (shown.length < query.limit || following.length === 0 || last === undefined) return true
  return reader.rowsAfter(last.position.time) < ports.limits.after_rows
}

type PlacedUse = { use: ToolUse; position: TimelinePosition }

type Cut = {
  placed: readonly PlacedUse[]
  wanted: readonly PlacedUse[]
  shown: readonly PlacedUse[]
  following: readonly PlacedUse[]
}

function cutPage(window: TaskWindow, { after, limit, matches }: ToolCallQuery): Cut {
  const { frontier } = window
  const placed = sortUses(window.tools)
  const settled = placed.filter(
    ({ position }) => frontier === undefined || position.time < frontier,
  )
  const wanted = settled.filter(({ use }) => matches(use))
  const behind =
    after === undefined
      ? wanted
      : wanted.filter(({ position }) => comparePositions(position, after.position) > 0)
  return { placed, wanted, shown: behind.slice(0, limit), following: behind.slice(limit) }
}

/**
 * Sorts tool uses as the timeline does, by the time of the request. Positions do not change when
 * earlier uses are recorded late.
 */
export function sortUses(tools: readonly ToolUse[]): PlacedUse[] {
  const slots = new Map<string, number>()
  const placed = tools.map((use) => {
    const { observation_id: id } = use.asked_by
    const key = `${id} ${use.step === null}`
    const nth = slots.get(key) ?? 0
    slots.set(key, nth + 1)
    // Those that a call brings as history come first.
    const slot = use.step === null ? nth - tools.length : nth
    return { use, position: { time: use.asked_at, phase: 1, start: use.asked_from, id, slot } }
  })
  return placed.sort((a, b) => comparePositions(a.position, b.position))
}

/** Maximum ids that are looked for. */
const ids_max = 500

/** Returns the ids of tool calls on a page whose other end may not be in the window. */
function unjoinedIds({ shown }: Cut, window: TaskWindow, after: PageEnd | undefined) {
  const uses = shown.map(({ use }) => use).filter(({ tool_call_id }) => tool_call_id !== '')
  const idsOf = (is: (use: ToolUse) => boolean) => {
    return uses
      .filter(is)
      .map(({ tool_call_id }) => tool_call_id)
      .slice(0, ids_max)
  }
  return {
    asked: idsOf(({ is_answered }) => !is_answered),
    answered: [
      ...unreadIds(window, after),
      ...idsOf(({ step, is_answered }) => step === null && is_answered),
    ].slice(0, ids_max),
  }
}

/**
 * Returns the numbers that continue those of the page before: a window numbers steps and threads from
 * its own first call.
 */
function numbersFrom(
  { run, start }: TaskWindow,
  placed: readonly PlacedUse[],
  after: PageEnd | undefined,
): Numbers {
  if (start === undefined || after === undefined) {
    return { step_offset: 0, threads: run.threads.map(({ index }) => index) }
  }
  const step = lastStep(placed, after.position)
  const step_offset = step === undefined ? 0 : after.count - step
  return { step_offset, threads: continueThreads(run, after.threads) }
}

/** Returns the number of the last step up to a position that asked for a tool. */
function lastStep(placed: readonly PlacedUse[], position: TimelinePosition): number | undefined {
  const found = placed.findLast((one) => {
    return one.use.step !== null && comparePositions(one.position, position) <= 0
  })
  return found?.use.step ?? undefined
}

/** Numbers threads by the calls that a cursor names; threads without such a call are new. */
function continueThreads({ threads, calls }: TaskRun, known: string): number[] {
  const numbers = new Map(
    known.split(' ').flatMap((one) => {
      const [id, number] = one.split('=')
      return id === undefined || number === undefined ? [] : [[id, Number(number)] as const]
    }),
  )
  let next = Math.max(-1, ...numbers.values()) + 1
  return threads.map((thread) => {
    const ids = thread.calls.map((call) => calls[call]?.observation_id ?? '')
    return numbers.get(ids.find((id) => numbers.has(id)) ?? '') ?? next++
  })
}

/** Maximum threads that a cursor names: those with the latest calls. */
const threads_max = 50

/** Names the last call of each thread before an instant, with the number of the thread. */
function nameThreads({ threads, calls }: TaskRun, numbers: Numbers, instant: bigint): string {
  const last = threads.flatMap((thread) => {
    const own = thread.calls.flatMap((call) => calls[call] ?? [])
    const call = own.findLast(({ start_time }) => start_time < instant)
    const number = numbers.threads[thread.index]
    return call === undefined || number === undefined ? [] : [{ call, number }]
  })
  return last
    .toSorted((a, b) => b.call.index - a.call.index)
    .slice(0, threads_max)
    .map(({ call, number }) => `${call.observation_id}=${number}`)
    .join(' ')
}

function pageEnd(
  { placed, shown, following }: Cut,
  { frontier, run }: TaskWindow,
  numbers: Numbers,
): PageEnd | undefined {
  const last = following.length > 0 ? shown.at(-1)?.position : undefined
  if (last === undefined && frontier === undefined) return undefined
  const position = last ?? positionBefore(frontier ?? 0n)
  const count = (lastStep(placed, position) ?? 0) + numbers.step_offset
  return { position, count, threads: nameThreads(run, numbers, position.time) }
}
