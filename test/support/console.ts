import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { buildConsole } from '../../scripts/bundle/console.ts'
import type { FirstLogin } from './cluster.ts'

const root = join(import.meta.dirname, '../../console')
/** Screenshots of failed tests. */
const pictures = join(import.meta.dirname, '../../dist/screenshots')

/** Builds the console of this checkout if it is not built. `make console` builds it anew. */
export async function ensureConsole(): Promise<void> {
  if (!existsSync(join(root, 'dist/index.html'))) await buildConsole()
}

/** How a person looks at the console. The zone is that of the browser, an IANA name. */
export type Look = { theme: 'light' | 'dark'; width: 1280 | 400; zone?: string }

/** A tab of a signed-in person, with everything that went wrong in it. */
export type Tab = AsyncDisposable & {
  page: Page
  /** Opens a screen of the project by its path (`tasks`), and waits for its rows. */
  open(path: string): Promise<void>
  /** Errors and warnings of the console, exceptions, violations of the CSP, foreign requests. */
  faults: string[]
  /** Addresses of the requests since the last `open`, without the origin. */
  requests: string[]
  /** Bytes of these responses as they were sent. */
  bytes(): Promise<number>
}

type Service = { base_url: string; login: FirstLogin }

/** Signs in through the API, as the page does, and opens a tab. */
export async function openTab(
  browser: Browser,
  { base_url, login }: Service,
  { theme, width, zone }: Look = { theme: 'light', width: 1280 },
): Promise<Tab> {
  const context = await browser.newContext({
    ...{ viewport: { width, height: 900 }, colorScheme: theme },
    ...(zone !== undefined && { timezoneId: zone }),
  })
  const signedIn = await context.request.post(`${base_url}/api/v1/auth/session`, {
    headers: { 'x-looptrace-csrf': '1', 'sec-fetch-site': 'same-origin' },
    data: {
      grant_type: 'password',
      username: login.admin_email,
      password: login.admin_password,
    },
  })
  if (!signedIn.ok()) throw new Error(`${signedIn.status()} ${await signedIn.text()}`)
  const page = await context.newPage()
  const faults: string[] = []
  const requests: string[] = []
  const sizes: Promise<number>[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(base_url)) faults.push(`a request to ${url}`)
    requests.push(url.slice(base_url.length))
  })
  page.on('requestfinished', (request) => {
    const size = request.sizes().then(({ responseBodySize }) => responseBodySize)
    // A tab may close before it has told.
    sizes.push(size.catch(() => 0))
  })
  return {
    page,
    faults,
    requests,
    bytes: async () => (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0),
    open: async (path) => {
      requests.length = 0
      sizes.length = 0
      await page.goto(`${base_url}/p/${login.project_id}/${path}`)
      await settled(page)
    },
    [Symbol.asyncDispose]: async () => {
      // Answers of a test that are on their way have no page any more.
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      await context.close()
    },
  }
}

/**
 * Waits until the screen has its title, and for a while until it reads nothing any more: parts that
 * are not in the window wait to be read.
 */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor()
  await page
    .locator('[role="status"]', { hasText: '…' })
    .first()
    .waitFor({ state: 'detached', timeout: 5_000 })
    .catch(() => undefined)
}

/** Returns what axe finds, a line for each rule with its first place. */
export async function findAxeFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const found = await page.evaluate(`axe.run(document, {
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  }).then(({ violations }) => violations.map(({ id, impact, nodes }) =>
    impact + ' ' + id + ' ×' + nodes.length + ': ' + nodes[0].html.slice(0, 160) + ' | ' +
    (nodes[0].any[0]?.message ?? '')))`)
  return found as string[]
}

/** Keeps a picture of a page for a failed test, and returns its path. */
export async function keepPicture(page: Page, name: string): Promise<string> {
  await mkdir(pictures, { recursive: true })
  const path = join(pictures, `${name.replaceAll(/[^\w-]+/g, '-')}.png`)
  await page.screenshot({ path, fullPage: true }).catch(() => undefined)
  return path
}
