import type { AnswerText } from './answer-text.ts'
import type { Breach } from './breach.ts'
import type { Statement } from './ledger.ts'

/** Who the assistant says it is, against who it was told to be. */
export function checkPersona(
  { slot, value }: Statement,
  { voice }: AnswerText,
): Breach | undefined {
  if (slot === 'persona:ai') {
    const said = asAi.exec(voice)?.[0]
    return said === undefined
      ? undefined
      : { violation: `The answer falls out of its role: "${said}".`, confidence: 0.92 }
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
