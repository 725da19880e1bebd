import { createHash } from 'node:crypto'
import { BoundedCache } from '../../../kernel/bounded-cache.ts'
import { Semaphore } from '../../../kernel/semaphore.ts'
import {
  type Outbound,
  OutboundFailed,
  type OutboundReply,
} from '../../../platform/outbound/index.ts'
import { type PageReader, PageRefused } from './read-page.ts'

/** A page of the web as text. */
export type Page = {
  /** URL of the page, after redirects and without a fragment. */
  url: string
  title: string
  /** All text of the page. */
  text: string
  /** Text of the page without navigation and footers. */
  article: string
  /** SHA-256 of `text` and of `article`, in hexadecimal. */
  digests: { text: string; article: string }
}

/** The reason completes the sentence "The page …". */
export type FetchedPage = { outcome: 'read'; page: Page } | { outcome: 'failed'; reason: string }

/** Fetches pages that a user or a search endpoint named. It reaches public addresses only. */
export type FetchPage = (
  url: string,
  project_id: string,
  signal: AbortSignal,
) => Promise<FetchedPage>

export type FetchSettings = {
  outbound: Outbound
  reader: PageReader
  /** Pages that a project fetches in a minute, per process. */
  project_minute_max?: number
  timeout_ms?: number
  /** Milliseconds since 1970. */
  now?: () => number
}

/** Pages that a process, and a project of it, fetches at one time: each takes up to 30 MB. */
const parallel_max = 8
const maxProjectParallel = 2
const redirects_max = 5
const minute_ms = 60_000
/** Projects whose pages are counted. */
const projects_max = 10_000
const url_chars_max = 2_000

const headers = {
  accept: 'text/html,application/xhtml+xml,text/plain,text/markdown,application/json;q=0.8',
  'accept-encoding': 'gzip, deflate, br',
  'user-agent': 'Looptrace-verification (+https://github.com/looptrace/looptrace)',
}

const refusals: Record<OutboundFailed['code'], string> = {
  refused: 'is not at a public address.',
  unresolved: 'has a host that does not exist, or has no public address.',
  connection: 'could not be reached.',
  timeout: 'did not arrive in time.',
  aborted: 'was not waited for.',
  too_large: 'is too large.',
  encoding: 'could not be decompressed.',
  redirects: 'redirects too often.',
}

/** Creates the fetcher. Outbound must not have allowed networks: pages are never in the cluster. */
export function createFetchPage(settings: FetchSettings): FetchPage {
  const slots = new Semaphore({ permits_max: parallel_max })
  const projects = new BoundedCache<string, Semaphore>(projects_max)
  const slotsOf = (project_id: string) => {
    const own = projects.get(project_id) ?? new Semaphore({ permits_max: maxProjectParallel })
    projects.set(project_id, own)
    return own
  }
  const isWithinRate = createRate(settings)
  return async (url, project_id, signal) => {
    if (url.length > url_chars_max) return failed('has a URL of more than 2,000 characters.')
    if (!isWithinRate(project_id)) {
      return failed('was not fetched: the project fetches too many pages a minute.')
    }
    const fetchInSlot = () => slots.run(() => fetchPage(settings, url, signal), signal)
    return slotsOf(project_id).run(fetchInSlot, signal)
  }
}

/** Counts the pages of each project in the minute. */
function createRate({ project_minute_max = 120, now = Date.now }: FetchSettings) {
  const counts = new BoundedCache<string, { minute: number; pages: number }>(projects_max)
  return (project_id: string): boolean => {
    const minute = Math.floor(now() / minute_ms)
    const last = counts.get(project_id)
    const pages = last?.minute === minute ? last.pages : 0
    if (pages >= project_minute_max) return false
    counts.set(project_id, { minute, pages: pages + 1 })
    return true
  }
}

function failed(reason: string): FetchedPage {
  return { outcome: 'failed', reason }
}

async function fetchPage(
  { outbound, reader, timeout_ms = 5_000 }: FetchSettings,
  url: string,
  signal: AbortSignal,
): Promise<FetchedPage> {
  try {
    const request = { url, method: 'GET', headers, timeout_ms, redirects: redirects_max } as const
    const reply = await outbound.send({ ...request, signal })
    if (reply.status !== 200) return failed(`answers with status ${reply.status}.`)
    return { outcome: 'read', page: await toPage(reader, reply, signal) }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof PageRefused) return failed(error.message)
    if (error instanceof OutboundFailed) {
      return failed(error.isNameRefused ? refusals.unresolved : refusals[error.code])
    }
    throw error
  }
}

async function toPage(
  reader: PageReader,
  { body, headers: received, url }: OutboundReply,
  signal: AbortSignal,
): Promise<Page> {
  const read = await reader.read(body, String(received['content-type'] ?? ''), signal)
  const [address = url] = url.split('#', 1)
  return {
    url: address,
    ...read,
    digests: { text: sha256(read.text), article: sha256(read.article) },
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
