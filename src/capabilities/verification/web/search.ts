import {
  itemsOf,
  type JsonObject,
  objectFrom,
  parsedJson,
  textFrom,
} from '../../../kernel/json-values.ts'
import { type Outbound, OutboundFailed } from '../../../platform/outbound/index.ts'

/** A result of a search. */
export type SearchHit = { url: string; title: string }

/** A search endpoint with the JSON of SearXNG: `{"results": [{"url", "title", "content"}]}`. */
export type SearchEndpoint = {
  nano_dollars_per_query: bigint
  /** Rejects with SearchFailed. */
  search(query: string, signal: AbortSignal): Promise<SearchHit[]>
}

/** A search has no results that can be read. The message is a sentence for a reader. */
export class SearchFailed extends Error {
  override readonly name = 'SearchFailed'
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
export function openSearch({
  outbound,
  url,
  timeout_ms = 10_000,
  ...settings
}: SearchSettings): SearchEndpoint {
  const endpoint = new URL(url)
  if (endpoint.pathname === '/') endpoint.pathname = '/search'
  return {
    nano_dollars_per_query: settings.nano_dollars_per_query,
    search: async (query, signal) => {
      const target = new URL(endpoint)
      target.searchParams.set('q', query)
      target.searchParams.set('format', 'json')
      const headers = { accept: 'application/json', 'accept-encoding': 'gzip, deflate, br' }
      const request = { url: target.href, method: 'GET', headers, timeout_ms, signal } as const
      const reply = await outbound.send(request).catch((cause: unknown) => {
        signal.throwIfAborted()
        if (!(cause instanceof OutboundFailed)) throw cause
        throw new SearchFailed('The search endpoint did not answer.', { cause })
      })
      if (reply.status !== 200) {
        throw new SearchFailed(`The search endpoint answered with status ${reply.status}.`)
      }
      const json = objectFrom(parsedJson(reply.body.toString('utf8')))
      if (!Array.isArray(json?.['results'])) {
        throw new SearchFailed('The search endpoint answered without a list of results.')
      }
      return readHits(json)
    },
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
