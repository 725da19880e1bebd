import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { places } from '../../console/src/app/places.ts'
import { noChromium } from '../support/chromium.ts'
import {
  findAxeFaults,
  keepPicture,
  type Look,
  openTab,
  settled,
  type Tab,
} from '../support/console.ts'
import { type ConsoleWorld, loopedTask, openConsoleWorld } from '../support/console-world.ts'
import { eventually } from '../support/eventually.ts'
import { budget, quarterOf } from '../support/suite/budget.ts'

/** The console in a real browser, over HTTP, against role `all` with a looping agent. */

let world: ConsoleWorld | undefined
let [service, incident_id, trace_id] = [{} as ConsoleWorld['service'], '', '']

beforeAll(async () => {
  world = await openConsoleWorld()
  if (world !== undefined) ({ service, incident_id, trace_id } = world)
})
afterAll(() => world?.[Symbol.asyncDispose]())

let tab: Tab
const lookAs = async (look?: Look) => {
  if (world === undefined) throw new Error(noChromium)
  tab = await openTab(world.browser, service, look)
  return tab
}
beforeEach(({ skip }) => skip(world === undefined, noChromium))
afterEach(async ({ task }) => {
  if (world === undefined) return
  if (task.result?.state === 'fail') await keepPicture(tab.page, task.name)
  await tab[Symbol.asyncDispose]()
})

const taskPath = () => `tasks/${encodeURIComponent(loopedTask)}`

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
  const current = page.locator('[aria-current="step"]').first()
  const number = new URL(page.url()).searchParams.get('step')
  expect(await current.textContent()).toMatch(new RegExp(`Step ${number}\\D`))
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

test('the critical path of a task shows the part of its findings, and leads to a step', async () => {
  const { page, faults } = await lookAs()
  await tab.open(`${taskPath()}?tab=path`)
  const findings = page.getByRole('table', { name: 'Findings on the critical path' })
  await findings.getByRole('row').nth(1).waitFor()
  await page.getByText(/The task took .* of it in the steps of findings/).waitFor()
  expect(await findAxeFaults(page)).toEqual([])
  const steps = page.getByRole('table', { name: 'Steps on the critical path' })
  await steps.getByRole('row').filter({ hasNotText: 'between' }).nth(1).click()
  await page.waitForURL(/tab=steps.*node=/)
  await page.getByRole('treegrid').or(page.getByRole('tree')).first().waitFor()
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
