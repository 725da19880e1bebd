import type { Statement } from '../../../contract.ts'
import type { Segment } from '../sentence/segments.ts'
import { forbid, requiredAt } from './read-words.ts'

/** Reads names that must not come up: "never mention Globex". */
export function readNames(segment: Segment): Statement[] {
  const found = namedOnly.exec(segment.text)
  const value = found?.[1]
  if (found === null || value === undefined || !segment.isAskedAt(found.index)) return []
  return [forbid(segment, value)]
}

const namedOnly =
  /(?:[Nn]ever|[Dd]o not|[Dd]on't|[Mm]ust not|[Mm]ay not|[Aa]void)(?: ever)? (?:mention|mentioning|name|naming|refer to|referring to|talk about|talking about|bring up|speak of) (?:(?:our|the|any|a) )?(?:(?:competitors?|rivals?|company|product|project|brand|customer)s?,? )?(\p{Lu}[\p{L}\p{N}-]{2,30}(?: \p{Lu}[\p{L}\p{N}-]{2,30}){0,2})(?=[\s.,;!?]|$)/u

/** Reads a place for words without quotes: "start with Verdict:", "sign off as Bob". */
export function readUnquoted(segment: Segment): Statement[] {
  const { text } = segment
  if (text.includes('⟦')) return []
  const sign = signedAs.exec(text)
  if (sign?.[1] !== undefined && segment.isAskedAt(sign.index)) {
    return [requiredAt(segment, 'end', sign[1])]
  }
  const label =
    /\b(?:start|begin|open|prefix|starts|begins)\b[^;:]{0,50}? with (?:the (?:word|label|tag|prefix) )?(\p{Lu}\p{L}{1,20}:?)(?=$|[\s.,!])/u.exec(
      text,
    )
  return label?.[1] !== undefined && segment.isAskedAt(label.index)
    ? [requiredAt(segment, 'start', label[1])]
    : []
}

const signedAs =
  /(?<![\p{L}])[Ss]ign(?: off)?(?: \p{Ll}+){0,5} (?:as|with) (\p{Lu}[\p{L}.]{1,30}(?: \p{Lu}[\p{L}.]{1,30}){0,3})(?=[\s.,;!?]|$)/u

const not =
  "(?:do not|don't|must not|mustn't|may not|should not|shouldn't|cannot|can't|never|not allowed to|are never to|avoid)(?: ever)?"
const call = '(?:call|use|run|invoke|calling|using|running|execute)'
const identifier = '(?:⟦(\\d+)⟧|([a-zA-Z][\\w.-]{1,63}))'
const toolPatterns: readonly RegExp[] = [
  // A name with an underscore or a dot is an identifier, not an ordinary word.
  new RegExp(
    `${not} ${call} (?:the )?(?:tool |function )?(?:⟦(\\d+)⟧|([a-zA-Z]\\w*[_.-]\\w+))(?: tool| function)?(?: again)?(?=[\\s.,;!]|$)`,
    'i',
  ),
  new RegExp(
    `${not} ${call} (?:the )?(?:tool|function) (?!more|again|for|to|if|unless|without|when|in|on|at|with|that|which|twice|once|until|and|or|calls?)${identifier}(?=[\\s.,;!]|$)`,
    'i',
  ),
  new RegExp(`${not} ${call} (?:the )?${identifier} (?:tool|function)\\b`, 'i'),
]

/** Reads forbidden tools: "never call delete_file". The value is the tool's name. */
export function readTools({ text, phrases, holds, sentence }: Segment): Statement[] {
  for (const [at, pattern] of toolPatterns.entries()) {
    const match = pattern.exec(text)
    const value = match?.[2] ?? phrases[Number(match?.[1] ?? Number.NaN)]
    if (value === undefined || !/^[a-zA-Z][\w.-]{1,63}$/.test(value)) continue
    if (at === 0 && !/[_.-]/.test(value)) continue
    return [{ kind: 'tool', slot: `tool:${value.toLowerCase()}`, value, holds, quote: sentence }]
  }
  return []
}
