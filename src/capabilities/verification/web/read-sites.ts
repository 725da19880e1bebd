import { parse } from 'tldts'
import { tokenize } from '../../provenance/text/index.ts'
import { type SplitDocument, splitDocument } from '../knowledge/chunks.ts'
import {
  buildLibrary,
  findPassages,
  type Passage,
  type Question,
  weighRecall,
} from '../knowledge/library.ts'
import { readDocument } from '../knowledge/read-document.ts'
import { judgeByWords, type WordJudgement } from '../verdicts/judge-by-words.ts'
import type { FetchedPage, Page } from './fetch-page.ts'
import type { SearchHit } from './search.ts'

/** A page that a claim is compared with. */
export type Site = { site: string; page: Page; document: SplitDocument }

/** The judgement of one site on a claim. The best passage comes first. */
export type SiteOpinion = Site & { passages: readonly Passage[]; judgement: WordJudgement }

export type SiteReader = {
  /**
   * Reads the first result of each site, and returns at most one page for each site. A site is that
   * of the page after redirects. `failures` are sentences about pages that were not read.
   */
  read(
    hits: readonly SearchHit[],
    sites_max: number,
  ): Promise<{ sites: Site[]; failures: string[] }>
}

/** Passages that are compared, and the share of the claim's words that a passage of a site has. */
const passages_max = 50
const minWordShare = 0.25

/** Creates a reader that fetches each page once, and at most `pages_max` pages. */
export function createSiteReader(
  fetchPage: (url: string) => Promise<FetchedPage>,
  pages_max: number,
): SiteReader {
  const pages = new Map<string, Promise<Site | string>>()
  const open = (url: string): Promise<Site | string> => {
    const known = pages.get(url)
    if (known !== undefined) return known
    if (pages.size >= pages_max) return Promise.resolve('The limit of pages of the run is reached.')
    const page = fetchPage(url).then(toSite)
    pages.set(url, page)
    return page
  }
  return {
    read: async (hits, sites_max) => {
      const urls = firstOfEachSite(hits).slice(0, sites_max)
      const read = await Promise.all(urls.map(open))
      const sites = new Map<string, Site>()
      const failures: string[] = []
      for (const one of read) {
        if (typeof one === 'string') failures.push(one)
        else if (!sites.has(one.site)) sites.set(one.site, one)
      }
      return { sites: [...sites.values()], failures }
    },
  }
}

function firstOfEachSite(hits: readonly SearchHit[]): string[] {
  const urls = new Map<string, string>()
  for (const { url } of hits) {
    const site = siteOf(url)
    if (site !== undefined && !urls.has(site)) urls.set(site, url)
  }
  return [...urls.values()]
}

function toSite(fetched: FetchedPage): Site | string {
  if (fetched.outcome === 'failed') return `The page ${fetched.reason}`
  const { page } = fetched
  const site = siteOf(page.url)
  if (site === undefined) return 'The page redirects to a host without a public domain.'
  const document = splitDocument(page.url, page.title, readDocument('text', page.article))
  return { site, page, document }
}

/**
 * Compares a claim with each site that has a passage about it; the best site comes first. Only the
 * first of sites with the same passage is kept.
 */
export function askSites(claim: Question, sites: readonly Site[]): SiteOpinion[] {
  const library = buildLibrary(sites.map(({ document }) => document))
  const found = findPassages(library, claim, passages_max)
  const opinions = sites.flatMap((site): SiteOpinion[] => {
    const own = found.filter(({ source }) => source === site.document.id)
    if (!own.some(isAbout)) return []
    const judgement = judgeByWords(claim, own)
    const quote = judgement.evidence[0]?.quote
    const passages = own.toSorted((one, other) => rankOf(one, quote) - rankOf(other, quote))
    return [{ ...site, judgement, passages }]
  })
  opinions.sort((one, other) => other.judgement.support - one.judgement.support)
  return opinions.filter(
    (opinion, at) => !opinions.slice(0, at).some((earlier) => isCopy(opinion, earlier)),
  )
}

/** Reports whether a passage has enough words, each with the same weight: rarity needs more pages. */
function isAbout({ weights, context, text }: Passage): boolean {
  const equal = new Map([...weights.keys()].map((term) => [term, 1]))
  return weighRecall(equal, `${context}\n${text}`) >= minWordShare
}

/** Ranks the passage that the judgement rests on before the others, which keep their order. */
function rankOf({ text }: Passage, quote: string | undefined): number {
  return text === quote ? 0 : 1
}

function isCopy(one: SiteOpinion, other: SiteOpinion): boolean {
  if (one.page.digests.article === other.page.digests.article) return true
  return isSameText(one.passages[0]?.text ?? '', other.passages[0]?.text ?? '')
}

/** Words of a shingle, and the share of common shingles from which two texts are one source. */
const shingle_words = 3
const minSameShare = 0.8

/**
 * Returns the registrable domain of a URL, such as `example.co.uk`. Hosts of a hosting service share
 * its domain, because one person can have many of them. Undefined for addresses, for names without a
 * public suffix, such as those of a cluster, and for other texts.
 */
function siteOf(url: string): string | undefined {
  const { domain, isIcann, isIp } = parse(url, { allowPrivateDomains: false })
  return isIcann === true && isIp !== true && domain !== null ? domain : undefined
}

/** Reports whether two passages have the same words, so that one was copied from the other. */
function isSameText(one: string, other: string): boolean {
  const [first, second] = [shinglesOf(one), shinglesOf(other)]
  const common = [...first].filter((shingle) => second.has(shingle)).length
  return common >= minSameShare * Math.max(1, Math.min(first.size, second.size))
}

function shinglesOf(text: string): Set<string> {
  const terms = tokenize(text).map(({ term }) => term)
  const count = Math.max(1, terms.length - shingle_words + 1)
  return new Set(
    Array.from({ length: count }, (_, at) => terms.slice(at, at + shingle_words).join(' ')),
  )
}
