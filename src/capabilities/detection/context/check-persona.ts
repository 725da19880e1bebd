import type { AnswerText } from './answer-text.ts'
import type { Breach } from './check-answer.ts'
import type { Statement } from './ledger.ts'

/** Who the assistant says it is, against who it was told to be. */
export function checkPersona({ value }: Statement, { voice }: AnswerText): Breach | undefined {
  const wanted = value.toLowerCase()
  const own = ownName.exec(voice)?.[1]
  if (own !== undefined && own.toLowerCase() !== wanted && !voice.toLowerCase().includes(wanted)) {
    return { violation: `The answer calls itself "${own}", not "${value}".`, confidence: 0.9 }
  }
  const maker = model.exec(voice)?.[1]
  return maker === undefined || maker.toLowerCase() === wanted
    ? undefined
    : { violation: `The answer calls itself "${maker}", not "${value}".`, confidence: 0.85 }
}

const ownName =
  /\b(?:[Mm]y name is|[Mm]y name's|I am called|I'm called|[Yy]ou can call me) (\p{Lu}[\p{L}-]{1,30})/u
const model =
  /\b(?:I am|I'm) (?:an? (?:AI|large) (?:assistant|language model) (?:called |named )?)?(ChatGPT|GPT-\d|GPT|Claude|Gemini|Bard|Copilot|Llama|Mistral|DeepSeek|Qwen|Grok)\b/
