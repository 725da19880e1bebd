import type { Statement } from '../../contract.ts'
import type { AnswerText } from './checks/answer-text.ts'
import type { Breach } from './checks/breach.ts'

/** Reads the assistant's identity from a system text: "Your name is Ada", "You are Ada, a …". */
export function readPersona(sentence: string): Statement[] {
  if (hidesAi.test(sentence)) {
    return [
      { kind: 'persona', slot: 'persona:ai', value: 'hidden', holds: 'always', quote: sentence },
    ]
  }
  const value = namePatterns
    .map((pattern) => pattern.exec(sentence)?.[1])
    .find((found) => found !== undefined && !notNames.has(found.toLowerCase()))
  if (value === undefined) return []
  return [{ kind: 'persona', slot: 'persona', value, holds: 'always', quote: sentence }]
}

const hidesAi =
  /\b(?:never|do not|don't|must not) (?:ever )?(?:say|admit|reveal|mention|tell (?:anyone|the user|users|people|customers)|disclose|state)(?: that)? (?:you are|you're|being) (?:an? )?(?:ai|artificial intelligence|language model|bot|chatbot|llm)\b|\b(?:never|do not|don't) break character\b|\bstay in character\b/i

const namePatterns: readonly RegExp[] = [
  /\b[Yy]our name is (?:now )?["“'*]{0,2}(\p{Lu}[\p{L}\p{N}-]{1,30})/u,
  /^(?:From now on,? )?[Yy]ou(?: are|'re) (?:called |named |now )?["“'*]{0,2}(\p{Lu}[\p{L}-]{1,30}(?: \p{Lu}[\p{L}-]{1,30})?)["”'*]{0,2}(?:,| from | of | the | at |\.$| - | – | — )/u,
  /^[Yy]ou(?: are|'re) (?:an? |the )[^.,\n]{1,80}? (?:called|named) ["“'*]{0,2}(\p{Lu}[\p{L}-]{1,30})/u,
]

/** Words in the position of a name that are not names. */
const notNames = new Set(
  'an a the in not now only also always given working able expected here ai'.split(' '),
)

/** Compares the identity that the assistant claims with the one it was given. */
export function checkPersona(
  { slot, value }: Statement,
  { voice }: AnswerText,
): Breach | undefined {
  if (slot === 'persona:ai') {
    const said = asAi.exec(voice)?.[0]
    return said === undefined
      ? undefined
      : { violation: `The answer leaves its role: "${said}".`, confidence: 0.92 }
  }
  const wanted = value.toLowerCase()
  const own = ownName.exec(voice)?.[1]
  if (
    own !== undefined &&
    !wanted.includes(own.toLowerCase()) &&
    !voice.toLowerCase().includes(wanted)
  ) {
    return { violation: `The answer calls itself "${own}", not "${value}".`, confidence: 0.9 }
  }
  const maker = model.exec(voice)?.[1]
  return maker === undefined || maker.toLowerCase() === wanted
    ? undefined
    : { violation: `The answer calls itself "${maker}", not "${value}".`, confidence: 0.85 }
}

const asAi =
  /\b(?:as an ai\b|as a (?:large )?language model|i am (?:just )?an? (?:ai|large language model|language model|artificial intelligence|virtual assistant)\b|i'm (?:just )?an? (?:ai|large language model|language model|artificial intelligence)\b)/i
const ownName =
  /\b(?:[Mm]y name is|[Mm]y name's|I am called|I'm called|[Yy]ou can call me) (\p{Lu}[\p{L}-]{1,30})/u
const model =
  /\b(?:I am|I'm) (?:an? (?:AI|large) (?:assistant|language model) (?:called |named )?)?(ChatGPT|GPT-\d|GPT|Claude|Gemini|Bard|Copilot|Llama|Mistral|DeepSeek|Qwen|Grok)\b/
