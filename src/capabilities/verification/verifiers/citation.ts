import { z } from 'zod'
import { checkCitations } from '../citations/check-citations.ts'
import { type CitedText, citedPage } from '../citations/cited-texts.ts'
import { type Citations, openCitations } from '../citations/follow-references.ts'
import type { CheckClaim, StoredResult, Verifier } from '../contract.ts'
import type { FetchPage } from '../web/fetch-page.ts'

const options = z.strictObject({
  fetch: z
    .boolean()
    .default(false)
    .describe('Whether cited pages are fetched when what the agent saw does not decide.'),
  pages_max: z.int().min(1).max(50).default(10).describe('Maximum pages fetched in a run, 1–50.'),
})

type Result = Omit<StoredResult, 'verifier'>

/** URLs of a claim that are fetched. */
const maxClaimUrls = 3

/**
 * Creates the verifier `citation`: references of an answer exist, and their source contains the
 * quote or states the claim. It first reads the texts that the agent saw, and with `fetch` also the
 * cited pages.
 */
export function createCitationVerifier(fetchPage: FetchPage): Verifier<typeof options> {
  return {
    name: 'citation',
    description:
      'Follows the references of an answer, and looks for its quotes in the cited sources.',
    cost: 'free',
    options,
    unavailable: () => undefined,
    estimate: () => ({ calls: 0, nano_dollars: 0n }),
    open: async ({ answer }, { fetch, pages_max }, signal) => {
      const { read, seen } = openCitations(answer)
      const openPage = createPages((url) => {
        const canFetch = seen.byUrl(url).length > 0 || isPlain(url)
        return canFetch ? fetchPage(url, answer.project_id, signal) : Promise.resolve(unplain)
      }, pages_max)
      return async (claim): ReturnType<CheckClaim> => {
        const citations = read(claim)
        if (citations === undefined) return skipped('the claim cites no source and quotes nothing')
        const result = checkCitations(citations, seen.all)
        const isOpen = result.verdict === 'not_found' || result.verdict === 'unverifiable'
        return fetch && isOpen ? checkPages(citations, result, openPage) : result
      }
    },
  }
}

function skipped(note: string): Result {
  return { verdict: 'skipped', confidence: 0, method: 'citation', evidence: [], note }
}

/** Characters of host and path of a URL that the agent did not see. */
const maxPlainUrlChars = 80
const unplain = {
  outcome: 'failed',
  reason: 'was not fetched: the agent did not see its URL, which is long enough to carry data.',
} as const

/**
 * Returns whether a URL is too short to carry data: an agent under prompt injection can write data
 * into a URL that it cites.
 */
function isPlain(url: string): boolean {
  const { host = '', pathname = '', search = '?' } = URL.parse(url) ?? {}
  return search === '' && host.length + pathname.length <= maxPlainUrlChars
}

/** Returns a page, or the reason why it was not read. */
type OpenPage = (url: string) => Promise<CitedText | string>

/** Fetches each page once, and at most `pages_max` pages. */
function createPages(
  fetchPage: (url: string) => ReturnType<FetchPage>,
  pages_max: number,
): OpenPage {
  const pages = new Map<string, Promise<CitedText | string>>()
  const open: OpenPage = async (url) => {
    const fetched = await fetchPage(url)
    if (fetched.outcome === 'failed') return fetched.reason
    const { page } = fetched
    return citedPage({ ...page, digest: page.digests.text })
  }
  return (url) => {
    const known = pages.get(url)
    if (known !== undefined) return known
    if (pages.size >= pages_max) return Promise.resolve('was not fetched: the run fetched enough.')
    const page = open(url)
    pages.set(url, page)
    return page
  }
}

/** Checks the cited pages, which can support a claim; otherwise the earlier result stays. */
async function checkPages(
  citations: Citations,
  result: Result,
  openPage: OpenPage,
): Promise<Result> {
  const opened = await Promise.all(citations.urls.slice(0, maxClaimUrls).map(openPage))
  const texts = opened.filter((page) => typeof page !== 'string')
  const [failure] = opened.filter((page) => typeof page === 'string')
  if (texts.length === 0) {
    return failure === undefined
      ? result
      : { ...result, note: `${result.note}; the cited page ${failure}` }
  }
  const checked = checkCitations({ ...citations, texts, hasReferences: true }, texts)
  if (checked.verdict === 'supported' || checked.verdict === 'likely') return checked
  if (checked.verdict === 'unverifiable' && result.verdict === 'not_found') return checked
  return { ...result, note: `${result.note}, nor on the cited page` }
}
