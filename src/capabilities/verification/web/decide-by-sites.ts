import {
  type Judge,
  type Opinion,
  quote_chars_max,
  type StoredEvidence,
  type StoredResult,
} from '../contract.ts'
import type { Question } from '../knowledge/library.ts'
import { decideByWords } from '../verdicts/judge-by-words.ts'
import { askSites, type Site, type SiteOpinion } from './read-sites.ts'

type Result = Omit<StoredResult, 'verifier'>
type Judging = { judge: Judge | undefined; signal: AbortSignal }

/** Independent sites that must agree. */
const sites_min = 2

/**
 * Decides on a claim by the pages of different sites. Two independent sites that quote it decide,
 * unless a site has another number. Otherwise the judge decides, when there is one; without it,
 * two sites with the words of the claim make it likely.
 */
export async function decideBySites(
  statement: Question,
  sites: readonly Site[],
  judging: Judging,
): Promise<Result> {
  const opinions = askSites(statement, sites)
  const supporting = opinions
    .filter(({ judgement }) => isAgreeing(judgement))
    .toSorted((one, other) => rankOf(one) - rankOf(other))
  const byWords =
    supporting.length >= sites_min && !isDisputed(statement, opinions)
      ? supportedByWords(supporting.slice(0, sites_min))
      : undefined
  if (byWords?.verdict === 'supported') return byWords
  const { judge, signal } = judging
  const judged =
    judge !== undefined && opinions.length >= sites_min
      ? await decideByJudge({ judge, statement, signal }, opinions)
      : undefined
  return judged ?? byWords ?? undecided(opinions, supporting)
}

function isAgreeing({ verdict }: Pick<SiteOpinion['judgement'], 'verdict'>): boolean {
  return verdict === 'supported' || verdict === 'likely'
}

/** Quotes come before words. */
function rankOf({ judgement }: SiteOpinion): number {
  return judgement.verdict === 'supported' ? 0 : 1
}

/** Reports whether a sentence of another site has another number. */
function isDisputed(statement: Question, opinions: readonly SiteOpinion[]): boolean {
  const passages = opinions.flatMap((opinion) => opinion.passages)
  return !isAgreeing(decideByWords(statement, passages))
}

function supportedByWords(agreeing: readonly SiteOpinion[]): Result {
  const weakest = agreeing.find(({ judgement }) => judgement.verdict === 'likely') ?? agreeing[0]
  const { verdict = 'supported', method = 'words' } = weakest?.judgement ?? {}
  const sites = agreeing.map(({ site }) => site).join(', ')
  return {
    verdict,
    confidence: Math.min(...agreeing.map(({ judgement }) => judgement.confidence)),
    method,
    evidence: agreeing.map((opinion) => evidenceOf(opinion)),
    note:
      verdict === 'supported'
        ? `supported by independent sites: ${sites}`
        : `independent sites have the words of the claim: ${sites}`,
  }
}

function undecided(opinions: readonly SiteOpinion[], supporting: readonly SiteOpinion[]): Result {
  const [only] = supporting
  const similar = opinions.find(({ judgement }) => judgement.verdict !== 'not_found')
  const shown = only ?? similar
  if (shown === undefined) {
    const note = 'not found on the pages that were read'
    return { verdict: 'not_found', confidence: 0.5, method: 'words', evidence: [], note }
  }
  const evidence = [evidenceOf(shown)]
  if (supporting.length >= sites_min) return unverifiable('words', evidence, 'sites disagree')
  const note =
    only === undefined
      ? 'a page has some of its words, which is not enough to support it'
      : `stated by one site, ${only.site}; two independent sites are required`
  return unverifiable('words', evidence, note)
}

function unverifiable(method: string, evidence: StoredEvidence[], note: string): Result {
  return { verdict: 'unverifiable', confidence: 0.5, method, evidence, note }
}

type JudgeCall = { judge: Judge; statement: Question; signal: AbortSignal }

/**
 * Asks the judge twice: about the best passage of each site, then about those of the other sites.
 * Only two opinions of the same verdict decide. Returns undefined when the judge has no verdict.
 */
async function decideByJudge(
  call: JudgeCall,
  opinions: readonly SiteOpinion[],
): Promise<Result | undefined> {
  const first = await judgeSites(call, opinions)
  if (first === undefined) return undefined
  const others = opinions.filter(({ site }) => site !== first.site)
  const second = await judgeSites(call, others)
  const { verdict, method } = first.judged
  if (second === undefined) {
    const note = `only one site, ${first.site}, decides; two independent sites are required`
    return unverifiable(method, [first.evidence], note)
  }
  const evidence = [first.evidence, second.evidence]
  if (second.judged.verdict !== verdict) return unverifiable(method, evidence, 'sites disagree')
  const confidence = Math.min(first.judged.confidence, second.judged.confidence)
  const note = `${verdict} by independent sites: ${first.site}, ${second.site}`
  return { verdict, confidence, method, evidence, note }
}

type Judged = { judged: Opinion; site: string; evidence: StoredEvidence }

/** Returns the judge's verdict with the site that it quotes; undefined without one. */
async function judgeSites(
  { judge, statement, signal }: JudgeCall,
  opinions: readonly SiteOpinion[],
): Promise<Judged | undefined> {
  const passages = opinions.map(({ page, passages: [best] }) => ({
    source: page.url,
    text: best?.text ?? '',
  }))
  const { text: claim, context = '' } = statement
  const judged = await judge({ claim, context, passages, verifier: 'web' }, signal)
  const opinion = judged.quote === null ? undefined : opinions[judged.quote.passage]
  if (judged.verdict === 'unverifiable' || judged.quote === null || opinion === undefined) {
    return undefined
  }
  return { judged, site: opinion.site, evidence: evidenceOf(opinion, judged.quote.at) }
}

/** Returns a part of the best passage of a site as evidence; without a range, its beginning. */
function evidenceOf(
  { page, passages: [best] }: SiteOpinion,
  at: readonly [number, number] = [0, best?.text.length ?? 0],
): StoredEvidence {
  const start = (best?.at[0] ?? 0) + at[0]
  const end = Math.min(start + at[1] - at[0], start + quote_chars_max)
  const quote = page.article.slice(start, end)
  return { kind: 'web', source: page.url, quote, at: [start, end], digest: page.digests.article }
}
