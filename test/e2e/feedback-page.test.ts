import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { noChromium, openChromium } from '../support/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { type SharedMachine, sharedMachine } from '../support/shared-machine.ts'

/** Pages in a real browser use a browser key, from its origin and from another one. */

/** A parsed body; tests read it without narrowing. */
type Json = ReturnType<typeof JSON.parse>
type Site = AsyncDisposable & { origin: string }

let browser: Browser | undefined
let machine: SharedMachine
let shop: Site
let stranger: Site
let token: string
/** A browser key for `shop`, and a key of a server. */
let key: string
let serverKey: string
const parts = new AsyncDisposableStack()

beforeAll(async () => {
  browser = await openChromium()
  if (browser === undefined) return
  parts.defer(() => browser?.close() ?? Promise.resolve())
  ;[shop, stranger] = [parts.use(await openSite()), parts.use(await openSite())]
  machine = await sharedMachine()
  const { admin_email: username, admin_password: password, project_id } = machine.login
  const login = { grant_type: 'password', username, password }
  token = (await call('POST', '/api/v1/auth/token', login)).body.access_token
  const keys = `/api/v2/access/projects/${project_id}/api-keys`
  const scopes = ['feedback:write']
  const made = await call('POST', keys, { name: 'page', scopes, origins: [shop.origin] })
  key = made.body.key
  serverKey = (await call('POST', keys, { name: 'server', scopes: [...scopes, 'tasks:read'] })).body
    .key
})
afterAll(() => parts.disposeAsync())
beforeEach(({ skip }) => skip(browser === undefined, noChromium))

/** Serves empty pages at an origin of its own. */
async function openSite(): Promise<Site> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>p</title>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function call(method: string, path: string, body?: object) {
  const reply = await fetch(`${machine.service.base_url}${path}`, {
    method,
    headers: {
      ...{ 'content-type': 'application/json', 'x-project-id': machine.login.project_id },
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await reply.text()
  const parsed: Json = text === '' ? undefined : JSON.parse(text)
  return { status: reply.status, body: parsed }
}

/** The stored feedback of a task. */
async function stored(task_id: string): Promise<Json[]> {
  const { status, body } = await call('GET', `/api/v1/tasks/${task_id}/feedback`)
  return status === 404 ? [] : body.feedback
}

/** Opens a page; the cookie would be sent to the service with each request that has credentials. */
async function openPage(site: Site): Promise<Page> {
  const context = await browser?.newContext()
  if (context === undefined) throw new Error('no browser')
  await context.addCookies([{ name: 'session', value: 'secret', url: apiUrl() }])
  const page = await context.newPage()
  await page.goto(site.origin)
  return page
}

/** The service on the site of the pages, at another origin: cookies of the one reach the other. */
const apiUrl = () => machine.service.base_url.replace('127.0.0.1', 'localhost')

type Sent = {
  path: string
  method?: string
  body?: object
  key?: string
  credentials?: 'include'
  keepalive?: boolean
}

/** Calls `fetch` in the page. Returns what the page can read, or the error that it gets. */
function fetchIn(page: Page, { path, method = 'POST', body, ...more }: Sent): Promise<Json> {
  const init = {
    ...{ method, ...(more.credentials !== undefined && { credentials: more.credentials }) },
    headers: { 'Content-Type': 'application/json', 'X-API-Key': more.key ?? key },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }
  const expression = `fetch(${JSON.stringify(`${apiUrl()}${path}`)}, ${JSON.stringify(init)})
    .then(async (reply) => ({ status: reply.status, body: await reply.json() }))
    .catch((error) => ({ error: error.name }))`
  return page.evaluate(expression)
}

const give = (page: Page, task_id: string, more: Partial<Sent> = {}): Promise<Json> =>
  fetchIn(page, {
    path: `/api/v1/tasks/${task_id}/feedback`,
    body: { feedback_id: crypto.randomUUID(), user_id: 'ann', thumbs: 'down' },
    ...more,
  })

test('a page of an allowed origin sends and edits feedback, without cookies', async () => {
  const page = await openPage(shop)
  const requests: { method: string; headers: Promise<Record<string, string>> }[] = []
  page.on('request', (request) => {
    requests.push({ method: request.method(), headers: request.allHeaders() })
  })
  const made = await give(page, 'allowed')
  expect(made).toMatchObject({ status: 201, body: { source: 'end_user', thumbs: 'down' } })
  const path = `/api/v1/tasks/allowed/feedback/${made.body.feedback_id}?user_id=ann`
  const edited = await fetchIn(page, { path, method: 'PUT', body: { thumbs: 'up' } })
  expect(edited).toMatchObject({ status: 200, body: { thumbs: 'up' } })
  expect(await stored('allowed')).toMatchObject([{ user_id: 'ann', thumbs: 'up', version: 2 }])
  expect(requests.map(({ method }) => method)).toEqual(['POST', 'PUT'])
  for (const { headers } of requests) {
    expect(await headers).toMatchObject({ origin: shop.origin })
    expect((await headers)['cookie']).toBeUndefined()
  }
})

test('a page of another origin stores nothing', async () => {
  const page = await openPage(stranger)
  expect(await give(page, 'foreign')).toMatchObject({
    ...{ status: 403, body: { code: 'permission_denied' } },
  })
  expect(await stored('foreign')).toEqual([])
})

test('a page reads no tasks and no feedback, with a browser key or another one', async () => {
  const page = await openPage(shop)
  await give(page, 'private')
  const paths = ['/api/v1/tasks', '/api/v1/tasks/private', '/api/v1/tasks/private/feedback']
  for (const path of paths) {
    for (const one of [key, serverKey]) {
      const seen = await fetchIn(page, { path, method: 'GET', key: one })
      expect([path, seen]).toEqual([path, { error: 'TypeError' }])
    }
  }
  // Without the browser between them, the key of a server reads the task.
  const headers = { 'x-api-key': serverKey, origin: shop.origin }
  const direct = await fetch(`${apiUrl()}/api/v1/tasks/private/feedback`, { headers })
  expect(direct.status).toBe(200)
})

test('a request with credentials is not sent', async () => {
  const page = await openPage(shop)
  expect(await give(page, 'cookies', { credentials: 'include' })).toEqual({ error: 'TypeError' })
  expect(await stored('cookies')).toEqual([])
})

test('feedback that a page sends while it closes is stored with keepalive, not by a beacon', async () => {
  const page = await openPage(shop)
  const feedback = { feedback_id: crypto.randomUUID(), user_id: 'ann', thumbs: 'up' }
  const url = (task_id: string) => `${apiUrl()}/api/v1/tasks/${task_id}/feedback`
  await page.evaluate(`addEventListener('pagehide', () => {
    const body = ${JSON.stringify(JSON.stringify(feedback))}
    navigator.sendBeacon(${JSON.stringify(url('beacon'))}, body)
    fetch(${JSON.stringify(url('hidden'))}, { method: 'POST', keepalive: true, body,
      headers: { 'Content-Type': 'application/json', 'X-API-Key': ${JSON.stringify(key)} } })
  })`)
  await page.goto('about:blank')
  const items = await eventually('the feedback of the closed page', async () => {
    const found = await stored('hidden')
    return found.length > 0 && found
  })
  expect(items).toMatchObject([{ feedback_id: feedback.feedback_id, thumbs: 'up' }])
  expect(await stored('beacon')).toEqual([])
})
