import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { places } from '../../console/src/app/places.ts'
import { noChromium, openChromium } from '../support/chromium.ts'
import { apiByToken } from '../support/clients/api-reader.ts'
import {
  ensureConsole,
  findAxeFaults,
  keepPicture,
  type Look,
  openTab,
  settled,
  type Tab,
} from '../support/console.ts'
import { eventually } from '../support/eventually.ts'
import { loopScript, runLoop } from '../support/looping-agent.ts'
import { type SingleMachine, startSingleMachine } from '../support/single-machine.ts'
import { budget, quarterOf } from '../support/suite/budget.ts'

/** The console in a real browser, over HTTP, against role `all` with a looping agent. */

/** A parsed body; tests read it without narrowing. */
type Json = ReturnType<typeof JSON.parse>

let browser: Browser | undefined
let machine: SingleMachine
let service: { base_url: string; login: SingleMachine['login'] }
let incident_id = ''
let trace_id = ''
const parts = new AsyncDisposableStack()
const incidents = '/api/v2/observability/incidents'

/** Texts as an attacker writes them: markup, links, a hidden direction. */
const hostileName = '<img src=x onerror=alert(1)> [click](javascript:alert(2))'
const hostilePrompt = 'invoice_\u202efdp.exe <iframe src="//evil.test"></iframe>'
const task_id = 'looped/1 ?'

beforeAll(async () => {
  browser = await openChromium()
  if (browser === undefined) return
  parts.defer(() => browser?.close() ?? Promise.resolve())
  await ensureConsole()
  machine = parts.use(await startSingleMachine({ script: loopScript }))
  service = { base_url: machine.service.base_url, login: machine.login }
  const { project_id, project_key } = machine.login
  const api = await apiByToken({ api_url: service.base_url, login: machine.login })
  const of = `?project_id=${project_id}`
  const rule = {
    ...{ name: 'loops', severity: 'high', group_by: ['task_name'] },
    event: { match: { source: 'finding', kinds: ['loop'] } },
  }
  expect(await api.post(`${incidents}/rules${of}`, rule)).toMatchObject({ status: 201 })
  const key = { 'x-api-key': project_key, authorization: 'Bearer provider-key' }
  const url = `${service.base_url}/v1/chat/completions`
  await runLoop(url, { ...key, 'x-task-id': task_id, 'x-task-name': hostileName })
  const messages = [{ role: 'user', content: hostilePrompt }]
  await fetch(url, {
    method: 'POST',
    headers: { ...key, 'x-task-id': 'hostile', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4.1-mini', messages }),
  })
  await eventually('an incident is open', async () => {
    const { body } = await api.get(`${incidents}${of}`)
    incident_id = (body as Json).incidents[0]?.incident_id ?? ''
    return incident_id !== ''
  })
  const tree = await api.get(`/api/v1/tasks/${encodeURIComponent(task_id)}/explorer${of}`)
  trace_id = (tree.body as Json).nodes[0].trace_id
})
afterAll(() => parts.disposeAsync())

let tab: Tab
const lookAs = async (look?: Look) => {
  if (browser === undefined) throw new Error(noChromium)
  tab = await openTab(browser, service, look)
  return tab
}
beforeEach(({ skip }) => skip(browser === undefined, noChromium))
afterEach(async ({ task }) => {
  if (browser === undefined) return
  if (task.result?.state === 'fail') await keepPicture(tab.page, task.name)
  await tab[Symbol.asyncDispose]()
})

const taskPath = () => `tasks/${encodeURIComponent(task_id)}`

describe('every screen', () => {
  const screens = [
    ...places.map(({ path }) => path),
    ...['task', 'task?tab=steps', 'task?tab=waterfall', 'task?tab=map', 'trace', 'incident'],
  ]
  const looks: Look[] = (['light', 'dark'] as const).flatMap((theme) =>
    ([1280, 400] as const).map((width) => ({ theme, width })),
  )
  const cases = screens.flatMap((screen) => looks.map((look) => ({ screen, ...look })))

  test.each(quarterOf(cases))(
    '$screen, $theme, $width px: accessible and without faults',
    async ({ screen, ...look }) => {
      await lookAs(look)
      const [name = '', query] = screen.split('?')
      const paths: Record<string, string> = {
        task: taskPath(),
        trace: `traces/${trace_id}`,
        incident: `incidents/${incident_id}`,
      }
      await tab.open(`${paths[name] ?? name}${query === undefined ? '' : `?${query}`}`)
      await tab.page.waitForTimeout(300)
      expect(await findAxeFaults(tab.page)).toEqual([])
      expect(tab.faults).toEqual([])
      const overflow = await tab.page.evaluate('document.body.scrollWidth - innerWidth')
      expect(overflow, 'pixels beyond the window').toBeLessThanOrEqual(0)
    },
  )
})

test('from an incident to the step in three clicks', async () => {
  const { page, faults } = await lookAs()
  await tab.open('incidents')
  let clicks = 0
  const click = async (name: RegExp) => {
    clicks += 1
    await page.getByRole('link', { name }).first().click()
    await settled(page)
  }
  await click(/loops|looped|look/i)
  expect(page.url()).toContain(incident_id)
  const evidence = page.locator('a[href*="step="]').first()
  clicks += 1
  await evidence.click()
  await settled(page)
  expect(page.url()).toMatch(/\/tasks\/[^/]+\?.*step=\d/)
  await page.locator('[aria-current="step"]').first().waitFor()
  expect(clicks).toBeLessThanOrEqual(3)
  expect(faults).toEqual([])
})

test('from an incident to the step by the keyboard alone, with an acknowledgement', async () => {
  const { page, faults } = await lookAs()
  await tab.open('tasks')
  await page.keyboard.press('g')
  await page.keyboard.press('i')
  await page.getByRole('heading', { name: 'Incidents' }).waitFor()
  await settled(page)
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.waitForURL(new RegExp(incident_id))
  await settled(page)
  await page.getByRole('button', { name: /^Acknowledge/ }).waitFor()
  await page.keyboard.press('a')
  await page.getByRole('dialog').waitFor()
  for (const key of ['Tab', 'Tab', 'Enter']) await page.keyboard.press(key)
  await page.getByText('acknowledged').locator('visible=true').first().waitFor()
  await page.locator('a[href*="step="]').first().focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(/step=\d/)
  await page.locator('[aria-current="step"]').first().waitFor()
  await page.goBack()
  expect(page.url()).toContain(incident_id)
  expect(faults).toEqual([])
})

test('recorded texts are shown as text', async () => {
  const { page, faults } = await lookAs()
  await tab.open('tasks')
  await page.getByText('<img src=x onerror=alert(1)>').first().waitFor()
  await tab.open('tasks/hostile')
  await page.getByText('U+202E').first().waitFor()
  await page.getByText('<iframe src="//evil.test">').first().waitFor()
  for (const path of [taskPath(), `incidents/${incident_id}`, `traces/${trace_id}`]) {
    await tab.open(path)
    expect(await page.locator('main img, main iframe, main a[href^="javascript"]').count()).toBe(0)
  }
  expect(faults).toEqual([])
})

test('the first rows need few requests and little code', async () => {
  await lookAs()
  await tab.open('tasks')
  await tab.page.getByRole('row').nth(1).waitFor()
  const calls = tab.requests.filter((url) => url.startsWith('/api/'))
  expect(calls.filter((url) => !url.startsWith('/api/v1/events')).length).toBeLessThanOrEqual(6)
  const code = await tab.page.evaluate(`performance.getEntriesByType('resource')
    .filter(({ name }) => /\\/assets\\//.test(name))
    .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`)
  expect(code).toBeLessThanOrEqual(200_000)
})

test('a one-time link signs in, and its token leaves the address', async () => {
  const { page, faults } = await lookAs()
  await page.context().clearCookies()
  await page.goto(`${service.base_url}/p/${service.login.project_id}/tasks?from=-1h`)
  await page.getByLabel('E-mail').waitFor()
  expect(page.url()).toContain('/sign-in?return_to=')
  await page.getByLabel('E-mail').fill(service.login.admin_email)
  await page.getByLabel('Password').fill('wrong password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('The e-mail address or the password is wrong').waitFor()
  await page.getByLabel('Password').fill(service.login.admin_password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(/\/tasks\?from=-1h/)
  // The refused password is an error in the network panel of the browser.
  expect(faults.filter((fault) => !fault.includes('401'))).toEqual([])
})

test('a tab of an earlier version reloads once when a part of it is gone', async () => {
  const { page } = await lookAs()
  await page.route(/assets\/audit-.*\.js/, (route) => route.fulfill({ status: 404 }))
  await tab.open('tasks')
  let loads = 0
  page.on('load', () => {
    loads += 1
  })
  await page.getByRole('link', { name: 'Audit' }).first().click()
  await eventually('the page was loaded again', () => loads === 1)
  await page.waitForTimeout(budget({ test: 1_000, soak: 5_000 }))
  expect(loads).toBe(1)
})

test('rows stay on screen while the API is away, and come back', async () => {
  const { page } = await lookAs()
  await tab.open('tasks')
  await page.getByRole('row').nth(1).waitFor()
  await page.route('**/api/v1/tasks?*', (route) => route.abort())
  await page.getByRole('combobox', { name: 'Range of time' }).selectOption('-24h')
  await page.getByText('The server does not answer').first().waitFor({ timeout: 30_000 })
  await page.unroute('**/api/v1/tasks?*')
  await page.getByRole('button', { name: 'Try again' }).first().click()
  await page.getByRole('row').nth(1).waitFor()
})

/** An outline as the API sends it: chains of ten steps below one root. */
function outlineOf(trace: string, size: number) {
  const at = Array.from({ length: size }, (_, node) => node)
  const column = <T>(value: (node: number) => T) => at.map(value)
  const rollup = { observations: size, calls: 0, errors: 0, cancelled: 0, unpriced_calls: 0 }
  const summary = {
    ...{ task_id: null, task_name: null, start_time: '2026-11-01T00:00:00Z', end_time: null },
    ...{ duration_ms: size, depth_max: 10, traces: 1, roots: 1, marks: {} },
    rollup: { ...rollup, tokens: { total: 0 }, cost_usd: '0' },
  }
  return {
    ...{ view: 'outline', trace_id: trace, revision: 'r', truncated: false, total: size, summary },
    ...{ served_by: 'clickhouse', fallback_reason: null, origin_time: '2026-11-01T00:00:00Z' },
    ...{ stats: { rows_read: size, duration_ms: 1 }, findings: [], findings_total: 0, trace: null },
    ids: column((node) => `step-${node}`),
    parent: column((node) => (node === 0 ? -1 : node % 10 === 1 ? 0 : node - 1)),
    start_us: column((node) => node * 1_000),
    dur_us: column((node) => (node === 0 ? size * 1_000 : 1_500)),
    ...{ name: column(() => 0), names: ['step'], type: column(() => 0), types: ['span'] },
    ...{ status: column(() => 0), statuses: ['ok'], traces: [trace], marks: [] },
    ...{ on_path: column(() => 0), mark: column(() => 0), counted_with: column(() => -1) },
    ...{ tokens: column(() => null), cost_usd: column(() => null) },
  }
}

test('of 100,000 steps, only those in the window are in the page', async () => {
  const { page, faults } = await lookAs()
  const outline = JSON.stringify(outlineOf(trace_id, 100_000))
  await page.route('**/explorer?view=outline*', (route) =>
    route.fulfill({ contentType: 'application/json', body: outline }),
  )
  await tab.open(`traces/${trace_id}`)
  const rows = page.getByRole('treeitem')
  await rows.first().waitFor()
  expect(await rows.count()).toBeLessThanOrEqual(60)
  await page.keyboard.press('j')
  await page.keyboard.press('k')
  await page.evaluate(`(() => {
    const tree = document.querySelector('[role="tree"]')
    tree.parentElement.scrollTo({ top: tree.scrollHeight })
  })()`)
  await page.locator('[role="treeitem"]', { hasText: 'step' }).last().waitFor()
  await eventually('the last rows are shown', async () => {
    const box = await rows.last().boundingBox()
    return box !== null && box.y > 0 && box.y < 1_200
  })
  expect(await rows.count()).toBeLessThanOrEqual(60)
  const [frames, longest] = (await page.evaluate(`new Promise((done) => {
    const tree = document.querySelector('[role="tree"]').parentElement
    const times = []
    let before = performance.now()
    const step = (now) => {
      times.push(now - before)
      before = now
      tree.scrollTop -= 400
      if (times.length < 90) requestAnimationFrame(step)
      else done([times.toSorted((a, b) => a - b)[85], Math.max(...times)])
    }
    requestAnimationFrame(step)
  })`)) as [number, number]
  process.stdout.write(
    `100,000 steps: p95 frame ${frames.toFixed(0)} ms, longest ${longest.toFixed(0)} ms\n`,
  )
  expect(faults).toEqual([])
})
