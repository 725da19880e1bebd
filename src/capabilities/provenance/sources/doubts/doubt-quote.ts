import type { Value } from '../../values/index.ts'
import type { Context } from '../lookup/operands.ts'
import type { Doubt } from './doubt.ts'

const saying =
  /(?<!\p{L})(?:sa(?:ys|id|ying)|stat(?:es|ed|ing)|reads|according to|wrote|writes|add(?:s|ed)|held|holds|quot\w+|put it|declared|announced|explained|sagt\w*|schr(?:eibt|ieb)|heißt es|lautet|laut|steht|erklärt\w*|dit|déclar\w+|selon|écrit|comes from|dice|dijo|según|afirm\w+)(?!\p{L})[^.!?\n]{0,60}$/iu
/** Words of the agent's own: texts to send, names of things, translations, searches. */
const drafting =
  /(?<!\p{L})(?:you (?:can|could|may|might)|draft\w*|template|suggest\w*|propos\w*|reply|respond|answer (?:with|like)|subject|text|message like|something like|translat\w*|means?|meaning|search\w*|type|click\w*|button|called|titled|named|labell?ed|in short|in other words|i\.e\.|would|should|Vorschlag|Entwurf|Betreff|übersetzt|heißt|bedeutet|modèle|objet|traduction|asunto|significa)(?!\p{L})/iu

const saying_chars = 90
const drafting_chars = 160
/** Minimum words of four letters or more: fewer are a label or a title. */
const words_min = 3

/**
 * Reports whether a quotation is introduced as the words of a person or text. Others are names,
 * labels and drafts: words of the agent.
 */
export function isAttributed({ at: [start], text: quote }: Value, text: string): boolean {
  const before = text.slice(Math.max(0, start - drafting_chars), start)
  const introduction = before.slice(-saying_chars).replace(/\s*\n\s*>\s*/g, ' ')
  if (drafting.test(before)) return false
  const words = quote.match(/\p{L}{4,}/gu) ?? []
  if (words.length < words_min || /\[|\]|…|\.\.\./.test(quote)) return false
  return saying.test(introduction) || /\d\)?:\s*(?:>\s*)?["“„«‘]$/u.test(introduction)
}

/**
 * Returns why an attributed quotation that was not found may be right: it restates a seen sentence
 * in the same words, or shares no word with any, as the translations and quotations of public people.
 */
export function doubtQuote(
  { text: quote, at: [start] }: Value,
  { index, text: answer }: Context,
): Doubt | undefined {
  const words = wordsOf(quote)
  let best = { share: 0, sentence: '' }
  for (const { text } of index.texts) {
    for (const sentence of sentencesNear(text, words)) {
      const known = new Set(wordsOf(sentence))
      const share = words.filter((word) => known.has(word)).length / Math.max(1, words.length)
      if (share > best.share) best = { share, sentence }
    }
  }
  if (best.share < some_words_min)
    // A translation has no words of its source.
    return best.share === 0 ||
      isOfOthers(answer.slice(Math.max(0, start - saying_chars), start), index)
      ? 'general'
      : undefined
  const isDenied = denials.test(quote) !== denials.test(best.sentence)
  return best.share === 1 && !isDenied ? 'general' : undefined
}

/** Tells whether a name that was not seen is said to speak: a public person, perhaps. */
function isOfOthers(before: string, { texts }: Context['index']): boolean {
  const sentence = before.slice(before.search(/[^.!?\n]*$/))
  const names = sentence.match(/(?<=\p{L}\W{1,3})\p{Lu}\p{Ll}{2,}/gu) ?? []
  return names.some((name) => !texts.some(({ text }) => text.includes(name)))
}

/** Share of the words of a quotation that a sentence has if the quotation is about it. */
const some_words_min = 0.25
const denials =
  /(?<!\p{L})(?:not|no|never|cannot|\p{L}+n['’]t|kein\w*|nicht|nie|pas|jamais|nunca|non|niet|inte)(?!\p{L})/iu

/** Letters at the start of a word that inflections share. */
const stem_chars = 5

function wordsOf(text: string): string[] {
  return (text.toLowerCase().match(/\p{L}{4,}|\d+/gu) ?? []).map((word) =>
    word.slice(0, stem_chars),
  )
}

const sentences_max = 400

/** Returns the sentences of a text that have a word of the quotation. */
function sentencesNear(text: string, words: readonly string[]): string[] {
  return text
    .split(/(?<=[.!?])\s|\n/u)
    .filter((sentence) => {
      const lower = sentence.toLowerCase()
      return words.some((word) => lower.includes(word))
    })
    .slice(0, sentences_max)
}
