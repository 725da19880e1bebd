/** The rating of the answer by an item. */
export const sentiments = ['negative', 'neutral', 'positive'] as const
export type Sentiment = (typeof sentiments)[number]

/** The fields of an item from which its sentiment is derived. */
export type Judgement = {
  /** Given by an annotator or a rule. */
  sentiment?: Sentiment | null | undefined
  /** 1–5. */
  rating?: number | null | undefined
  thumbs?: 'up' | 'down' | null | undefined
  labels?: readonly string[] | undefined
  correction?: string | null | undefined
}

/** Labels with a sentiment, in lower case. Other labels only describe. */
export const judgingLabels: Readonly<Record<'negative' | 'positive', readonly string[]>> = {
  negative: [
    ...['bad', 'wrong', 'incorrect', 'inaccurate', 'unhelpful', 'incomplete', 'irrelevant'],
    ...['hallucination', 'harmful', 'unsafe', 'off_topic', 'refused', 'too_slow'],
  ],
  positive: ['good', 'right', 'correct', 'accurate', 'helpful', 'complete', 'resolved'],
}

/**
 * Derives the sentiment of an item; null for an item without one, such as a comment alone. A given
 * sentiment takes precedence. Otherwise thumbs, rating (1–2 negative, 3 neutral, 4–5 positive) and
 * labels each have a sentiment, and the worst one counts: thumbs up with a rating of 1 is negative.
 * An item with only a correction is negative, because the answer was wrong.
 */
export function deriveSentiment(item: Judgement): Sentiment | null {
  if (item.sentiment != null) return item.sentiment
  const said = new Set([ofThumbs(item.thumbs), ofRating(item.rating), ...ofLabels(item.labels)])
  const worst = sentiments.find((one) => said.has(one) && one !== 'neutral')
  if (worst !== undefined) return worst
  if (said.has('neutral')) return 'neutral'
  return item.correction == null ? null : 'negative'
}

function ofThumbs(thumbs: Judgement['thumbs']): Sentiment | undefined {
  if (thumbs == null) return undefined
  return thumbs === 'up' ? 'positive' : 'negative'
}

function ofRating(rating: Judgement['rating']): Sentiment | undefined {
  if (rating == null) return undefined
  if (rating === 3) return 'neutral'
  return rating < 3 ? 'negative' : 'positive'
}

function ofLabels(labels: readonly string[] = []): (Sentiment | undefined)[] {
  return labels.map((label) => {
    const known = label.toLowerCase().replaceAll(/[ -]/g, '_')
    return (['negative', 'positive'] as const).find((one) => judgingLabels[one].includes(known))
  })
}
