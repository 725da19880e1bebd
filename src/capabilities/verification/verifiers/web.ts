import { createHash } from 'node:crypto'
import { z } from 'zod'
import { withoutReferences } from '../citations/references.ts'
import type { CheckClaim, StoredResult, Verifier, VerifierContext } from '../contract.ts'
import { decideBySites } from '../web/decide-by-sites.ts'
import type { FetchPage } from '../web/fetch-page.ts'
import { createSiteReader } from '../web/read-sites.ts'
import { readHits, type SearchEndpoint, type SearchHit } from '../web/search.ts'
import { searchQuery } from '../web/search-query.ts'

const options = z.strictObject({
  sites_max: z.int().min(2).max(10).default(5).describe('Maximum sites read for a claim, 2–10.'),
  searches_max: z.int().min(1).max(60).default(20).describe('Maximum searches of a run, 1–60.'),
  pages_max: z.int().min(2).max(200).default(60).describe('Maximum pages fetched in a run, 2–200.'),
  judge: z.boolean().default(true).describe('Whether a judge reads what words do not decide.'),
})

type Options = z.output<typeof options>
type Result = Omit<StoredResult, 'verifier'>

export type WebVerifierDeps = {
  /** Undefined when no endpoint is configured. */
  search: SearchEndpoint | undefined
  fetchPage: FetchPage
  /** Returns the most that the judge costs for a number of claims; undefined without a judge. */
  estimateJudge: ((claims: number) => { calls: number; nano_dollars: bigint }) | undefined
}

/** Questions to the judge about a claim: about all sites, and about the others. */
const judgements_max = 2

/**
 * Creates the verifier `web`: it searches for each claim, reads the pages of different sites, and
 * supports a claim when two independent sites do. The excerpt of the search endpoint is no
 * evidence; only the page is.
 */
export function createWebVerifier({
  search,
  fetchPage,
  estimateJudge,
}: WebVerifierDeps): Verifier<typeof options> {
  return {
    name: 'web',
    description: 'Searches the web, and supports a claim that two independent sites support.',
    cost: 'search',
    options,
    unavailable: () =>
      search === undefined
        ? 'No search endpoint is configured. Set LOOPTRACE_VERIFICATION_SEARCH_URL.'
        : undefined,
    estimate: (claims, { searches_max, judge }) => {
      const searches = Math.min(claims, searches_max)
      const judging = judge ? estimateJudge?.(judgements_max * searches) : undefined
      return {
        calls: searches + (judging?.calls ?? 0),
        nano_dollars:
          BigInt(searches) * (search?.nano_dollars_per_query ?? 0n) + (judging?.nano_dollars ?? 0n),
      }
    },
    open: async (context, chosen, signal) =>
      search === undefined
        ? async () => skipped('no search endpoint is configured')
        : openRun({ search, fetchPage, context, chosen, signal }),
  }
}

type Run = {
  search: SearchEndpoint
  fetchPage: FetchPage
  context: VerifierContext
  chosen: Options
  signal: AbortSignal
}

function openRun(run: Run): CheckClaim {
  const { project_id, question } = run.context.answer
  const reader = createSiteReader(
    (url) => run.fetchPage(url, project_id, run.signal),
    run.chosen.pages_max,
  )
  const find = createFinder(run)
  return async (claim, signal) => {
    const query = searchQuery(claim, question)
    if (query === undefined) return skipped('the claim has too few words that may be searched for')
    const found = await find(query)
    if (typeof found === 'string') return skipped(found)
    const { sites, failures } = await reader.read(found, run.chosen.sites_max)
    if (sites.length === 0 && failures.length > 0) {
      return skipped(`none of ${failures.length} pages could be read. ${failures[0] ?? ''}`.trim())
    }
    const text = withoutReferences(claim.text)
    const judge = run.chosen.judge ? run.context.judge : undefined
    return decideBySites({ text, context: question }, sites, { judge, signal })
  }
}

/**
 * Searches once for each query, until the run ends: claims share a search, so it does not end with
 * one of them. A text is the reason why there are no results.
 */
function createFinder({ search, context, chosen, signal }: Run) {
  const searches = new Map<string, Promise<readonly SearchHit[] | string>>()
  const ask = async (query: string) => {
    const paid = await context.paid(
      {
        key: `search:${createHash('sha256').update(query).digest('hex').slice(0, 32)}`,
        verifier: 'web' as const,
        model: 'search',
        nano_dollars_max: search.nano_dollars_per_query,
        send: async (ending) => ({
          reply: { results: await search.search(query, ending) },
          input_tokens: null,
          output_tokens: null,
          nano_dollars: search.nano_dollars_per_query,
        }),
      },
      signal,
    )
    return paid.outcome === 'answered' ? readHits(paid.reply) : paid.reason
  }
  return (query: string): Promise<readonly SearchHit[] | string> => {
    const known = searches.get(query)
    if (known !== undefined) return known
    if (searches.size >= chosen.searches_max) {
      return Promise.resolve(`the limit of ${chosen.searches_max} searches of the run is reached`)
    }
    const found = ask(query)
    searches.set(query, found)
    return found
  }
}

function skipped(note: string): Result {
  return { verdict: 'skipped', confidence: 0, method: 'words', evidence: [], note }
}
