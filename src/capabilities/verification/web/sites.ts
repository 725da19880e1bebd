import { parse } from 'tldts'
import { tokenize } from '../../provenance/text/index.ts'

/** Words of a shingle, and the share of common shingles from which two texts are one source. */
const shingle_words = 3
const minSameShare = 0.8

/**
 * Returns the registrable domain of a URL, such as `example.co.uk`. Hosts of a hosting service share
 * its domain, because one person can have many of them. Undefined for addresses, for names without a
 * public suffix, such as those of a cluster, and for other texts.
 */
export function siteOf(url: string): string | undefined {
  const { domain, isIcann, isIp } = parse(url, { allowPrivateDomains: false })
  return isIcann === true && isIp !== true && domain !== null ? domain : undefined
}

/** Reports whether two passages have the same words, so that one was copied from the other. */
export function isSameText(one: string, other: string): boolean {
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
