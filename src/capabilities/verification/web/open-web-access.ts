import { openOutbound, parseAllowedNetwork } from '../../../platform/outbound/index.ts'
import { createFetchPage, type FetchPage } from './fetch-page.ts'
import { createPageReader } from './read-page.ts'
import { openSearch, type SearchEndpoint } from './search.ts'

/** Web access of verifiers. */
export type WebAccess = {
  /** Undefined when no search endpoint is configured. */
  search: SearchEndpoint | undefined
  fetchPage: FetchPage
  /** Ends the thread that reads pages. */
  close(): Promise<void>
}

type WebConfig = {
  verification_search_url?: string | undefined
  verification_search_cents_per_thousand_queries: number
}

/** A US cent is 10,000,000 nano-dollars; the price is for a thousand searches. */
const nanoDollarsPerCentOfThousand = 10_000n

/**
 * Opens the web. Pages are at public addresses only, because tenants and strangers name them. The
 * search endpoint is named by the operator of the installation, and may be in a private network: a
 * tenant cannot choose where its requests go, and its redirects are not followed.
 */
export function openWebAccess(config: WebConfig): WebAccess {
  const reader = createPageReader()
  const { verification_search_url: url } = config
  const cents = BigInt(config.verification_search_cents_per_thousand_queries)
  return {
    search:
      url === undefined
        ? undefined
        : openSearch({
            url,
            outbound: openOutbound({ allowed: allNetworksOf(new URL(url)) }),
            nano_dollars_per_query: cents * nanoDollarsPerCentOfThousand,
          }),
    fetchPage: createFetchPage({ outbound: openOutbound({ allowed: [] }), reader }),
    close: () => reader.close(),
  }
}

/** Returns all networks, on the port of the URL. */
function allNetworksOf({ port, protocol }: URL) {
  const named = port === '' ? { 'http:': 80, 'https:': 443 }[protocol] : port
  return ['0.0.0.0/0', '[::/0]'].map((network) => parseAllowedNetwork(`${network}:${named}`))
}
