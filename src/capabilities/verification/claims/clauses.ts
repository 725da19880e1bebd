import type { Part } from '../../provenance/text/index.ts'

const joint =
  /(?:;|,? (?:and|but|while|whereas|und|aber|während|et|mais|tandis que|y|pero|mientras)) (?=\S)/gu

/** Verbs of an independent clause. */
const verb =
  /(?<![\p{L}])(?:is|are|was|were|has|have|had|can|may|must|will|would|costs?|pays?|needs?|gets?|takes?|rose|fell|grew|ist|sind|war|waren|hat|haben|kann|muss|wird|werden|kostet|kosten|est|sont|était|a|ont|peut|doit|coûte|es|son|fue|era|tiene|tienen|puede|cuesta)(?![\p{L}])/iu

const subordinate =
  /(?<![\p{L}])(?:if|unless|since|because|although|provided|wenn|falls|weil|da|obwohl|si|puisque|parce|car|aunque|porque|ya que)(?![\p{L}])/iu

const figure =
  /\d|(?<![\p{L}])(?:two|three|four|five|six|seven|eight|nine|ten|zwei|drei|vier|fünf|deux|trois|quatre|cinq|dos|tres|cuatro|cinco)(?![\p{L}])/iu

/** The first half of "between three and four hours". */
const range = /(?<!\p{L})(?:between|both|zwischen|entre) \S+(?: \S+)?$/iu

/** Maximum characters of a sentence that is split. */
const sentence_chars_max = 2000

/**
 * Splits a sentence into clauses, only where each side has its own verb and its own number or name.
 */
export function splitClauses(text: string, sentence: Part): Part[] {
  if (sentence.end - sentence.start > sentence_chars_max) return [sentence]
  // A statement and its condition or reason are one claim.
  if (subordinate.test(text.slice(sentence.start, sentence.end))) return [sentence]
  const parts: Part[] = []
  let from = sentence.start
  for (const match of text.slice(sentence.start, sentence.end).matchAll(joint)) {
    const at = sentence.start + match.index
    const next = at + match[0].length
    if (range.test(text.slice(from, at))) continue
    if (!isClause(text.slice(from, at)) || !isClause(text.slice(next, sentence.end))) continue
    // The next clause must be complete before its next joint. Later clauses are checked in turn.
    if (!startsClause(text.slice(next, sentence.end))) continue
    parts.push({ start: from, end: at })
    from = next
  }
  parts.push({ start: from, end: sentence.end })
  return parts
}

function isClause(part: string): boolean {
  return verb.test(part) && (figure.test(part) || hasName(part)) && isBalanced(part)
}

/** Returns whether a subject and then a verb come first, before any other joint. */
function startsClause(rest: string): boolean {
  const first = rest.split(/[,;:]/, 1)[0] ?? ''
  const start = first.split(/\s+/).slice(0, 8).join(' ')
  return (
    verb.test(start) &&
    !verb.test(first.split(/\s+/, 1)[0] ?? '') &&
    (figure.test(first) || hasName(first))
  )
}

function hasName(part: string): boolean {
  return /(?<=\S\s)\p{Lu}[\p{L}\d]+|^\p{Lu}\p{L}+ \p{Lu}/u.test(part)
}

function isBalanced(part: string): boolean {
  const count = (sign: string) => part.split(sign).length
  return count('(') === count(')') && count('"') % 2 === 1 && count('“') === count('”')
}
