import type { Browser } from 'playwright-core'
import { noChromium, openChromium } from '../../test/support/chromium.ts'
import { apiByToken } from '../../test/support/clients/api-reader.ts'
import { ensureConsole, openTab, type Tab } from '../../test/support/console.ts'
import { taskListOf } from '../../test/support/console-answers.ts'
import { eventually } from '../../test/support/eventually.ts'
import { startSingleMachine } from '../../test/support/single-machine.ts'
import { median } from '../rounds.ts'
import type { ConsoleFacts, FramesRow } from './facts.ts'
import { storeLongTrace } from './long-trace.ts'
import {
  type Frames,
  firstPaintScript,
  measureFramesScript,
  noteFirstRow,
  outlineTimesScript,
} from './page-scripts.ts'

const seconds = 4
const tasks = 10_000
const steps = 100_000
/** Openings of a page before those that count. */
const warmUps = 1

type World = {
  browser: Browser
  service: Parameters<typeof openTab>[1]
  api: Awaited<ReturnType<typeof apiByToken>>
}

/** Measures the console in a Chromium: scrolling, the outline of a long trace, and the first paint. */
export async function measureConsole(rounds: number): Promise<ConsoleFacts> {
  await using parts = new AsyncDisposableStack()
  const browser = await openChromium()
  if (browser === undefined) throw new Error(noChromium)
  parts.defer(() => browser.close())
  await ensureConsole()
  const machine = parts.use(await startSingleMachine())
  const service = { base_url: machine.service.base_url, login: machine.login }
  const api = await apiByToken({ api_url: service.base_url, login: machine.login })
  const world = { browser, service, api }
  await storeTask(world)
  const paint = await measurePaint(world, rounds)
  console.log(paint)
  const list = await measureTaskList(world, rounds)
  console.log(list)
  const { frames, ...outline } = await measureOutline(world, rounds)
  console.log(frames, outline)
  return { rounds, seconds, frames: [list, frames], outline: { steps, ...outline }, paint }
}

const byProject = ({ service }: World) => `project_id=${service.login.project_id}`

async function storeTask(world: World): Promise<void> {
  const { base_url, login } = world.service
  await fetch(`${base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'x-api-key': login.project_key,
      authorization: 'Bearer provider-key',
      'x-task-id': 'bench',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model: 'gpt-4.1-mini', messages: [{ role: 'user', content: 'hello' }] }),
  })
  await eventually('the task is listed', async () => {
    return (await world.api.get(`/api/v1/tasks/bench?${byProject(world)}`)).status === 200
  })
}

/** Measures the first paint of the list of tasks, and of an answer of a line, each in a new profile. */
async function measurePaint(world: World, rounds: number): Promise<ConsoleFacts['paint']> {
  const { base_url } = world.service
  const times: Record<'tasks' | 'blank', number[]> = { tasks: [], blank: [] }
  for (let round = -warmUps; round < rounds; round += 1) {
    for (const what of ['blank', 'tasks'] as const) {
      await using tab = await openTab(world.browser, world.service)
      if (what === 'tasks') await tab.open('tasks')
      else await tab.page.goto(`${base_url}/blank`)
      const time_ms = (await tab.page.evaluate(firstPaintScript)) as number
      if (round >= 0) times[what].push(time_ms)
    }
  }
  return { tasks_ms: median(times.tasks), blank_ms: median(times.blank) }
}

/** Measures the list of tasks with all rows in one answer. */
async function measureTaskList(world: World, rounds: number): Promise<FramesRow> {
  const { body } = await world.api.get(`/api/v1/tasks?${byProject(world)}`)
  const [task = {}] = body['tasks'] as object[]
  const answer = taskListOf(task, tasks)
  await using tab = await openTab(world.browser, world.service)
  await tab.page.route('**/api/v1/tasks?*', (route) =>
    route.fulfill({ contentType: 'application/json', body: answer }),
  )
  await tab.open('tasks')
  await tab.page.getByText('task 0', { exact: true }).waitFor()
  const scroll = { row: 'tbody tr', start: 'scrollTo(0, 0)', eachFrame: 'scrollBy(0, 300)' }
  return await measureFrames(tab, { what: 'tasks', rows: tasks, scroll, rounds })
}

async function measureOutline(world: World, rounds: number) {
  const { base_url, login } = world.service
  const target = { base_url, ...login, api: world.api }
  const trace_id = await storeLongTrace(target, steps)
  const opened: { fetch_ms: number; drawn_ms: number; heap_bytes: number }[] = []
  let frames: FramesRow | undefined
  for (let round = -warmUps; round < rounds; round += 1) {
    await using tab = await openTab(world.browser, world.service)
    await tab.page.addInitScript(noteFirstRow)
    await tab.open(`traces/${trace_id}`)
    await tab.page.getByRole('treeitem').first().waitFor()
    const times = (await tab.page.evaluate(outlineTimesScript)) as (typeof opened)[0]
    if (round >= 0) opened.push({ ...times, heap_bytes: await heapOf(tab) })
    if (round === rounds - 1) frames = await measureTree(tab, rounds)
  }
  if (frames === undefined) throw new Error('no rounds')
  return {
    frames,
    drawn_ms: median(opened.map(({ drawn_ms }) => drawn_ms)),
    fetch_ms: median(opened.map(({ fetch_ms }) => fetch_ms)),
    heap_bytes: Math.max(...opened.map(({ heap_bytes }) => heap_bytes)),
  }
}

function measureTree(tab: Tab, rounds: number): Promise<FramesRow> {
  const tree = `document.querySelector('[role="tree"]').parentElement`
  const scroll = {
    row: '[role=treeitem]',
    start: `${tree}.scrollTop = 0`,
    eachFrame: `${tree}.scrollTop += 300`,
  }
  return measureFrames(tab, { what: 'steps of a trace', rows: steps, scroll, rounds })
}

type Scrolled = {
  what: string
  rows: number
  rounds: number
  scroll: { row: string; start: string; eachFrame: string }
}

/** Measures the frames of a page at rest and of the scrolled page, in turn. */
async function measureFrames(
  tab: Tab,
  { what, rows, rounds, scroll }: Scrolled,
): Promise<FramesRow> {
  const { row, start, eachFrame } = scroll
  const pairs: { idle: Frames; scrolled: Frames }[] = []
  const measure = async (each: string) =>
    (await tab.page.evaluate(measureFramesScript(seconds, row, each))) as Frames
  for (let round = 0; round < rounds; round += 1) {
    await tab.page.evaluate(start)
    await tab.page.waitForTimeout(500)
    pairs.push({ idle: await measure(''), scrolled: await measure(eachFrame) })
  }
  return {
    what,
    rows,
    dom_rows: Math.max(...pairs.map(({ scrolled }) => scrolled.dom_rows)),
    idle_p95_ms: median(pairs.map(({ idle }) => idle.p95_ms)),
    scrolled_p95_ms: median(pairs.map(({ scrolled }) => scrolled.p95_ms)),
    ratio: median(pairs.map(({ idle, scrolled }) => scrolled.p95_ms / idle.p95_ms)),
    long_tasks_ms: Math.max(...pairs.map(({ scrolled }) => scrolled.long_tasks_ms)),
  }
}

/** Returns the bytes of the JavaScript heap after a collection. */
async function heapOf({ page }: Tab): Promise<number> {
  const client = await page.context().newCDPSession(page)
  await client.send('HeapProfiler.collectGarbage')
  const { usedSize } = await client.send('Runtime.getHeapUsage')
  await client.detach()
  return usedSize
}
