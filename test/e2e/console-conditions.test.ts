import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { noChromium } from '../support/chromium.ts'
import { keepPicture, openTab, settled, type Tab } from '../support/console.ts'
import { outlineOf, taskListOf } from '../support/console-answers.ts'
import { type ConsoleWorld, openConsoleWorld } from '../support/console-world.ts'
import { eventually } from '../support/eventually.ts'

/** The console when something beside it is unusual: sizes, clocks, sessions, rights, other tabs. */

let world: ConsoleWorld | undefined
let [service, incident_id, trace_id] = [{} as ConsoleWorld['service'], '', '']

beforeAll(async () => {
  world = await openConsoleWorld()
  if (world !== undefined) ({ service, incident_id, trace_id } = world)
})
afterAll(() => world?.[Symbol.asyncDispose]())

let tab: Tab
const lookAs = async () => {
  if (world === undefined) throw new Error(noChromium)
  tab = await openTab(world.browser, service)
  return tab
}
beforeEach(({ skip }) => skip(world === undefined, noChromium))
afterEach(async ({ task }) => {
  if (world === undefined) return
  if (task.result?.state === 'fail') await keepPicture(tab.page, task.name)
  await tab[Symbol.asyncDispose]()
})

/** The stored tasks, as the API lists them. */
async function storedTask(): Promise<object> {
  const { project_id } = service.login
  const { body } = (await world?.api.get(`/api/v1/tasks?project_id=${project_id}`)) ?? {}
  const [task] = (body as { tasks: object[] }).tasks
  return task ?? {}
}

async function listOf(count: number, change: (index: number) => object) {
  return taskListOf(await storedTask(), count, change)
}

const answerTasks = (body: string) =>
  tab.page.route('**/api/v1/tasks?*', (route) =>
    route.fulfill({ contentType: 'application/json', body }),
  )

test('of 10,000 tasks, only those in the window are in the page', async () => {
  const { page, faults } = await lookAs()
  await answerTasks(await listOf(10_000, () => ({})))
  await tab.open('tasks')
  const rows = page.getByRole('row')
  await page.getByText('task 0', { exact: true }).waitFor()
  expect(await rows.count()).toBeLessThanOrEqual(60)
  await page.evaluate('scrollTo(0, document.body.scrollHeight)')
  await page.getByText('task 9999', { exact: true }).waitFor()
  expect(await rows.count()).toBeLessThanOrEqual(60)
  expect(faults).toEqual([])
})

test('names in scripts that are written from the right do not reorder their neighbours', async () => {
  const { page } = await lookAs()
  const name = 'שלום 123 \u202e456'
  await answerTasks(await listOf(1, () => ({ name, task_id: 'rtl' })))
  await tab.open('tasks')
  const shown = page.locator('bdi', { hasText: 'שלום' }).first()
  await shown.waitFor()
  expect(await shown.textContent()).toBe('שלום 123 U+202E456')
})

test('another project shows no rows of the one before', async () => {
  const { page } = await lookAs()
  const { organization_id } = service.login
  const made = await world?.api.post(`/api/v2/access/organizations/${organization_id}/projects`, {
    name: 'other',
  })
  expect(made).toMatchObject({ status: 201 })
  await tab.open('tasks')
  await page.getByRole('row').nth(1).waitFor()
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  await page.route('**/api/v1/tasks?*', async (route) => {
    await held
    await route.continue()
  })
  await page.getByRole('combobox', { name: 'Project' }).selectOption({ label: 'other' })
  await page.waitForURL((url) => !url.pathname.includes(service.login.project_id))
  await page.getByText('Reading tasks').waitFor()
  expect(await page.getByText('onerror=alert').count()).toBe(0)
  release()
  await page
    .getByRole('link', { name: /connect/i })
    .last()
    .waitFor()
  expect(await page.getByText('onerror=alert').count()).toBe(0)
})

test.each([
  ['an hour ahead', 3_600_000],
  ['an hour behind', -3_600_000],
])('a browser whose clock is %s shows the tasks of the last minutes', async (_name, off_ms) => {
  const { page } = await lookAs()
  await page.clock.install({ time: Date.now() + off_ms })
  await tab.open('tasks?from=-15m')
  await page.getByText('onerror=alert').first().waitFor()
  await page
    .getByText(/ago|just now/)
    .locator('visible=true')
    .first()
    .waitFor()
  expect(await page.getByText(/^1 h .*ago$/).count()).toBe(0)
})

test('a text that is being written survives the end of the session, and a refusal', async () => {
  const { page } = await lookAs()
  await tab.open(`incidents/${incident_id}`)
  const comment = page.getByLabel('Comment')
  await comment.fill('half a thought')
  await page.route('**/comment*', (route) =>
    route.fulfill({
      status: 403,
      contentType: 'application/problem+json',
      body: JSON.stringify({ code: 'permission_denied', detail: 'You may only read here' }),
    }),
  )
  await page.getByRole('button', { name: 'Add the comment' }).click()
  await page.getByText('You may only read here').first().waitFor()
  expect(await comment.inputValue()).toBe('half a thought')
  await page.unroute('**/comment*')
  await page.context().clearCookies()
  await page.getByRole('button', { name: 'Add the comment' }).click()
  await page.getByText('Your session has ended').first().waitFor()
  expect(await comment.inputValue()).toBe('half a thought')
})

test('a change in one tab is seen in another', async () => {
  const { page } = await lookAs()
  await tab.open(`incidents/${incident_id}`)
  const other = await page.context().newPage()
  await other.goto(page.url())
  await settled(other)
  await page.getByLabel('Comment').fill('seen in both tabs')
  await page.getByRole('button', { name: 'Add the comment' }).click()
  await other.getByText('seen in both tabs').first().waitFor({ timeout: 60_000 })
})

test('a prompt of five million characters is shown in part, and the page goes on', async () => {
  const { page, faults } = await lookAs()
  const messages = [{ role: 'user', content: `begin ${'word '.repeat(1_000_000)}end` }]
  const stored = await fetch(`${service.base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      ...{ 'x-api-key': service.login.project_key, authorization: 'Bearer provider-key' },
      ...{ 'x-task-id': 'large', 'content-type': 'application/json' },
    },
    body: JSON.stringify({ model: 'gpt-4.1-mini', messages }),
  })
  expect(stored.status).toBe(200)
  await eventually('the task is listed', async () => {
    const url = `/api/v1/tasks/large?project_id=${service.login.project_id}`
    return (await world?.api.get(url))?.status === 200
  })
  for (const path of ['tasks/large', 'tasks/large?tab=steps']) {
    await tab.open(path)
    if (path.endsWith('steps')) await page.getByRole('treeitem').first().click()
    await page.getByText('begin word').first().waitFor()
    expect(await page.evaluate('document.body.textContent.length')).toBeLessThan(400_000)
  }
  expect(faults).toEqual([])
})

test('Back returns through the screens, with their folds and filters', async () => {
  const { page } = await lookAs()
  await tab.open('tasks?q=%3Cimg')
  await page
    .getByRole('link', { name: /onerror/ })
    .first()
    .click()
  await page.getByRole('tab', { name: 'Waterfall' }).click()
  await page.getByRole('treeitem').first().click()
  await page.goBack()
  await page.getByRole('tab', { name: 'Turns', selected: true }).waitFor()
  await page.goBack()
  await page.getByRole('row').nth(1).waitFor()
  expect(page.url()).toContain('q=')
})

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
