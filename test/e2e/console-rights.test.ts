import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { places } from '../../console/src/app/places.ts'
import { noChromium, openChromium } from '../support/chromium.ts'
import type { FirstLogin } from '../support/cluster.ts'
import { ensureConsole, findAxeFaults, keepPicture, openTab, type Tab } from '../support/console.ts'
import { eventually } from '../support/eventually.ts'
import { type SharedMachine, sharedMachine } from '../support/shared-machine.ts'

/** What people may do in the console: invitations, keys, viewers, resources that others own. */

let browser: Browser | undefined
let machine: SharedMachine
let tab: Tab

beforeAll(async () => {
  browser = await openChromium()
  if (browser === undefined) return
  await ensureConsole()
  machine = await sharedMachine()
})
afterAll(() => browser?.close())
beforeEach(({ skip }) => skip(browser === undefined, noChromium))
afterEach(async ({ task }) => {
  if (tab === undefined) return
  if (task.result?.state === 'fail') await keepPicture(tab.page, task.name)
  await tab[Symbol.asyncDispose]()
})

async function lookAs(login: FirstLogin = machine.login): Promise<Tab> {
  if (browser === undefined) throw new Error(noChromium)
  tab = await openTab(browser, { base_url: machine.service.base_url, login })
  return tab
}

const statusOf = async (key: string) =>
  (await fetch(`${machine.service.base_url}/api/v1/tasks`, { headers: { 'x-api-key': key } }))
    .status

const password = 'a horse of four correct words'

/** Invites a person on the page, who sets a password by the link and can sign in. */
async function invite(email: string): Promise<FirstLogin> {
  const { page } = await lookAs()
  await tab.open('access')
  await page.getByLabel('E-mail to invite').fill(email)
  await page.getByLabel('Role in the project', { exact: true }).selectOption('viewer')
  await page.getByRole('button', { name: 'Invite', exact: true }).click()
  const link = page.locator('code', { hasText: 'token=' })
  await link.waitFor()
  const invited = await (browser as Browser).newPage()
  await invited.goto((await link.textContent()) ?? '')
  await invited.getByLabel('Your name').fill('Vera')
  await invited.getByRole('textbox', { name: 'Password' }).fill(password)
  await invited.getByRole('button', { name: 'Create account and join' }).click()
  await invited.getByRole('heading', { name: 'Create your account' }).waitFor({ state: 'hidden' })
  await invited.close()
  await tab[Symbol.asyncDispose]()
  return { ...machine.login, admin_email: email, admin_password: password }
}

test('a viewer who was invited reads every screen, and no button of it changes anything', async () => {
  const { page, faults } = await lookAs(await invite(`vera-${Date.now()}@example.com`))
  const changes =
    /^(Add|Archive|Certify|Create|Delete|Erase|Hold|Invite|Remove|Revoke|Run|Save|Start)\b|^New /
  const offered: string[] = []
  for (const { path } of places) {
    await tab.open(path)
    // Its buttons make up a question, which changes nothing.
    if (path === 'query') continue
    for (const button of await page.getByRole('button', { name: changes }).all()) {
      if (await button.isEnabled()) offered.push(`${path}: ${await button.textContent()}`)
    }
  }
  expect(offered).toEqual([])
  expect(faults, 'also requests that are refused').toEqual([])
}, 180_000)

test('a key is shown once, works, and no longer after it is revoked', async () => {
  const { page } = await lookAs()
  await tab.open('access?tab=keys')
  await page.getByRole('button', { name: 'Create a key' }).click()
  await page.getByLabel('Name', { exact: true }).fill('from the page')
  await page.getByLabel(/^tasks:read/).check()
  await page.getByRole('button', { name: 'Create the key' }).click()
  const shown = page.locator('code', { hasText: /^lt_\w{20}/ })
  await shown.waitFor()
  const key = (await shown.textContent()) ?? ''
  expect(await statusOf(key)).toBe(200)
  await page.reload()
  await page.getByRole('button', { name: 'Revoke from the page', exact: true }).waitFor()
  expect(await page.content()).not.toContain(key)
  await page.getByRole('button', { name: 'Revoke from the page', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke the key' }).click()
  await page.getByText('The key from the page is revoked.').waitFor()
  await eventually('the key is refused', async () => (await statusOf(key)) === 401)
})

test('a password is set only twice the same and with the current one; then the person signs in with it', async () => {
  const login = await invite(`paula-${Date.now()}@example.com`)
  const { page } = await lookAs(login)
  await tab.open('access?tab=sessions')
  const fill = async (current: string, next: string, again: string) => {
    await page.getByLabel('Current password').fill(current)
    await page.getByLabel('New password', { exact: true }).fill(next)
    await page.getByLabel('New password again').fill(again)
    await page.getByRole('button', { name: 'Set the password' }).click()
  }
  const next = 'five other words of a horse'
  await fill(password, next, `${next}!`)
  await page.getByText('This differs from the new password.').waitFor()
  await fill('not the current one', next, next)
  await page.getByRole('alert').waitFor()
  await fill(password, next, next)
  await page.getByLabel('E-mail').waitFor()
  await page.close()
  await lookAs({ ...login, admin_password: next })
  await tab.open('access?tab=sessions')
})

const traces = 'Traces, tasks, conversations, everything'

test('a retention policy is saved after a dry run, and not over the change of another person', async () => {
  const { page, faults } = await lookAs()
  await tab.open('retention')
  const observations = page.getByLabel('Observations, everything')
  await page.getByLabel(traces).fill('400')
  await observations.fill('90')
  const save = page.getByRole('button', { name: 'Save the policy' })
  expect(await save.isEnabled()).toBe(false)
  await page.getByRole('button', { name: 'See what would go' }).click()
  await page.getByText('The dry run below is of these rules.').waitFor()
  await observations.fill('91')
  expect(await save.isEnabled(), 'other rules need another dry run').toBe(false)
  await observations.fill('90')
  await save.click()
  await page.getByText('The policy is saved.').waitFor()
  await page.getByText('The policy is saved.').waitFor({ state: 'hidden' })
  const other = await page.context().newPage()
  await other.goto(page.url())
  for (const one of [page, other]) {
    await one.getByLabel('Observations, everything').fill(one === page ? '80' : '70')
    await one.getByRole('button', { name: 'See what would go' }).click()
    await one.getByText('The dry run below is of these rules.').waitFor()
    await one.getByRole('button', { name: 'Save the policy' }).click()
    await one.getByText(one === page ? 'The policy is saved.' : 'Somebody else changed').waitFor()
  }
  expect(await other.getByLabel('Observations, everything').inputValue()).toBe('70')
  await other.getByRole('button', { name: 'Drop mine and show the stored one' }).click()
  await eventually('the stored one', async () => {
    return (await other.getByLabel('Observations, everything').inputValue()) === '80'
  })
  // The browser reports the refused write itself.
  expect(faults.filter((fault) => !fault.includes('412'))).toEqual([])
}, 180_000)

test('a policy that a Kubernetes resource owns names it, and cannot be changed here', async () => {
  const { page } = await lookAs()
  const owner = { kind: 'RetentionPolicy', namespace: 'agents', name: 'keep-a-year' }
  await page.route('**/api/v2/observability/retention-policy*', async (route) => {
    const answer = await route.fetch()
    const body = await answer.json()
    await route.fulfill({ response: answer, json: { ...body, version: 3, managed_by: owner } })
  })
  await tab.open('retention')
  await page.getByText('RetentionPolicy/agents/keep-a-year').waitFor()
  expect(await page.getByLabel(traces).isEnabled()).toBe(false)
  for (const name of ['Save the policy', 'Remove the policy']) {
    expect(await page.getByRole('button', { name }).isEnabled(), name).toBe(false)
  }
})

test('grants of clusters are shown, with how long an operator has been silent', async () => {
  const { page, faults } = await lookAs()
  await tab.open('access?tab=grants')
  await page.getByText('No cluster may declare resources in this project.').waitFor()
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
  const grant = {
    ...{ project_id: machine.login.project_id, installation_id: crypto.randomUUID() },
    ...{ cluster: crypto.randomUUID(), kinds: ['RetentionPolicy'], scopes: ['tasks:read'] },
    ...{ roles: [], max_keys: 8, revoke_after: '1h', selector: null },
  }
  const namespaces = Array.from({ length: 50 }, (_, at) => `team-${at}`)
  const grants = [
    { ...grant, id: '1', name: 'many', namespaces, namespace_count: 70, reported_at: ago(1) },
    {
      ...{ ...grant, id: '2', name: '<img src=x onerror=alert(1)>', reported_at: ago(60) },
      ...{ namespaces: [], namespace_count: 0, selector: 'team=\u202ea' },
    },
  ]
  await page.route('**/grants?*', (route) =>
    route.fulfill({ json: { grants, total: 2, next_cursor: null } }),
  )
  await tab.open('access?tab=grants')
  const [many, hostile] = [page.getByRole('row').nth(1), page.getByRole('row').nth(2)]
  await many.getByText('team-0, team-1, team-2, team-3, team-4 and 65 more').waitFor()
  expect(await many.getByText('no news since').count()).toBe(0)
  await hostile.getByText('<img src=x onerror=alert(1)>').waitFor()
  await hostile.getByText('no news since').waitFor()
  expect(await findAxeFaults(page)).toEqual([])
  expect(faults).toEqual([])
})
