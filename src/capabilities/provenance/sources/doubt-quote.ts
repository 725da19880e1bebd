import type { Value } from '../values/index.ts'
import type { Doubt } from './doubt.ts'
import type { Context } from './operands.ts'

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
 * Returns why a quotation that was not found may be right. Only a quotation that is introduced as
 * the words of a person or text can be unsupported.
 */
export function doubtQuote(
  { at: [start], text: quote }: Value,
  { text, index }: Context,
): Doubt | undefined {
  const before = text.slice(Math.max(0, start - drafting_chars), start)
  const introduction = before.slice(-saying_chars).replace(/\s*\n\s*>\s*/g, ' ')
  if (!saying.test(introduction)) return 'general'
  if (drafting.test(before)) return 'hypothetical'
  const words = quote.toLowerCase().match(/\p{L}{4,}/gu) ?? []
  if (words.length < words_min) return 'general'
  // A quotation with words of the agent's own, or with parts left out, is not compared.
  if (/\[|\]|…|\.\.\./.test(quote)) return 'general'
  const seen = words.filter((word) => isSeen(word, index)).length
  // A translation has no words of its source but names; a paraphrase has most of them.
  return seen >= 1 && seen / words.length < same_max ? undefined : 'general'
}

/** Share of seen words from which a quotation may be a seen sentence in another form. */
const same_max = 0.8
/** Letters at the start of a word that inflections share. */
const stem_chars = 5

function isSeen(word: string, { texts }: Context['index']): boolean {
  const stem = word.slice(0, stem_chars)
  return texts.some(({ text }) => text.toLowerCase().includes(stem))
}
