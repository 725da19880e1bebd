import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { HttpServer } from '../../src/platform/http/index.ts'
import { noChromium, openChromium } from '../support/chromium.ts'
import { createDescribedServer, servedCatalogue } from '../support/described-server.ts'
import { eventually } from '../support/eventually.ts'

let browser: Browser | undefined
let server: HttpServer
let origin: string
const parts = new AsyncDisposableStack()

beforeAll(async () => {
  server = await createDescribedServer(servedCatalogue)
  parts.defer(() => server.close())
  origin = `http://127.0.0.1:${await server.listen({ host: '127.0.0.1', port: 0 })}`
  browser = await openChromium()
  parts.defer(async () => browser?.close())
})
afterAll(() => parts.disposeAsync())

const files = ['docs.js', 'slice-document.js', 'docs.css', 'swagger-ui-bundle.js', 'swagger-ui.css']

describe('the files of the API reference', () => {
  test('allow the page scripts, styles and calls of its own server only', async () => {
    const { statusCode, headers } = await server.inject({ url: '/docs' })
    expect([statusCode, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(String(headers['content-security-policy']).split('; ').toSorted()).toEqual([
      "base-uri 'none'",
      "connect-src 'self'",
      "default-src 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      'img-src data:',
      "script-src 'self'",
      "style-src 'self'",
    ])
  })

  test.each(files)('%s is kept by a browser, which asks whether it changed', async (name) => {
    const url = `/docs/${name}`
    const first = await server.inject({ url })
    expect([first.statusCode, first.headers['cache-control']]).toEqual([200, 'no-cache'])
    const etag = String(first.headers['etag'])
    const again = await server.inject({ url, headers: { 'if-none-match': etag } })
    expect([again.statusCode, again.body, again.headers['etag']]).toEqual([304, '', etag])
    const changed = await server.inject({ url, headers: { 'if-none-match': '"other"' } })
    expect([changed.statusCode, changed.body]).toEqual([200, first.body])
  })

  test('are at most 2 MB', async () => {
    const replies = await Promise.all(files.map((name) => server.inject({ url: `/docs/${name}` })))
    expect(replies.reduce((sum, { rawPayload }) => sum + rawPayload.length, 0)).toBeLessThan(2e6)
  })
})

/** What a page did that its policy or its promise forbids. */
type Watched = { page: Page; foreign: string[]; errors: string[]; violations(): Promise<string[]> }

/** Opens `/docs` as an anonymous reader. */
async function openReference(from: Browser, path = '/docs'): Promise<Watched & AsyncDisposable> {
  const context = await from.newContext({ viewport: { width: 1280, height: 900 } })
  const page = await context.newPage()
  await page.addInitScript(`
    globalThis.violations = []
    addEventListener('securitypolicyviolation', (event) => {
      violations.push(event.violatedDirective + ' ' + event.blockedURI)
    })`)
  const foreign: string[] = []
  const errors: string[] = []
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) foreign.push(url)
  })
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  await page.goto(`${origin}${path}`)
  return {
    ...{ page, foreign, errors },
    violations: () => page.evaluate('globalThis.violations'),
    [Symbol.asyncDispose]: () => context.close(),
  }
}

type Operation = { operationId: string; tags: string[] }

/** The operations of the served document by their ids. */
async function readOperations(): Promise<Map<string, Operation>> {
  const { paths } = (await server.inject({ url: '/openapi.json' })).json()
  const operations = Object.values<Record<string, Operation>>(paths).flatMap(Object.values)
  return new Map(operations.map((one: Operation) => [one.operationId, one]))
}

async function linkTo(id: string): Promise<string> {
  return `/docs#/${(await readOperations()).get(id)?.tags[0]}/${id}`
}

const operationOf = (page: Page, id: string) => page.locator(`.opblock[id$="-${id}"]`)

/** Scrolls to the end of the page, and returns the ids of all operations that it drew. */
async function scrollThrough(page: Page): Promise<Set<string>> {
  const seen = new Set<string>()
  for (let steps = 0; steps < 200; steps += 1) {
    const { ids, atEnd }: { ids: string[]; atEnd: boolean } = await page.evaluate(`({
      ids: [...document.querySelectorAll('.opblock')].map(({ id }) => id.split('-').at(-1)),
      atEnd: scrollY + innerHeight >= document.documentElement.scrollHeight - 1,
    })`)
    for (const id of ids) seen.add(id)
    if (atEnd) return seen
    // The list draws what is in view in the frames after a move.
    await page.evaluate(`new Promise((resolve) => {
      scrollBy(0, innerHeight / 2)
      requestAnimationFrame(() => requestAnimationFrame(resolve))
    })`)
  }
  return seen
}

describe('in a browser, the API reference', () => {
  test('shows every operation without a violation and without another origin', async ({ skip }) => {
    if (browser === undefined) return skip(noChromium)
    await using opened = await openReference(browser)
    const operations = await readOperations()
    expect(operations.size).toBeGreaterThan(280)
    await opened.page.locator('.opblock').first().waitFor()
    const seen = await scrollThrough(opened.page)
    expect([...operations.keys()].filter((id) => !seen.has(id))).toEqual([])
    expect(await opened.violations()).toEqual([])
    expect([opened.foreign, opened.errors]).toEqual([[], []])
  })

  // A read with a query, a change with a body, a call in a provider's format.
  test.each([
    ['listTasks', 'conversation_id', true],
    ['runQuery', '"entity": "observations"', false],
    ['createChatCompletion', 'X-Task-ID', false],
  ])('opens the linked operation %s, and offers to send only reads', async (id, text, isRead) => {
    if (browser === undefined) return
    await using opened = await openReference(browser, await linkTo(id))
    const operation = operationOf(opened.page, id)
    await operation.locator('.responses-wrapper').waitFor()
    await operation.getByText(text).first().waitFor()
    expect(await operation.locator('.try-out__btn').count()).toBe(isRead ? 1 : 0)
    expect(await opened.violations()).toEqual([])
    expect([opened.foreign, opened.errors]).toEqual([[], []])
  })

  test('finds operations by their path', async ({ skip }) => {
    if (browser === undefined) return skip(noChromium)
    await using opened = await openReference(browser)
    const { page } = opened
    await page.locator('.operation-filter-input').fill('legal-holds')
    await eventually('only operations whose path has the text', async () => {
      const paths = await page.locator('.opblock-summary-path').allTextContents()
      // Long paths may break at invisible spaces.
      const found = paths.map((path) => path.replaceAll('\u200b', ''))
      return found.length > 1 && found.every((path) => path.includes('legal-holds'))
    })
    expect(await opened.violations()).toEqual([])
  })

  test('sends a read to its own server and shows the answer', async ({ skip }) => {
    if (browser === undefined) return skip(noChromium)
    await using opened = await openReference(browser, await linkTo('getService'))
    const { page } = opened
    const read = operationOf(page, 'getService')
    await read.locator('.try-out__btn').click()
    const answered = page.waitForResponse(`${origin}/`)
    await read.locator('.execute').click()
    expect((await answered).status()).toBe(200)
    await read.locator('.live-responses-table').getByText('"version": "1.2.3"').waitFor()
    expect(await opened.violations()).toEqual([])
    expect(opened.foreign).toEqual([])
  })
})
