import { randomUUID } from 'node:crypto'
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { withDatabase } from '../support/audit-shapes.ts'
import { noChromium, openChromium } from '../support/chromium.ts'
import { ensureConsole, keepPicture, openTab, settled, type Tab } from '../support/console.ts'
import { freePort } from '../support/free-port.ts'
import { startProvider, type TestProvider } from '../support/oidc-provider.ts'
import { type SingleMachine, startSingleMachine } from '../support/single-machine.ts'

/** Screens whose contents need a store that refuses rows, labels of people, or an issuer. */

let parts: AsyncDisposableStack
let browser: Browser | undefined
let machine: SingleMachine
let issuer: TestProvider
let tab: Tab

beforeAll(async () => {
  parts = new AsyncDisposableStack()
  browser = await openChromium()
  if (browser === undefined) return
  parts.adopt(browser, (opened) => opened.close())
  await ensureConsole()
  const port = await freePort()
  const public_url = `http://127.0.0.1:${port}`
  issuer = parts.adopt(await startProvider(public_url), (provider) => provider.close())
  const roles = [
    { group: 'engineers', organization: 'default', project: 'default', role: 'viewer' },
  ]
  const env = {
    LOOPTRACE_HTTP_PORT: String(port),
    LOOPTRACE_PUBLIC_URL: public_url,
    LOOPTRACE_OIDC_ISSUER: issuer.url,
    LOOPTRACE_OIDC_CLIENT_ID: issuer.client_id,
    LOOPTRACE_OIDC_CLIENT_SECRET: issuer.client_secret,
    LOOPTRACE_OIDC_SCOPES: 'openid email profile groups',
    LOOPTRACE_OIDC_GROUP_ROLES: JSON.stringify(roles),
  }
  machine = parts.use(await startSingleMachine({ env }))
}, 120_000)
afterAll(() => parts.disposeAsync())
beforeEach(({ skip }) => skip(browser === undefined, noChromium))
afterEach(async ({ task }) => {
  if (tab === undefined) return
  if (task.result?.state === 'fail') await keepPicture(tab.page, task.name)
  await tab[Symbol.asyncDispose]()
})

async function lookAs(): Promise<Tab> {
  if (browser === undefined) throw new Error(noChromium)
  tab = await openTab(browser, { base_url: machine.service.base_url, login: machine.login })
  return tab
}

async function change(...statements: readonly [text: string, values?: unknown[]][]): Promise<void> {
  await withDatabase(await machine.postgresUrl(), async (client) => {
    for (const [text, values] of statements) await client.query(text, values)
  })
}

test('a message that the store refused is shown with its reason, and stored when queued again', async () => {
  await change(["alter table tasks add constraint no_poison check (task_id <> 'poisoned')"])
  const { base_url } = machine.service
  const sent = await fetch(`${base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      ...{ 'x-api-key': machine.login.project_key, authorization: 'Bearer provider-key' },
      ...{ 'x-task-id': 'poisoned', 'content-type': 'application/json' },
    },
    body: JSON.stringify({ model: 'gpt-4.1-mini', messages: [{ role: 'user', content: 'hello' }] }),
  })
  expect(sent.status).toBe(200)
  const { page, faults } = await lookAs()
  const letters = page.getByRole('region', { name: 'Dead letters' })
  await expect
    .poll(
      async () => {
        await tab.open('overview')
        return letters.getByText('no_poison').count()
      },
      { timeout: 30_000, interval: 500 },
    )
    .toBe(1)
  const ledger = page.getByRole('region', { name: 'Ledger' })
  expect(await ledger.getByText('refused_by_store').count()).toBe(1)
  await change(['alter table tasks drop constraint no_poison'])
  await letters.getByRole('button', { name: /^Queue message .* again$/ }).click()
  await page.getByText('The message is queued again').waitFor()
  await letters.getByText('No message was given up.').waitFor()
  await expect
    .poll(
      async () => {
        await tab.open('tasks')
        return page.getByRole('link', { name: 'poisoned' }).count()
      },
      { timeout: 30_000, interval: 500 },
    )
    .toBe(1)
  expect(faults).toEqual([])
})

test('verdicts of people are fitted, and the measured confidence is drawn and listed', async () => {
  const machineResult = [{ verifier: 'kb', verdict: 'supported', confidence: 0.9 }]
  const own = [machine.login.project_id, randomUUID(), JSON.stringify(machineResult)]
  await change([
    `insert into verification_overrides (project_id, trace_id, claim_digest, verdict, reason,
       machine, trace_start, created_at, created_by)
     select $1, $2, n, case when n % 10 < 6 then 'supported' else 'contradicted' end,
       'read the invoice', $3, now(), now(), case when n % 20 < 10 then 'user:ada' else 'user:bo' end
     from generate_series(1, 200) as n`,
    own,
  ])
  const { page, faults } = await lookAs()
  await tab.open('verification?tab=calibration')
  const labels = page.getByRole('table', { name: 'Labels by verifier' })
  const kb = labels.getByRole('row').filter({ hasText: 'kb' })
  await kb.getByText('200').first().waitFor()
  await page.getByRole('button', { name: 'Fit to the labels' }).click()
  await page.getByText('The confidence is fitted to the labels.').waitFor()
  const curve = page.getByRole('region', { name: 'Calibration of kb' })
  await curve.getByText(/fit 1 of/).waitFor()
  await curve.getByRole('img').waitFor()
  const steps = curve.getByRole('table').getByRole('row').filter({ hasText: '%' })
  const texts = await steps.allTextContents()
  // All of them stated 0.9, and 6 of 10 were right.
  expect(texts.at(-1)).toContain('60 %')
  expect(faults).toEqual([])
})

test('the link of the organization signs in by its issuer, and returns to the screen', async () => {
  issuer.person = {
    ...{ sub: 'ada', email: 'ada@example.com', email_verified: true, name: 'Ada' },
    groups: ['engineers'],
  }
  const { page } = await lookAs()
  await page.context().clearCookies()
  const { base_url } = machine.service
  await page.goto(`${base_url}/p/${machine.login.project_id}/tasks?from=-1h`)
  await page.getByRole('link', { name: 'Sign in with your organization' }).click()
  await page.waitForURL((url) => url.pathname.endsWith('/tasks') && url.search === '?from=-1h')
  await settled(page)
  await page.getByRole('button', { name: 'Ada' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.waitForURL((url) => !url.pathname.startsWith('/p/'))
  const session = await page.context().request.get(`${base_url}/api/v1/auth/session`)
  expect(session.status()).toBe(401)
  expect(issuer.requests).toContain('/auth')
})
