import type { Statement } from './ledger.ts'

/** Reads who the assistant is told to be: "Your name is Ada", "You are Ada, a …". System only. */
export function readPersona(sentence: string): Statement[] {
  if (hidesAi.test(sentence)) {
    return [
      { kind: 'persona', slot: 'persona:ai', value: 'hidden', holds: 'always', quote: sentence },
    ]
  }
  const value = patterns
    .map((pattern) => pattern.exec(sentence)?.[1])
    .find((found) => found !== undefined && !notNames.has(found.toLowerCase()))
  if (value === undefined) return []
  return [{ kind: 'persona', slot: 'persona', value, holds: 'always', quote: sentence }]
}

const hidesAi =
  /\b(?:never|do not|don't|must not) (?:ever )?(?:say|admit|reveal|mention|tell (?:anyone|the user|users|people|customers)|disclose|state)(?: that)? (?:you are|you're|being) (?:an? )?(?:ai|artificial intelligence|language model|bot|chatbot|llm)\b|\b(?:never|do not|don't) break character\b|\bstay in character\b/i

const patterns: readonly RegExp[] = [
  /\b[Yy]our name is (?:now )?["“'*]{0,2}(\p{Lu}[\p{L}\p{N}-]{1,30})/u,
  /^(?:From now on,? )?[Yy]ou(?: are|'re) (?:called |named |now )?["“'*]{0,2}(\p{Lu}[\p{L}-]{1,30}(?: \p{Lu}[\p{L}-]{1,30})?)["”'*]{0,2}(?:,| from | of | the | at |\.$| - | – | — )/u,
  /^[Yy]ou(?: are|'re) (?:an? |the )[^.,\n]{1,80}? (?:called|named) ["“'*]{0,2}(\p{Lu}[\p{L}-]{1,30})/u,
]

/** Words that stand where a name would and are none. */
const notNames = new Set(
  'an a the in not now only also always given working able expected here ai'.split(' '),
)
