import type { CapturePolicy, CapturePolicyRequest } from '../../api/schema.gen.d.ts'

/** A mask as it is typed. It has a pattern or keys, by `by`. */
export type MaskDraft = {
  /** For React only. */
  id: number
  name: string
  by: 'pattern' | 'keys'
  pattern: string
  /** Keys with commas. */
  keys: string
  replacement: string
}

export type CaptureDraft = {
  content: CapturePolicy['content']
  percent: string
  masks: MaskDraft[]
}

/** Returns a stored policy as it is typed. */
export function draftOf({ content, sample_rate, masks }: CapturePolicy): CaptureDraft {
  return {
    content,
    percent: String(Number((sample_rate * 100).toPrecision(12))),
    masks: masks.map(({ name, pattern, keys, replacement }, id) => ({
      id,
      name,
      by: keys === undefined ? 'pattern' : 'keys',
      pattern: pattern ?? '',
      keys: keys?.join(', ') ?? '',
      replacement: replacement ?? '',
    })),
  }
}

/** Returns the request for what was typed. */
export function toRequest({ content, percent, masks }: CaptureDraft): CapturePolicyRequest {
  return {
    content,
    sample_rate: Number(percent) / 100,
    masks: masks.map(({ name, by, pattern, keys, replacement }) => ({
      name,
      ...(by === 'pattern' ? { pattern } : { keys: splitKeys(keys) }),
      ...(replacement !== '' && { replacement }),
    })),
  }
}

function splitKeys(text: string): string[] {
  return text
    .split(',')
    .map((key) => key.trim())
    .filter(Boolean)
}

/** Says what a policy stores and what it removes. */
export function explainPolicy({ content, percent, masks }: CaptureDraft): string[] {
  if (content === 'off') {
    return ['Nothing is stored. Calls still go through; the ledger counts them as rejected.']
  }
  return [
    content === 'full'
      ? 'Stored: times, models, tokens, costs, statuses, names, ids, and all inputs and outputs.'
      : 'Stored: times, models, tokens, costs, statuses, kinds of errors, names and ids. Removed: inputs, outputs, arguments and results of tools, messages of errors.',
    Number(percent) >= 100
      ? 'All traces are kept.'
      : `${percent} % of the traces are kept, whole ones; those with errors are dropped like others.`,
    ...masks.map(({ name, by, pattern, keys, replacement }) => {
      const text = replacement === '' ? `[masked:${name}]` : replacement
      return by === 'pattern'
        ? `Each text that matches ${pattern || '(no pattern yet)'} becomes ${text}.`
        : `The values of ${splitKeys(keys).join(', ') || '(no keys yet)'} become ${text}.`
    }),
  ]
}
