import { textFrom } from '../../../../kernel/json-values.ts'
import { type ChoiceAssembly, choices_max } from './assemble-chat.ts'

/** Assembles `text_completion` chunks: each choice's text is joined. */
export function assembleCompletion(): ChoiceAssembly {
  const byIndex = new Map<number, { text: string; finish_reason: string }>()
  let dropped = 0
  return {
    add(index, choice) {
      const known = byIndex.get(index)
      const text = (known?.text ?? '') + textFrom(choice['text'])
      const finishReason = textFrom(choice['finish_reason']) || (known?.finish_reason ?? '')
      if (known === undefined && byIndex.size >= choices_max) dropped++
      else byIndex.set(index, { text, finish_reason: finishReason })
    },
    choices: () =>
      [...byIndex]
        .toSorted(([a], [b]) => a - b)
        .map(([index, { text, finish_reason }]) => ({ index, finish_reason, message: text })),
    dropped: () => dropped,
  }
}
