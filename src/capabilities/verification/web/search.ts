import {
  itemsOf,
  type JsonObject,
  objectFrom,
  parsedJson,
  textFrom,
} from '../../../kernel/json-values.ts'
import { PaidCallFailed } from '../../../platform/models/index.ts'
import {
  type Outbound,
  OutboundFailed,
  type OutboundReply,
} from '../../../platform/outbound/index.ts'

/** A result of a search. */
export type SearchHit = { url: string; title: string }

/** A search endpoint with the JSON of SearXNG: `{"results": [{"url", "title", "content"}]}`. */
export type SearchEndpoint = {
  nano_dollars_per_query: bigint
  /** Rejects with PaidCallFailed, whose cost is known. */
  search(query: string, signal: AbortSignal): Promise<SearchHit[]>
}

export type SearchSettings = {
  /** Reaches the endpoint, also in a private network: the operator of the installation named it. */
  outbound: Outbound
  url: string
  nano_dollars_per_query: bigint
  timeout_ms?: number
}

/** Results of a reply that are read, and results that are kept. */
const read_max = 200
const hits_max = 20
const url_chars_max = 2_000
const title_chars_max = 300

/** Opens the endpoint. A URL without a path means `/search`, where SearXNG answers. */
export function openSearch(settings: SearchSettings): SearchEndpoint {
  const endpoint = new URL(settings.url)
  if (endpoint.pathname === '/') endpoint.pathname = '/search'
  const { nano_dollars_per_query } = settings
  return {
    nano_dollars_per_query,
    search: async (query, signal) => {
      const target = new URL(endpoint)
      target.searchParams.set('q', query)
      target.searchParams.set('format', 'json')
      const reply = await send(settings, target.href, signal)
      if (reply.status !== 200) {
        // An error is not charged.
        throw new PaidCallFailed(`The search endpoint answered with status ${reply.status}.`)
      }
      const json = objectFrom(parsedJson(reply.body.toString('utf8')))
      if (Array.isArray(json?.['results'])) return readHits(json)
      const detail = 'The search endpoint answered without a list of results.'
      throw new PaidCallFailed(detail, nano_dollars_per_query)
    },
  }
}

async function send(
  { outbound, timeout_ms = 10_000, nano_dollars_per_query }: SearchSettings,
  url: string,
  signal: AbortSignal,
): Promise<OutboundReply> {
  const headers = { accept: 'application/json', 'accept-encoding': 'gzip, deflate, br' }
  try {
    return await outbound.send({ url, method: 'GET', headers, timeout_ms, signal })
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof OutboundFailed)) throw error
    const cost = error.reached ? nano_dollars_per_query : 0n
    throw new PaidCallFailed('The search endpoint did not answer.', cost)
  }
}

/** Reads results that have an http or https URL, also from the recorded reply of an earlier run. */
export function readHits(reply: JsonObject): SearchHit[] {
  return itemsOf(reply['results']).slice(0, read_max).flatMap(hitFrom).slice(0, hits_max)
}

function hitFrom(result: unknown): SearchHit[] {
  const { url, title }: JsonObject = objectFrom(result) ?? {}
  const parsed = URL.parse(textFrom(url).slice(0, url_chars_max + 1))
  if (parsed === null || parsed.href.length > url_chars_max) return []
  if (
    !['http:', 'https:'].includes(parsed.protocol) ||
    `${parsed.username}${parsed.password}` !== ''
  )
    return []
  parsed.hash = ''
  return [{ url: parsed.href, title: textFrom(title).slice(0, title_chars_max) }]
}
