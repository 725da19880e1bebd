import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { noChromium, openChromium } from '../support/chromium.ts'
import { apiByToken } from '../support/clients/api-reader.ts'
import { ensureConsole, keepPicture, openTab, type Tab } from '../support/console.ts'
import { eventually } from '../support/eventually.ts'
import { type SharedMachine, sharedMachine } from '../support/shared-machine.ts'

/** Times of the console in browsers of zones whose clocks change, by an hour or by half an hour. */

let browser: Browser | undefined
let machine: SharedMachine
let tab: Tab

beforeAll(async () => {
  browser = await openChromium()
  if (browser === undefined) return
  await ensureConsole()
  machine = await sharedMachine()
  await storeTask()
})
afterAll(() => browser?.close())
beforeEach(({ skip }) => skip(browser === undefined, noChromium))
afterEach(async ({ task }) => {
  if (tab === undefined) return
  if (task.result?.state === 'fail') await keepPicture(tab.page, task.name)
  await tab[Symbol.asyncDispose]()
})

async function storeTask(): Promise<void> {
  const { project_id, project_key } = machine.login
  const { base_url } = machine.service
  const stored = await fetch(`${base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      ...{ 'x-api-key': project_key, authorization: 'Bearer provider-key' },
      ...{ 'x-task-id': 'timed', 'content-type': 'application/json' },
    },
    body: JSON.stringify({ model: 'gpt-4.1-mini', messages: [{ role: 'user', content: 'now' }] }),
  })
  expect(stored.status).toBe(200)
  const api = await apiByToken({ api_url: base_url, login: machine.login })
  await eventually('the task is listed', async () => {
    return (await api.get(`/api/v1/tasks/timed?project_id=${project_id}`)).status === 200
  })
}

async function lookFrom(zone: string): Promise<Tab> {
  if (browser === undefined) throw new Error(noChromium)
  const look = { theme: 'light', width: 1280, zone } as const
  tab = await openTab(browser, { base_url: machine.service.base_url, login: machine.login }, look)
  return tab
}

/** Opens a task that started and ended at these instants, and returns what its head says. */
async function timesOfTask(started_at: string, ended_at: string): Promise<string[]> {
  const changed = { started_at, ended_at, ended_by: null, end_note: null }
  await tab.page.route(/\/api\/v1\/tasks\/timed(\?|$)/, async (route) => {
    const answer = await route.fetch()
    await route.fulfill({ response: answer, json: { ...(await answer.json()), ...changed } })
  })
  await tab.open('tasks/timed')
  await tab.page.getByText(/^started /).waitFor()
  return tab.page.getByText(/^(started|ended) /).allTextContents()
}

test.each([
  {
    ...{ zone: 'Europe/Berlin', from: '2025-10-26T00:50Z', to: '2025-10-26T01:10Z' },
    shown: ['Oct 26, 2025, 02:50 GMT+2', 'Oct 26, 2025, 02:10 GMT+1'],
  },
  {
    ...{ zone: 'America/New_York', from: '2025-11-02T05:50Z', to: '2025-11-02T06:10Z' },
    shown: ['Nov 2, 2025, 01:50 EDT', 'Nov 2, 2025, 01:10 EST'],
  },
  {
    ...{ zone: 'Australia/Lord_Howe', from: '2025-04-05T14:50Z', to: '2025-04-05T15:10Z' },
    shown: ['Apr 6, 2025, 01:50 GMT+11', 'Apr 6, 2025, 01:40 GMT+10:30'],
  },
])('in $zone, a time that clocks show twice has its zone', async ({ zone, from, to, shown }) => {
  await lookFrom(zone)
  const [started, ended] = shown
  expect(await timesOfTask(from, to)).toEqual([`started ${started}`, `ended ${ended}`])
})

test('a chosen zone shows its own dates, in all tabs and after a new start', async () => {
  const { page } = await lookFrom('America/New_York')
  const times = await timesOfTask('2025-07-01T03:30Z', '2025-07-01T04:30Z')
  expect(times).toEqual(['started Jun 30, 2025, 23:30', 'ended Jul 1, 2025, 00:30'])
  const other = await page.context().newPage()
  const { service, login } = machine
  await other.goto(`${service.base_url}/p/${login.project_id}/tasks?to=2025-07-01T03:30`)
  const rangeWith = (text: string) =>
    other.locator('option', { hasText: text }).waitFor({ state: 'attached' })
  await rangeWith('to Jun 30, 2025, 23:30')
  await page.getByRole('banner').getByRole('button').last().click()
  await page.getByRole('menuitemradio', { name: 'UTC' }).click()
  await page.getByText('started Jul 1, 2025, 03:30').waitFor()
  await rangeWith('to Jul 1, 2025, 03:30')
  await page.reload()
  await page.getByText('started Jul 1, 2025, 03:30').waitFor()
})

/** Keeps the texts that a page draws on its canvases. */
const keepDrawnTexts = `window.drawn = []
  const draw = CanvasRenderingContext2D.prototype.fillText
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
    window.drawn.push(text)
    return draw.call(this, text, ...rest)
  }`

const days = [
  {
    ...{ zone: 'Europe/Berlin', day: 'Mar 30, 2025', hours: 23 },
    ...{ from: '2025-03-29T23:00Z', to: '2025-03-30T22:00Z' },
  },
  {
    ...{ zone: 'Europe/Berlin', day: 'Oct 26, 2025', hours: 25 },
    ...{ from: '2025-10-25T22:00Z', to: '2025-10-26T23:00Z' },
  },
  {
    ...{ zone: 'Australia/Lord_Howe', day: 'Apr 6, 2025', hours: 25 },
    ...{ from: '2025-04-05T13:00Z', to: '2025-04-06T13:30Z' },
  },
]

test.each(days)('in $zone, $day has $hours bars of an hour', async (each) => {
  const { zone, day, hours, from, to } = each
  const { page, faults } = await lookFrom(zone)
  await page.addInitScript(keepDrawnTexts)
  await page.route('**/observability/query/aggregate*', async (route) => {
    const rows = [{ time_bucket: from, kind: 'loop', n: 3, tasks: 1, cost: '0', tokens: 1 }]
    const answer = await route.fetch()
    await route.fulfill({ response: answer, json: { ...(await answer.json()), rows } })
  })
  await tab.open(`findings?from=${from}&to=${to}`)
  const range = page.getByRole('combobox', { name: 'Range of time' }).locator('option').first()
  expect(await range.textContent()).toMatch(new RegExp(`^${day}, 00:00 to .*, 00:00$`))
  await page.getByText('Show as a table').click()
  const times = await page.locator('figure tbody th').allTextContents()
  expect(times[0]).toContain(`${day}, 00:00:00`)
  expect(new Set(times.filter((time) => time.startsWith(day))).size).toBe(hours)
  expect(new Set(times).size).toBe(times.length)
  const drawn = await eventually('the axis is drawn', async () => {
    const texts = (await page.evaluate('window.drawn')) as string[]
    const drawnTimes = texts.filter((text) => /\d:\d/.test(text))
    return drawnTimes.length > 3 && drawnTimes
  })
  expect(drawn.filter((text) => !text.endsWith(':00'))).toEqual([])
  await page.setViewportSize({ width: 400, height: 900 })
  const overflow = await page.evaluate('document.body.scrollWidth - innerWidth')
  expect(overflow, 'pixels beyond a narrow window').toBeLessThanOrEqual(0)
  expect(faults).toEqual([])
})
